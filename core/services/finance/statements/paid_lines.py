"""The payments on a statement: each that the bank made until its end, and each that it returned (contract F4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.finance.parties import Party
from core.services.finance.payments import bank_rows
from core.store.access import ScopedSession
from core.store.schema.tables import Payment, StatementPayment


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
        values = {name: getattr(line, name) for name in PaidLine.__dataclass_fields__}
        session.insert(StatementPayment(statement_id=statement_id, position=position, **values))


def list_printed(session: ScopedSession, statement_id: UUID) -> tuple[PaidLine, ...]:
    """Return the payments of a statement as it printed them."""
    query = (
        sa.select(StatementPayment)
        .where(col(StatementPayment.statement_id) == statement_id)
        .order_by(col(StatementPayment.position))
    )
    names = tuple(PaidLine.__dataclass_fields__)
    return tuple(PaidLine(**{name: getattr(row, name) for name in names}) for row in session.execute(query).scalars())


def release(session: ScopedSession, statement_id: UUID, *, reversal_id: UUID) -> None:
    """Free the payments of a statement that a reversal voids: they are stated again."""
    change = (
        sa.update(StatementPayment)
        .where(col(StatementPayment.statement_id) == statement_id, col(StatementPayment.released_by).is_(None))
        .values(released_by=reversal_id)
    )
    session.execute(change.execution_options(synchronize_session=False))


def find_left_out(session: ScopedSession, party: Party, before: date) -> int:
    """Return how many payments and returns before a month are on no statement."""
    return len(list_unstated(session, party, clock.add_days(before, -1)))


def _load(session: ScopedSession, last_on: date, *conditions: Any) -> Iterator[tuple[Party, PaidLine]]:
    stated = sa.exists().where(
        col(StatementPayment.payment_id) == col(Payment.id),
        col(StatementPayment.entry) == bank_rows.ENTRY,
        col(StatementPayment.released_by).is_(None),
    )
    for row in bank_rows.list_rows(session, *conditions, ~stated, before=clock.add_days(last_on, 1)):
        yield row.party, PaidLine(**{name: getattr(row, name) for name in PaidLine.__dataclass_fields__})
