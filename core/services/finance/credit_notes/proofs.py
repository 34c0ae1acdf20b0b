"""Credit note checks of `coverdesk check`: one for each refund of something, numbers without gaps (contract F8)."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import CreditNote, Refund


def find_credit_note_faults(session: ScopedSession) -> Iterator[str]:
    """Refunds without a credit note of their amount, and gaps in the numbers of an insurer."""
    differs = sa.or_(
        col(CreditNote.id).is_(None),
        col(CreditNote.total_minor) != col(Refund.total_minor),
        col(CreditNote.provider_id) != col(Refund.provider_id),
        col(CreditNote.is_live) != col(Refund.is_live),
    )
    query = (
        sa.select(sa.func.count())
        .select_from(Refund)
        .outerjoin(CreditNote, col(CreditNote.refund_id) == col(Refund.id))
        .where(col(Refund.total_minor) > 0, differs)
    )
    if wrong := session.execute(query).scalar_one():
        yield f"{wrong:,} refunds without a credit note of their amount"
    ends = (sa.func.min(col(CreditNote.number)), sa.func.max(col(CreditNote.number)), sa.func.count())
    keys = (col(CreditNote.provider_id), col(CreditNote.is_live))
    for provider_id, is_live, first, last, number in session.execute(sa.select(*keys, *ends).group_by(*keys)):
        if (first, last) != (1, number):
            mode = "live" if is_live else "test"
            yield f"the numbers of the {mode} credit notes of insurer {provider_id} have a gap"
