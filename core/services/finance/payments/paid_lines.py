"""Payments of parties as rows of the bank, each payment and each return, and as lines of a statement (contract F4).

Lists, statements, the journal and reconciliations read the rows here, and nowhere else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock
from core.services.finance import parties
from core.services.finance.parties import Party
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import PartyPayment, Payment, StatementPayment, Transfer

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


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidLine:
    """One payment as a statement prints it; the amount in kobo lowers what we owe the party."""

    payment_id: UUID
    entry: str
    amount_minor: int
    value_on: date
    reference: str

    @property
    def label(self) -> str:
        """The payment in words: "Payment 3 Oct 2026, TRF/1"."""
        day = f"{self.value_on.day} {self.value_on:%b %Y}"
        verb = "Returned" if self.entry == "returned" else "Payment" if self.amount_minor > 0 else "Received"
        return f"{verb} {day}, {self.reference}"


def _order(line: PaidLine) -> tuple[date, str, str]:
    return line.value_on, str(line.payment_id), line.entry


def list_unstated(session: ScopedSession, party: Party, last_on: date) -> list[PaidLine]:
    """List the payments and returns of a party until a day that no statement holds, oldest first."""
    return sorted((line for _, line in _load(session, last_on, party.owns(Payment))), key=_order)


def load_unstated(session: ScopedSession, last_on: date) -> Mapping[Party, Sequence[PaidLine]]:
    """Return what `list_unstated` lists, of every party."""
    found: dict[Party, list[PaidLine]] = {}
    for party, line in _load(session, last_on):
        found.setdefault(party, []).append(line)
    return {party: sorted(lines, key=_order) for party, lines in found.items()}


def write(session: ScopedSession, statement_id: UUID, lines: Sequence[PaidLine]) -> None:
    """Write the payments of a statement in their order."""
    for position, line in enumerate(lines, 1):
        session.insert(StatementPayment.to_insert(statement_id=statement_id, position=position, **asdict(line)))


def list_printed(session: ScopedSession, statement_id: UUID) -> tuple[PaidLine, ...]:
    """Return the payments of a statement as it printed them."""
    query = (
        sa.select(StatementPayment)
        .where(col(StatementPayment.statement_id) == statement_id)
        .order_by(col(StatementPayment.position))
    )
    return tuple(build_row(PaidLine, row) for row in session.execute(query).scalars())


def _load(session: ScopedSession, last_on: date, *conditions: Any) -> Iterator[tuple[Party, PaidLine]]:
    stated = sa.exists().where(
        col(StatementPayment.payment_id) == col(Payment.id),
        col(StatementPayment.entry) == ENTRY,
        col(StatementPayment.released_by).is_(None),
    )
    for row in list_rows(session, *conditions, ~stated, before=clock.add_days(last_on, 1)):
        yield row.party, build_row(PaidLine, row)
