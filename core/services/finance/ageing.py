"""Aged receivables and payables: what is due with each party, and to customers, by age in days (contract F8)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance.credit_notes import givers
from core.services.finance.payments import settlement
from core.services.lists.spreadsheets import SIGNED_MONEY, TEXT, WORD, SheetColumn, csv_field, csv_line
from core.states.finance import UNPAID
from core.store.access import ScopedSession
from core.store.schema.tables import CreditNote, Provider

# The last day of each bucket but the open one.
BOUNDS: Final = (30, 60, 90)
BUCKETS: Final = ("0 to 30 days", "31 to 60 days", "61 to 90 days", "Over 90 days")
COLUMNS: Final = (
    SheetColumn("party", TEXT, 30),
    SheetColumn("kind", WORD, 22),
    *(
        SheetColumn(name, SIGNED_MONEY, 18)
        for name in ("days_0_30", "days_31_60", "days_61_90", "days_over_90", "total")
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Aged:
    """Amounts due with one party by age, in kobo: positive is payable by the platform, negative is owed to it.

    `statement_id` is that of the newest statement of a distributor or insurer.
    """

    party: str
    kind: str
    minors: tuple[int, ...]
    statement_id: UUID | None = None

    @property
    def total_minor(self) -> int:
        """The sum of every age."""
        return sum(self.minors)


def bucket_of(days: int) -> int:
    """Return the place of an age in days among the buckets."""
    return next((place for place, bound in enumerate(BOUNDS) if days <= bound), len(BOUNDS))


def list_aged(session: ScopedSession) -> list[Aged]:
    """List what is due now with each distributor and insurer, and what waits to be given back to customers.

    A statement's part is as old as the end of its month, a credit note as its refund. The sums are those of the
    balances: what is not on a sent statement yet is not due.
    """
    found = [*_of_parties(session), *_of_customers(session)]
    return [row for row in found if any(row.minors)]


def total(rows: Iterable[Aged]) -> tuple[int, ...]:
    """Return the sum of each bucket."""
    return tuple(sum(place) for place in zip(*(row.minors for row in rows), strict=True)) or (0,) * len(BUCKETS)


def csv_chunks(rows: Sequence[Aged]) -> Iterator[bytes]:
    """Yield the ages as CSV, with a line for the sums."""
    yield csv_line(*(column.name for column in COLUMNS))
    whole = Aged(party="Total", kind="", minors=total(rows))
    for row in (*rows, whole):
        amounts = [money.to_wire(minor) for minor in (*row.minors, row.total_minor)]
        yield csv_line(csv_field(row.party), row.kind, *amounts)


def _of_parties(session: ScopedSession) -> Iterator[Aged]:
    for balance in settlement.list_balances(session):
        minors = [0] * len(BUCKETS)
        for due in balance.dues:
            minors[bucket_of(_days_since(clock.add_months(due.month, 1)))] += due.net_minor
        newest = balance.newest.statement_id if balance.newest else None
        yield Aged(party=balance.name, kind=balance.party.subject, minors=tuple(minors), statement_id=newest)


def _of_customers(session: ScopedSession) -> Iterator[Aged]:
    query = (
        sa.select(
            col(Provider.company_name), col(CreditNote.id), col(CreditNote.created_at), col(CreditNote.total_minor)
        )
        .join(Provider, col(Provider.id) == col(CreditNote.provider_id))
        .where(col(CreditNote.state).in_(UNPAID))
    )
    found: dict[str, list[int]] = {}
    others = givers.list_given_by_distributors(session, col(CreditNote.state).in_(UNPAID))
    for name, note_id, created_at, minor in session.execute(query):
        if note_id not in others:
            days = _days_since(clock.to_lagos_day(created_at))
            found.setdefault(name, [0] * len(BUCKETS))[bucket_of(days)] += minor
    for name, minors in sorted(found.items(), key=lambda each: each[0].lower()):
        yield Aged(party=f"Customers of {name}", kind="refunds", minors=tuple(minors))


def _days_since(day: date) -> int:
    return max(0, (clock.today() - day).days)
