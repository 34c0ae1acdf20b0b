"""The months of the books, each with its state, and the journal of one, as CSV and for two bookkeeping packages (F7).

Debit = credit on every day. Its own CSV is what is hashed when a month is closed. Months that were closed before the
accounts had codes are kept as they were: their file is the one of their hash.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money, reference
from core.errors import NotFound, StateForbids
from core.services.finance import agreements, parties
from core.services.finance.parties import Party
from core.services.finance.payments import bank_rows
from core.services.finance.payments.bank_rows import BankRow
from core.services.finance.statements import reading as statement_reading
from core.services.lists.spreadsheets import csv_field, csv_line
from core.services.lists.windows import Window
from core.states.finance import CLOSING, SHUT, MonthState
from core.store.access import ScopedSession
from core.store.expressions import lagos_day
from core.store.rows import build_row
from core.store.schema.tables import MonthStep, Movement, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of a month with the person who made it."""

    id: UUID
    month: date
    position: int
    state: MonthState
    by: UUID
    person: str
    at: datetime
    note: str | None
    sha256: str | None
    facts: dict[str, Any]


def list_steps(session: ScopedSession, month: date | None = None) -> Sequence[Step]:
    """List the steps of a month, or of all, oldest first."""
    query = (
        sa.select(MonthStep, col(Staff.name))
        .join(Staff, col(Staff.id) == col(MonthStep.by))
        .where(*([col(MonthStep.month) == month] if month else []))
        .order_by(col(MonthStep.month), col(MonthStep.position))
    )
    return [build_row(Step, row, state=MonthState(row.state), person=person) for row, person in session.execute(query)]


def state_of(session: ScopedSession, month: date) -> MonthState:
    """Return the state of a month; one that nobody has begun to close is open."""
    steps = list_steps(session, month)
    return steps[-1].state if steps else MonthState.OPEN


def list_closings(session: ScopedSession) -> dict[date, Step]:
    """Return the step that closed each month that is shut; a reopening that was given up is no other closing."""
    steps = list_steps(session)
    states = {step.month: step.state for step in steps}
    digests = {step.month: step.sha256 for step in steps if step.sha256}
    return {
        step.month: step
        for step in reversed(steps)
        if states[step.month] in SHUT and step.sha256 and step.sha256 == digests[step.month]
    }


def hold_months(session: ScopedSession) -> None:
    """Wait for whoever closes a month, or changes what a closing looks at, at this instant; before any other lock.

    A payment that is noted while its month is closed would be in the journal that was hashed without it.
    """
    session.next_in_transaction(CLOSING)


def refuse_shut(session: ScopedSession, month: date) -> None:
    """StateForbids for a month that is closed: its papers stay as they are, and what was wrong is adjusted."""
    if state_of(session, month) in SHUT:
        raise StateForbids(f"{month:%B %Y} is closed: correct it by an adjustment, or have two people reopen it")


HEADING: Final = "date,number,code,account,party,debit,credit,reference"
_HEADING_WITHOUT_CODES: Final = "date,account,party,debit,credit,reference"
_OF_QUICKBOOKS: Final = "JournalNo,JournalDate,AccountName,Debits,Credits,Description,Name"
_OF_SAGE: Final = (
    "Type,Account Reference,Nominal A/C Ref,Department Code,Date,Reference,Details,Net Amount,Tax Code,Tax Amount"
)
# Sage 50 cuts the text of a line there.
_SAGE_DETAILS: Final = 60
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
    """List the journal of a month by day: movements by kind and party, payments, and the taxes of its statements.

    That of a closed month is by what was known when it was closed: the names of parties and the terms with them. What
    was noted later of a payment of its days is in the next month that was open then.
    """
    window, closed = Window.of_month(month), list_closings(session)
    known_at = closed[month].at if month in closed else None
    names = parties.load_names_at(session, known_at)
    entries = [
        *_movements(session, window, names, known_at),
        *_payments(session, window, names, closed),
        *_taxes(session, window),
    ]
    return sorted((entry for entry in entries if entry.amount_minor), key=lambda each: (each.on, each.reference))


