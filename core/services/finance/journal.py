"""The journal of a month for a bookkeeping package; debit = credit on every day (contract F7)."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance import agreements, parties
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.spreadsheets.formula_escaping import csv_field
from core.services.windows import Window
from core.states.statements import StatementState
from core.store.access import ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.tables import Movement, Payment, Statement

HEADING: Final = "date,account,party,debit,credit,reference"
WALLET, RECEIVABLE, INSURER, DISTRIBUTOR, INCOME, BANK, WITHHELD, VAT = (
    *("Premium wallet", "Receivable from distributors", "Payable to insurers", "Commission payable"),
    *("Commission income", "Bank", "Withholding tax payable", "Input VAT"),
)


class Entry(NamedTuple):
    """One line: a positive amount in kobo is a debit, a negative one a credit."""

    on: date
    account: str
    party: str
    amount_minor: int
    reference: str


def list_entries(session: ScopedSession, month: date) -> list[Entry]:
    """List the journal of a month by day: movements by kind and party, payments, and the taxes of its statements."""
    window, names = Window(month, clock.add_months(month, 1)), dict(parties.list_parties(session))
    entries = [
        *_movements(session, window, names),
        *_payments(session, window, names),
        *_taxes(session, window),
    ]
    return sorted((entry for entry in entries if entry.amount_minor), key=lambda each: (each.on, each.reference))


def csv_chunks(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the journal as CSV."""
    yield f"{HEADING}\r\n".encode()
    for entry in entries:
        amount = money.to_wire(abs(entry.amount_minor))
        debit, credit = (amount, "0.00") if entry.amount_minor > 0 else ("0.00", amount)
        fields = (str(entry.on), entry.account, csv_field(entry.party), debit, credit, csv_field(entry.reference))
        yield (",".join(fields) + "\r\n").encode()


def hash_of(session: ScopedSession, month: date) -> str:
    """Return the SHA-256 of the journal of a month."""
    digest = hashlib.sha256()
    for chunk in csv_chunks(list_entries(session, month)):
        digest.update(chunk)
    return digest.hexdigest()


def _movements(session: ScopedSession, window: Window, names: dict[Party, str]) -> Iterator[Entry]:
    day = lagos_day(col(Movement.created_at))
    keys = (day, col(Movement.kind), col(Movement.distributor_id), col(Movement.provider_id))
    amounts = ("total_minor", "provider_share_minor", "distributor_profit_minor", "mca_profit_minor")
    sums: list[Any] = [sa.func.sum(col(getattr(Movement, name))) for name in amounts]
    query: Any = sa.select(*keys, sa.func.count(), *sums).where(
        col(Movement.is_live), *window.span.on(col(Movement.created_at))
    )
    holders = _holders(session, window)
    for row in session.execute(query.group_by(*keys).order_by(*keys)):
        on, kind, seller, insurer, number, *minors = row
        yield from _of_group(
            _day(on),
            f"{kind} x {number}",
            names[Party("distributor", seller)],
            names[Party("provider", insurer)],
            tuple(int(minor) for minor in minors),
            is_held=seller in holders,
        )


def _of_group(
    on: date, what: str, seller: str, insurer: str, minors: Sequence[int], *, is_held: bool
) -> Iterator[Entry]:
    premium, share, commission, income = minors
    reference = f"{on} {what}, {seller}, {insurer}"
    yield Entry(on, RECEIVABLE if is_held else WALLET, seller, premium, reference)
    yield Entry(on, INSURER, insurer, -share, reference)
    yield Entry(on, DISTRIBUTOR, seller, -commission, reference)
    yield Entry(on, INCOME, "", -income, reference)


def _holders(session: ScopedSession, window: Window) -> set[UUID]:
    """The distributors that hold the premium of their sales, as the statements of the month have it."""
    held = agreements.load_in_force(session, window.last)
    return {
        party.id for party, terms in held.items() if party.account == "distributor" and terms.collects == "distributor"
    }


def _payments(session: ScopedSession, window: Window, names: dict[Party, str]) -> Iterator[Entry]:
    for name, sign in (("value_on", 1), ("returned_on", -1)):
        day: Any = col(getattr(Payment, name))
        query = sa.select(Payment).where(col(Payment.confirmed_at).is_not(None), day >= window.start, day < window.end)
        for row in session.execute(query.order_by(day, col(Payment.id))).scalars():
            party = parties.party_of(row)
            on, verb = getattr(row, name), "payment" if sign > 0 else "returned"
            reference = f"{on} {verb} {row.bank_reference}"
            account = INSURER if party.account == "provider" else DISTRIBUTOR if row.net_minor > 0 else RECEIVABLE
            yield Entry(on, account, names[party], sign * row.net_minor, reference)
            yield Entry(on, BANK, "", -sign * row.net_minor, reference)


def _taxes(session: ScopedSession, window: Window) -> Iterator[Entry]:
    query = sa.select(Statement).where(
        col(Statement.account) == "distributor",
        col(Statement.month) == window.start,
        col(Statement.state) != StatementState.VOID,
        col(Statement.reverses_id).is_(None),
    )
    for row in session.execute(query.order_by(col(Statement.distributor_id))).scalars():
        party = str(row.facts.get("party", ""))
        reference = f"{window.last} taxes of {statement_reading.number_of(row)}, {party}"
        yield Entry(window.last, VAT, "", row.vat_minor, reference)
        yield Entry(window.last, WITHHELD, "", -row.withheld_minor, reference)
        yield Entry(window.last, DISTRIBUTOR, party, row.withheld_minor - row.vat_minor, reference)


def _day(value: Any) -> date:
    return date.fromisoformat(value) if isinstance(value, str) else value
