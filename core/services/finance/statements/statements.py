"""Statements: a month of a party, frozen with a number and a hash, and its reversal (contract F3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import chain
from typing import Any, Final
from uuid import UUID

from sqlmodel import col

from core import clock, ids, money
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, journal, parties, tax
from core.services.finance.parties import Party
from core.services.finance.payments import paid_lines
from core.services.finance.payments.balances import refuse_under_way
from core.services.finance.payments.paid_lines import PaidLine
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import lines as statement_lines
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.lines import Line
from core.services.finance.tax import MonthTax
from core.services.lists.dimensions import load_choices
from core.services.lists.spreadsheets import hash_chunks
from core.services.lists.windows import Window, find_first_month
from core.services.people.staff import Person
from core.states.finance import PAID_ON, StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Agreement, Movement, Statement, StatementLine

ROLE: Final = "finance"
# What changes a balance, and between which two it lies.
_CHANGES: Final = (
    *("premium_minor", "earned_minor", "clawback_minor", "adjusted_minor", "vat_minor", "withheld_minor", "paid_minor"),
)
AMOUNTS: Final = ("opening_minor", *_CHANGES, "closing_minor")


@dataclass(slots=True)
class Sums:
    """The running sums of a statement's lines."""

    lines: int = 0
    net_minor: int = 0
    earned_minor: int = 0
    clawback_minor: int = 0
    adjusted_minor: int = 0
    vat_minor: int = 0
    withheld_minor: int = 0
    paid_minor: int = 0
    seen: set[UUID] = field(default_factory=set)

    def add(self, line: Line) -> None:
        """Add a line."""
        self.lines += 1
        self.net_minor += line.net_minor
        self.vat_minor += line.vat_minor
        self.withheld_minor += line.withheld_minor
        self.seen.add(line.product_id)
        self.seen.add(line.other_id)
        if line.kind in {"cancellation", "decline"}:
            self.clawback_minor += line.commission_minor
        elif line.kind == "adjustment":
            self.adjusted_minor += line.commission_minor
        else:
            self.earned_minor += line.commission_minor

    @property
    def premium_minor(self) -> int:
        """Change of our debt by premiums: the rest of the net amount."""
        commissions = self.earned_minor + self.clawback_minor + self.adjusted_minor
        return self.net_minor - commissions - self.vat_minor + self.withheld_minor


def prepare(
    session: ScopedSession, party: Party, month: date, *, by: Person, without_withholding: bool = False
) -> UUID:
    """Freeze the statement of a party's month, which has to be over, and return its id.

    StateForbids says that the month runs still, is stated already, or that another one comes first: each opens with
    the balance at which the one before closed. A commission of a month for which no rate of withholding tax is on file
    is stated by whoever says that nothing is withheld of it.
    """
    require_finance(by)
    window = Window.of_month(month)
    before = _get_before(session, party, window)
    statement_id, position, sums = ids.new(), 0, Sums()
    terms = agreements.get_in_force(session, party, window.last)
    unstated = statement_lines.measure(session, party, window)
    if not without_withholding:
        _refuse_without_rate(session, party, month, unstated.commission_minor)
    tax.hold_rates(session)
    rates = tax.load_rates(session, month)
    taxed = tax.NO_TAX if party.account == "provider" else tax.assess(rates, terms, unstated.commission_minor)
    collects = terms.collects if terms else "platform"
    for lines in statement_lines.stream(session, party, window, tax=taxed, collects=collects, rows=unstated.rows):
        rows = [row_of(statement_id, party, position + place, line) for place, line in enumerate(lines, 1)]
        position += len(rows)
        for line in lines:
            sums.add(line)
        session.insert_batch(StatementLine, rows)
    paid = paid_lines.list_unstated(session, party, window.last)
    paid_lines.write(session, statement_id, paid)
    sums.paid_minor = sum(line.amount_minor for line in paid)
    row = build_statement(
        party,
        month,
        sums,
        statement_id=statement_id,
        number=take_number(session, party),
        opening_minor=before.closing_minor if before else 0,
        by=by,
    )
    name, names = parties.get_name(session, party), load_names(session)
    row.facts = build_facts(party, name, sums, names, terms=terms, taxed=taxed)
    row.sha256 = hash_chunks(statement_reading.csv_of(session, row))
    session.insert(row)
    audit_statement(session, row, "statement prepared", by=by)
    return statement_id