def csv_chunks(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the journal as CSV: each line with its number, and the code of its account."""
    yield csv_line(HEADING)
    for number, entry in _numbered(entries):
        code, (debit, credit) = reference.get_account_code(entry.account), _sides(entry)
        cells = (str(entry.on), number, code, entry.account, csv_field(entry.party), debit or "0.00", credit or "0.00")
        yield csv_line(*cells, csv_field(entry.reference))


def _csv_without_codes(entries: Iterable[Entry]) -> Iterator[bytes]:
    yield csv_line(_HEADING_WITHOUT_CODES)
    for entry in entries:
        debit, credit = _sides(entry)
        cells = (str(entry.on), entry.account, csv_field(entry.party), debit or "0.00", credit or "0.00")
        yield csv_line(*cells, csv_field(entry.reference))


def _quickbooks_chunks(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the rows of QuickBooks Online's import of journal entries, which knows accounts by their names."""
    yield csv_line(_OF_QUICKBOOKS)
    for number, entry in _numbered(entries):
        cells = (number, f"{entry.on:%d/%m/%Y}", entry.account, *_sides(entry))
        yield csv_line(*cells, csv_field(entry.reference), csv_field(entry.party))


def _sage_chunks(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the rows of Sage 50's import of audit trail transactions: journal debits and credits without tax (T9)."""
    yield csv_line(_OF_SAGE)
    for number, entry in _numbered(entries):
        kind, amount = ("JD" if entry.amount_minor > 0 else "JC"), money.to_wire(abs(entry.amount_minor))
        code, details = reference.get_account_code(entry.account), csv_field(entry.reference[:_SAGE_DETAILS])
        yield csv_line(kind, "", code, "0", f"{entry.on:%d/%m/%Y}", number, details, amount, "T9", "0.00")


_Printed = Callable[[Iterable[Entry]], Iterator[bytes]]
# The journal as files: its own, and those that bookkeeping packages import.
FORMATS: Final[Mapping[str, tuple[str, _Printed]]] = {
    "": ("CSV", csv_chunks),
    "quickbooks": ("QuickBooks Online", _quickbooks_chunks),
    "sage": ("Sage 50", _sage_chunks),
}


def _numbered(entries: Iterable[Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield entries with short numbers, such as J2609-0012: lines that balance together have one."""
    numbers: dict[str, str] = {}
    for entry in entries:
        yield numbers.setdefault(entry.reference, f"J{entry.on:%y%m}-{len(numbers) + 1:04}"), entry


def _sides(entry: Entry) -> tuple[str, str]:
    """Return debit and credit, one of them empty."""
    amount = money.to_wire(abs(entry.amount_minor))
    return (amount, "") if entry.amount_minor > 0 else ("", amount)


def print_journal(session: ScopedSession, month: date, format_: str = "", *, sha256: str | None = None) -> bytes:
    """Return the journal of a month as a file; its own CSV as it was hashed, where a hash is given. NotFound else."""
    if format_ not in FORMATS:
        raise NotFound("There is no such format of the journal")
    entries = list_entries(session, month)
    before = b"".join(_csv_without_codes(entries))
    if not format_ and sha256 == hashlib.sha256(before).hexdigest():
        return before
    return b"".join(FORMATS[format_][1](entries))


def hash_of(session: ScopedSession, month: date, *, sha256: str | None = None) -> str:
    """Return the SHA-256 of the journal of a month, printed as the one with the given hash if there is one."""
    return hashlib.sha256(print_journal(session, month, sha256=sha256)).hexdigest()


def _movements(
    session: ScopedSession, window: Window, names: Mapping[Party, str], known_at: datetime | None
) -> Iterator[Entry]:
    day = lagos_day(col(Movement.created_at))
    keys = (day, col(Movement.kind), col(Movement.distributor_id), col(Movement.provider_id))
    amounts = ("total_minor", "provider_share_minor", "distributor_profit_minor", "mca_profit_minor")
    sums: list[Any] = [sa.func.sum(col(getattr(Movement, name))) for name in amounts]
    query: Any = sa.select(*keys, sa.func.count(), *sums).where(
        col(Movement.is_live), *window.span.on(col(Movement.created_at))
    )
    holders = _holders(session, window, known_at)
    for row in session.execute(query.group_by(*keys).order_by(*keys)):
        on, kind, seller_id, insurer_id, number, *minors = row
        premium, share, commission, income = map(int, minors)
        seller, insurer = names[Party("distributor", seller_id)], names[Party("provider", insurer_id)]
        about = f"{on} {kind} x {number}, {seller}, {insurer}"
        yield Entry(on, RECEIVABLE if seller_id in holders else WALLET, seller, premium, about)
        yield Entry(on, INSURER, insurer, -share, about)
        yield Entry(on, DISTRIBUTOR, seller, -commission, about)
        yield Entry(on, INCOME, "", -income, about)


def _holders(session: ScopedSession, window: Window, known_at: datetime | None) -> set[UUID]:
    """The distributors that hold the premium of their sales, as the statements of the month have it."""
    held = agreements.load_in_force(session, window.last, known_at=known_at)
    return {
        party.id for party, terms in held.items() if party.account == "distributor" and terms.collects == "distributor"
    }


def _payments(
    session: ScopedSession, window: Window, names: Mapping[Party, str], closed: Mapping[date, Step]
) -> Iterator[Entry]:
    rows = list(bank_rows.list_rows(session, since=window.start, before=window.end))
    if earlier := [step.at for month, step in closed.items() if month < window.start]:
        is_late = col(bank_rows.PAID.created_at) > min(earlier)
        rows += bank_rows.list_rows(session, is_late, before=window.start)
    for row in rows:
        if _find_month(row, closed) != window.start:
            continue
        about = f"{row.value_on} {'payment' if row.entry == 'paid' else 'returned'} {row.reference}"
        on, is_out = max(row.value_on, window.start), row.direction == "out"
        account = INSURER if row.party.account == "provider" else DISTRIBUTOR if is_out else RECEIVABLE
        yield Entry(on, account, names[row.party], row.amount_minor, about)
        yield Entry(on, BANK, "", -row.amount_minor, about)


def _find_month(row: BankRow, closed: Mapping[date, Step]) -> date:
    """Return the month whose journal has a payment: that of its value date, or the next that was not closed by then."""
    month = row.value_on.replace(day=1)
    while month in closed and row.noted_at > closed[month].at:
        month = clock.add_months(month, 1)
    return month


def _taxes(session: ScopedSession, window: Window) -> Iterator[Entry]:
    for row in statement_reading.list_of_distributors(session, window.start):
        party = str(row.facts.get("party", ""))
        about = f"{window.last} taxes of {statement_reading.number_of(row)}, {party}"
        yield Entry(window.last, VAT, "", row.vat_minor, about)
        yield Entry(window.last, WITHHELD, "", -row.withheld_minor, about)
        yield Entry(window.last, DISTRIBUTOR, party, row.withheld_minor - row.vat_minor, about)
