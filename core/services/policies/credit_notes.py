"""The credit note of a refund, numbered within its insurer; what becomes of it is finance's (contract F8)."""

from core.store.access import ScopedSession
from core.store.policy_numbers import credit_note_series
from core.store.schema import tables
from core.store.schema.tables import CreditNote


def issue(session: ScopedSession, refund: tables.Refund, *, actor: str) -> None:
    """Write the credit note of a refund; a refund of nothing has none."""
    if not refund.total_minor:
        return
    session.insert(
        CreditNote(
            # One for each refund: the same id says so.
            id=refund.id,
            refund_id=refund.id,
            distributor_id=refund.distributor_id,
            is_live=refund.is_live,
            provider_id=refund.provider_id,
            number=session.next_in_transaction(credit_note_series(refund.provider_id, is_live=refund.is_live)),
            total_minor=refund.total_minor,
            created_at=refund.created_at,
            made_by=actor[:120],
        )
    )
