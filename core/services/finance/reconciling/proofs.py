"""Reconciliation checks of `coverdesk check`: the differences make ours less theirs (contract F6)."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import Difference, Reconciliation


def find_reconciliation_faults(session: ScopedSession) -> Iterator[str]:
    """Reconciliations whose differences do not make the difference of both sides."""
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
