"""Reconciliation checks of `coverdesk check`: the differences make ours less theirs (contract F6)."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlmodel import col

from core import money, reference
from core.store.access import ScopedSession
from core.store.schema.tables import Difference, Reconciliation


def find_reconciliation_faults(session: ScopedSession) -> Iterator[str]:
    """Reconciliations whose differences do not make both sides equal, or with a tolerance above every role's."""
    total = sa.func.coalesce(sa.func.sum(col(Difference.difference_minor)), 0)
    both = col(Reconciliation.ours_minor) - col(Reconciliation.theirs_minor) - col(Reconciliation.tolerated_minor)
    query = (
        sa.select(col(Reconciliation.id), col(Reconciliation.month))
        .outerjoin(Difference, col(Difference.reconciliation_id) == col(Reconciliation.id))
        .group_by(col(Reconciliation.id))
        .having(total != both)
    )
    for reconciliation_id, month in session.execute(query):
        yield f"the differences of reconciliation {reconciliation_id} of {month:%B %Y} do not make both sides equal"
    row, file = (reference.get_finance_limit(name, ("admin",)) for name in ("tolerance_row", "tolerance_file"))
    beyond = sa.or_(col(Reconciliation.tolerance_minor) > row, col(Reconciliation.passed_minor) > file)
    wide = sa.select(Reconciliation).where(col(Reconciliation.passed_minor).is_not(None), beyond)
    for found in session.execute(wide).scalars():
        let = f"{money.format_naira(found.passed_minor or 0)} within {money.format_naira(found.tolerance_minor)} a row"
        yield f"the tolerance of reconciliation {found.id} of {found.month:%B %Y} let pass {let}, above every limit"