def reverse(session: ScopedSession, statement_id: UUID, *, reason: str, by: Person) -> UUID:
    """Prepare the statement that voids another one, and return its id; somebody else approves it.

    Only the newest statement of a party can be reversed, and none that was paid on.
    """
    require_finance(by)
    journal.hold_months(session)
    original = statement_reading.get_for_update(session, statement_id)
    _refuse_irreversible(session, original)
    journal.refuse_shut(session, original.month)
    if len(reason.strip()) < 10:
        raise InvalidInput.for_field("reason", "must say in at least ten characters why the statement is void")
    negated = {name: -getattr(original, name) for name in AMOUNTS}
    negated |= {"opening_minor": original.closing_minor, "closing_minor": original.opening_minor}
    row = Statement(
        id=ids.new(),
        **parties.party_of(original).columns,
        number=take_number(session, parties.party_of(original)),
        month=original.month,
        **negated,
        lines=0,
        sha256="",
        facts={**original.facts, "names": {}},
        reverses_id=original.id,
        note=reason.strip(),
        prepared_by=by.id,
        prepared_at=clock.now(),
    )
    row.sha256 = hash_chunks(statement_reading.csv_of(session, row))
    session.insert(row)
    number = statement_reading.number_of(original)
    audit_statement(session, row, "statement reversed", by=by, reverses=number, reason=reason)
    return row.id


def can_reverse(session: ScopedSession, statement_id: UUID) -> bool:
    """Return True if a reversal of this statement could be prepared now."""
    try:
        _refuse_irreversible(session, session.get_one(Statement, statement_id))
    except StateForbids:
        return False
    return True


def require_finance(by: Person) -> None:
    """NotAllowed for whoever is not of finance."""
    by.require_role(ROLE, otherwise="Only finance works on statements")


def _get_before(session: ScopedSession, party: Party, window: Window) -> Statement | None:
    """Return the statement before a month; StateForbids when this month is not the next one to be stated."""
    if session.scope.is_live is not True:
        raise StateForbids("Statements are prepared of live records only")
    parties.get_name(session, party)
    if window.start.day != 1 or not window.is_over:
        raise StateForbids(f"{window.start:%B %Y} is not over yet: a statement is prepared of a whole month")
    last = statement_reading.get_last(session, party)
    due = find_due_month(session, party)
    if due is None:
        raise StateForbids("No money has moved with this party yet: there is nothing to state")
    if last and statement_reading.get_reversal(session, last.id):
        raise StateForbids(
            f"The reversal of {statement_reading.number_of(last)} waits: it is approved or given up first"
        )
    if last and last.month >= window.start:
        raise StateForbids(f"{window.start:%B %Y} is stated already: {statement_reading.number_of(last)} is the last")
    if due != window.start:
        raise StateForbids(f"{due:%B %Y} comes first: each statement opens where the one before it closed")
    return last


def find_due_month(session: ScopedSession, party: Party) -> date | None:
    """Return the month that a party's next statement is of; None before its first movement."""
    if last := statement_reading.get_last(session, party):
        return clock.add_months(last.month, 1)
    return find_first_month(session, col(Movement.created_at), party.owns(Movement))


def _refuse_without_rate(session: ScopedSession, party: Party, month: date, commission_minor: int) -> None:
    if party.account == "distributor" and commission_minor > 0 and tax.lacks_withholding(session, month):
        raise StateForbids(
            f"No rate of withholding tax is on file for {month:%B %Y}: it is stated once somebody says that nothing is"
            " withheld"
        )


def row_of(statement_id: UUID, party: Party, position: int, line: Line) -> dict[str, Any]:
    """Return the row of a line."""
    held = {"statement_id": statement_id, "account": party.account, "position": position, "released_by": None}
    return {**held, **line._asdict()}


