"""Payments of parties as rows of the bank, each payment and each return (contract F4).

Lists, statements, the journal and reconciliations read the rows here, and nowhere else.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core.services.finance import parties
from core.services.finance.parties import Party
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import PartyPayment, Payment, Transfer

PAID, BACK = PartyPayment, orm.aliased(PartyPayment)
_OF = orm.aliased(PartyPayment)
# As statements have it.
ENTRY: Final[sa.ColumnElement[str]] = sa.case((col(PAID.reverses).is_(None), "paid"), else_="returned")
# What a payment shows of the bank: before it moved anything, what was said of a receipt, or why it refused an order.
SHOWN: Final[Mapping[str, sa.ColumnElement[Any]]] = {
    "bank_reference": sa.func.coalesce(
        col(Transfer.reference), col(Payment.received_reference), col(Payment.refused_reference)
    ),
    "value_on": sa.func.coalesce(col(PAID.value_on), col(Payment.received_on)),
    "returned_on": sa.func.coalesce(col(BACK.value_on), col(Payment.refused_on)),
    "note": sa.func.coalesce(col(BACK.reason), col(Payment.note)),
}


class BankRow(NamedTuple):
    """A payment (`paid`) or its return (`returned`): positive where money leaves us; the reference is the payment's."""

    payment_id: UUID
    party: Party
    direction: str
    entry: str
    amount_minor: int
    value_on: date
    reference: str
    noted_at: datetime


def join_bank(query: AnySelect) -> AnySelect:
    """Join to each payment what the bank made of it: its row, the transfer of that, and the return."""
    made = sa.and_(col(PAID.payment_id) == col(Payment.id), col(PAID.reverses).is_(None))
    joined: AnySelect = (
        query.outerjoin(PAID, made)
        .outerjoin(Transfer, col(Transfer.id) == col(PAID.transfer_id))
        .outerjoin(BACK, col(BACK.reverses) == col(PAID.id))
    )
    return joined


def list_rows(
    session: ScopedSession, *conditions: Any, since: date | None = None, before: date | None = None
) -> Sequence[BankRow]:
    """List the payments and returns since a day and before another that meet some conditions on `Payment` or `PAID`.

    They come by day, and of one day a payment before its return.
    """
    day = col(PAID.value_on)
    bounds = [*([day >= since] if since else []), *([day < before] if before else [])]
    query = (
        sa.select(PAID, Payment, ENTRY.label("entry"), col(Transfer.reference))
        .join(Payment, col(Payment.id) == col(PAID.payment_id))
        .outerjoin(_OF, col(_OF.id) == col(PAID.reverses))
        .join(Transfer, col(Transfer.id) == sa.func.coalesce(col(_OF.transfer_id), col(PAID.transfer_id)))
        .where(*bounds, *conditions)
        .order_by(day, col(PAID.payment_id), col(PAID.reverses).is_not(None))
    )
    return [
        BankRow(
            *(order.id, parties.party_of(order), order.direction),
            *(entry, row.amount_minor, row.value_on, reference, row.created_at),
        )
        for row, order, entry, reference in session.execute(query)
    ]


def list_days(session: ScopedSession, transfer_ids: Sequence[UUID]) -> Sequence[date]:
    """List the days of the rows that have the reference of some transfers."""
    query = (
        sa.select(col(PAID.value_on))
        .outerjoin(_OF, col(_OF.id) == col(PAID.reverses))
        .where(sa.func.coalesce(col(_OF.transfer_id), col(PAID.transfer_id)).in_(transfer_ids))
    )
    return session.execute(query.distinct()).scalars().all()
