"""Payment checks of `coverdesk check`: parts, batches, bank files, and the states of statements (contract F4)."""

import hashlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.finance import parties
from core.services.finance.payments import balances, batches, transitions
from core.services.finance.payments.allocation import TOLD
from core.states.payments import BatchState, PaymentState
from core.store.access import ScopedSession
from core.store.schema.tables import Payment, PaymentSettlement, PayoutBatch

_PARTS = ("net_minor", "vat_minor", "withheld_minor")


def find_payment_faults(session: ScopedSession) -> Iterator[str]:
    """Payments that are not their settlements, batches that are not their payments, and statements in a wrong state."""
    yield from _settlement_faults(session)
    for batch in session.execute(sa.select(PayoutBatch).order_by(col(PayoutBatch.number))).scalars().all():
        yield from _batch_faults(session, batch)
    for party, name in parties.list_parties(session):
        for due in balances.get_balance(session, party).dues:
            expected = transitions.state_of(session, due.statement_id, due.net_minor)
            if due.state in TOLD and due.state != expected:
                yield f"statement {due.number} of {name} is {due.state}, and by its payments {expected}"


def _settlement_faults(session: ScopedSession) -> Iterator[str]:
    sums: list[Any] = [sa.func.coalesce(sa.func.sum(col(getattr(PaymentSettlement, name))), 0) for name in _PARTS]
    query = (
        sa.select(col(Payment.id))
        .outerjoin(PaymentSettlement, col(PaymentSettlement.payment_id) == col(Payment.id))
        .group_by(col(Payment.id), *(col(getattr(Payment, name)) for name in _PARTS))
        .having(sa.or_(*(total != col(getattr(Payment, name)) for total, name in zip(sums, _PARTS, strict=True))))
    )
    for payment_id in session.execute(query).scalars():
        yield f"payment {payment_id} does not have the sums of what it settles"


def _batch_faults(session: ScopedSession, batch: PayoutBatch) -> Iterator[str]:
    sums = (sa.func.count(), sa.func.coalesce(sa.func.sum(col(Payment.net_minor)), 0))
    rows, minor = session.execute(sa.select(*sums).where(col(Payment.batch_id) == batch.id)).one()
    if (int(rows), int(minor)) != (batch.payments, batch.net_minor):
        yield f"payout {batches.number_of(batch)} does not have the number and sum of its payments"
    if batch.state != BatchState.APPROVED:
        return
    if hashlib.sha256(batches.bank_file(session, batch.id)).hexdigest() != batch.sha256:
        yield f"the bank file of payout {batches.number_of(batch)} is not what its hash says"
    open_ = sa.select(sa.func.count()).where(
        col(Payment.batch_id) == batch.id, col(Payment.state).in_((PaymentState.PREPARED, PaymentState.WITHDRAWN))
    )
    if session.execute(open_).scalar_one():
        yield f"payout {batches.number_of(batch)} is approved, and a payment of it is not"