def build_statement(
    party: Party, month: date, sums: Sums, *, statement_id: UUID, number: int, opening_minor: int, by: Person
) -> Statement:
    """Return a prepared statement that lacks its facts and its hash yet."""
    return Statement(
        id=statement_id,
        **party.columns,
        number=number,
        month=month,
        opening_minor=opening_minor,
        **{name: getattr(sums, name) for name in _CHANGES},
        closing_minor=opening_minor + sums.net_minor - sums.paid_minor,
        lines=sums.lines,
        sha256="",
        prepared_by=by.id,
        prepared_at=clock.now(),
    )


def take_number(session: ScopedSession, party: Party) -> int:
    """Return the number of a party's next statement."""
    return session.next_in_transaction(f"statement {party.account} {party.id}")


def build_facts(
    party: Party, name: str, sums: Sums, names: Mapping[UUID, str], *, terms: Agreement | None, taxed: MonthTax
) -> dict[str, Any]:
    """Return the descriptive data frozen with a statement: names, terms, and the sources of its taxes."""
    holder = "the distributor" if terms and terms.collects == "distributor" else "the platform"
    particulars = {
        "Date basis": "The moment a movement is recorded, as days in Africa/Lagos",
        "Agreement": terms.number if terms else "None on file: the usual terms",
        **({"Premium is held by": holder} if party.account == "distributor" else {}),
        "VAT": _describe_tax(taxed.vat_bp, taxed.vat_source),
        "Withholding tax": _describe_tax(taxed.withheld_bp, taxed.withheld_source),
    }
    tin = {"Tax number": terms.tin} if terms and terms.tin else {}
    return {
        "party": name,
        "said": {**particulars, **tin},
        "rates": {"vat_bp": taxed.vat_bp, "withheld_bp": taxed.withheld_bp},
        "names": statement_files.names_of(sums.seen, names),
    }


def _describe_tax(rate_bp: int, source: str) -> str:
    return f"{money.to_wire(rate_bp)} %. {source}" if rate_bp else source


def load_names(session: ScopedSession) -> dict[UUID, str]:
    """Return the names of every party and product by id."""
    return dict(chain.from_iterable(names.items() for names in load_choices(session).names.values()))


def hash_lines(row: Statement, lines: Iterable[Line], paid: Sequence[PaidLine]) -> str:
    """Return the hash of a statement whose lines are not in the store yet."""
    paper = statement_reading.paper_of(row, payments=tuple(paid))
    return hash_chunks(statement_files.csv_chunks(paper, [map(_with_text_ids, lines)]))


def _with_text_ids(line: Line) -> Line:
    """Return a line as it is read for a file."""
    ids_: Any = {name: str(getattr(line, name)) for name in statement_reading.IDS}
    return line._replace(**ids_)


def _refuse_irreversible(session: ScopedSession, original: Statement) -> None:
    last = statement_reading.get_last(session, parties.party_of(original))
    if original.reverses_id or original.state == StatementState.VOID:
        raise StateForbids("This statement is void, or voids another one: it cannot be reversed")
    if original.state in PAID_ON:
        raise StateForbids("Something was paid on this statement: correct it by an adjustment, on the next one")
    refuse_under_way(session, parties.party_of(original))
    if last is None or last.id != original.id:
        raise StateForbids("Only the newest statement of a party can be reversed: later ones open with its balance")
    if statement_reading.get_reversal(session, original.id) is not None:
        raise StateForbids("A reversal of this statement waits already")


def audit_statement(session: ScopedSession, row: Statement, action: str, *, by: Person, **more: str) -> None:
    """Write an act on a statement into the audit log."""
    facts = {
        "number": statement_reading.number_of(row),
        "party": row.facts["party"],
        "month": f"{row.month:%Y-%m}",
        "closing_balance": money.to_wire(row.closing_minor),
        "lines": row.lines,
        "sha256": row.sha256,
        **more,
    }
    audit.note(session, "statement", row.id, action, actor=by.actor, **facts)


def list_due(session: ScopedSession, month: date) -> Sequence[tuple[Party, str]]:
    """List the parties whose next statement is of a month, or of one before it."""
    due = ((party, name, find_due_month(session, party)) for party, name in parties.list_parties(session))
    return [(party, name) for party, name, first in due if first is not None and first <= month]
