"""Statements: a month of a party, frozen with a number and a hash, and its reversal (contract F3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
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
from core.services.finance.statements import reading as statement_reading
from core.services.finance.tax import MonthRates, MonthTax, Spread
from core.services.lists.dimensions import load_choices
from core.services.lists.spreadsheets import hash_chunks
from core.services.lists.windows import Window, find_first_month
from core.services.people.staff import Person
from core.states.finance import PAID_ON, StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Agreement, Movement, Policy, ProductVersion, Renewal, Statement, StatementLine

# What a distributor's earlier days may still bring: rows that were committed while the month before was prepared.
_DAYS_BEFORE = 31
_AT_ONCE = 2_000
_READ = ("id", "kind", "created_at", "product_id", "total_minor", "mca_profit_minor", "distributor_profit_minor")


def _with_late(window: Window) -> Window:
    return Window(clock.add_days(window.start, -_DAYS_BEFORE), window.end)


class Line(NamedTuple):
    """One line: amounts in kobo as they change what we owe the party, negative where it owes us."""

    movement_id: UUID
    kind: str
    occurred_at: datetime
    policy_number: str | None
    customer: str
    product_id: UUID
    other_id: UUID
    effective_at: datetime | None
    expires_at: datetime | None
    premium_minor: int
    rate_bp: int
    commission_minor: int
    vat_minor: int = 0
    withheld_minor: int = 0
    net_minor: int = 0


class Unstated(NamedTuple):
    """The movements of a party that a statement would take: their number, and the distributor's commission in kobo."""

    rows: int
    commission_minor: int


def _measure_unstated(session: ScopedSession, party: Party, window: Window) -> Unstated:
    """Return what is unstated until the end of a window."""
    return Unstated(
        *session.count_and_sum(col(Movement.distributor_profit_minor), *_unstated(party, _with_late(window)))
    )


def _stream_lines(
    session: ScopedSession, party: Party, window: Window, taxed: MonthTax, *, collects: str, rows: int
) -> Iterator[list[Line]]:
    """Yield the lines of a window in the order of time: at once where they are few, otherwise a day at a time."""
    vat, withheld = Spread(taxed.vat_bp), Spread(taxed.withheld_bp)
    late = Window(_with_late(window).start, window.start)
    by_day = (late, *(Window.from_days(each, each) for each in window.days))
    for day in by_day if rows > _AT_ONCE else (_with_late(window),):
        found = session.execute(_select_movements(*_unstated(party, day))).all()
        if found:
            yield [_build_line(party, row, vat=vat, withheld=withheld, collects=collects) for row in found]


def load_movements(session: ScopedSession, window: Window) -> Mapping[Party, Sequence[Any]]:
    """Return every movement of a window, stated or not, by the two parties that have it, in the order of time."""
    found: dict[Party, list[Any]] = {}
    for row in session.execute(_select_movements(*window.span.on(col(Movement.created_at)))):
        for party in (Party("distributor", row.distributor_id), Party("provider", row.provider_id)):
            found.setdefault(party, []).append(row)
    return found


def build_lines(party: Party, rows: Sequence[Any], taxed: MonthTax, *, collects: str) -> list[Line]:
    """Return the lines of a party's movements, over which its taxes are spread."""
    vat, withheld = Spread(taxed.vat_bp), Spread(taxed.withheld_bp)
    return [_build_line(party, row, vat=vat, withheld=withheld, collects=collects) for row in rows]


def is_stated(party: Party) -> sa.ColumnElement[bool]:
    """Return the condition that a movement is on a statement of a kind of party."""
    return sa.exists().where(
        col(StatementLine.movement_id) == col(Movement.id),
        col(StatementLine.account) == party.account,
        col(StatementLine.released_by).is_(None),
    )


def _unstated(party: Party, window: Window) -> list[sa.ColumnElement[bool]]:
    return [party.owns(Movement), *window.span.on(col(Movement.created_at)), ~is_stated(party)]


def _select_movements(*conditions: Any) -> Any:
    term = sa.case((col(Movement.renewal_id).is_not(None), col(Renewal.start_at)), else_=col(Policy.start_at))
    end = sa.case((col(Movement.renewal_id).is_not(None), col(Renewal.expiration_at)), else_=col(Policy.expiration_at))
    return (
        sa.select(
            # As columns and not as records: nine of ten ids of a movement are not read.
            *(col(getattr(Movement, name)) for name in _READ),
            *(col(Movement.distributor_id), col(Movement.provider_id)),
            *(col(Policy.policy_number), col(Policy.first_name), col(Policy.last_name)),
            *(col(Policy.declined_at), term.label("effective_at"), end.label("expires_at")),
            *(col(ProductVersion.mca_commission_bp), col(ProductVersion.distributor_commission_bp)),
        )
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Movement.product_version_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Movement.renewal_id))
        .where(*conditions)
        .order_by(col(Movement.created_at), col(Movement.id))
    )


def _build_line(party: Party, row: Any, *, vat: Spread, withheld: Spread, collects: str) -> Line:
    is_seller = party.account == "distributor"
    commission = row.distributor_profit_minor if is_seller else -(row.mca_profit_minor + row.distributor_profit_minor)
    # A premium is owed to an insurer, and by a distributor that collects it.
    owed = (-row.total_minor if collects == "distributor" else 0) if is_seller else row.total_minor
    taxed = commission if is_seller else 0
    added, kept = vat.next(taxed), withheld.next(taxed)
    return Line(
        movement_id=row.id,
        kind=transaction_of(row.kind, is_declined=row.declined_at is not None),
        occurred_at=row.created_at,
        policy_number=row.policy_number,
        customer=f"{row.first_name} {row.last_name}",
        product_id=row.product_id,
        other_id=row.provider_id if is_seller else row.distributor_id,
        effective_at=row.effective_at,
        expires_at=row.expires_at,
        premium_minor=row.total_minor,
        rate_bp=row.distributor_commission_bp + (0 if is_seller else row.mca_commission_bp),
        commission_minor=commission,
        vat_minor=added,
        withheld_minor=kept,
        net_minor=owed + commission + added - kept,
    )


def transaction_of(kind: str, *, is_declined: bool) -> str:
    """Return the transaction that a statement prints for a movement."""
    if kind == "refund":
        return "decline" if is_declined else "cancellation"
    return {"purchase": "new"}.get(kind, kind)


ROLE: Final = "finance"
# What changes a balance, and between which two it lies.
_CHANGES: Final = (
    *("premium_minor", "earned_minor", "clawback_minor", "adjusted_minor", "vat_minor", "withheld_minor", "paid_minor"),
)
AMOUNTS: Final = ("opening_minor", *_CHANGES, "closing_minor")


@dataclass(slots=True)
class _Sums:
    """The running sums of a statement's lines."""

    lines: int = 0
    net_minor: int = 0
    earned_minor: int = 0
    clawback_minor: int = 0
    adjusted_minor: int = 0
    vat_minor: int = 0
    withheld_minor: int = 0
    seen: set[UUID] = field(default_factory=set)

    def add(self, lines: Sequence[Line]) -> None:
        """Add a batch of lines."""
        for line in lines:
            self._add(line)

    def _add(self, line: Line) -> None:
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
    tax.hold_rates(session)
    before = _get_before(session, party, window)
    terms = agreements.get_in_force(session, party, window.last)
    unstated = _measure_unstated(session, party, window)
    if not without_withholding:
        _refuse_without_rate(session, party, month, unstated.commission_minor)
    taxed = assess(tax.load_rates(session, month), party, terms, unstated.commission_minor)
    draft = Draft(
        party=party,
        name=parties.get_name(session, party),
        month=month,
        opening_minor=before.closing_minor if before else 0,
        terms=terms,
        taxed=taxed,
        batches=_stream_lines(session, party, window, taxed, collects=collector_of(terms), rows=unstated.rows),
        paid=paid_lines.list_unstated(session, party, window.last),
        names=load_names(session),
    )
    return freeze(session, draft, by=by).id


def assess(rates: MonthRates, party: Party, terms: Agreement | None, commission_minor: int) -> MonthTax:
    """Return the taxes on the commission of a party's month, of which an insurer has none."""
    return tax.NO_TAX if party.account == "provider" else tax.assess(rates, terms, commission_minor)


def collector_of(terms: Agreement | None) -> str:
    """Return who collects the premium: the platform, unless the terms say the distributor."""
    return terms.collects if terms else "platform"


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The parts of a statement: its lines in batches, the payments on it, and the names of whatever it may mention."""

    party: Party
    name: str
    month: date
    opening_minor: int
    terms: Agreement | None
    taxed: MonthTax
    batches: Iterable[Sequence[Line]]
    paid: Sequence[PaidLine]
    names: Mapping[UUID, str]


def freeze(session: ScopedSession, draft: Draft, *, by: Person) -> Statement:
    """Write a statement with its lines, its payments and the next number of its party."""
    statement_id, sums = ids.new(), _Sums()
    held = {"statement_id": statement_id, "account": draft.party.account, "released_by": None}
    # One batch is hashed as it is here; several are read again, so that a long month is never held whole.
    kept: Sequence[Line] = ()
    for number, lines in enumerate(draft.batches):
        rows = [{**held, "position": place, **line._asdict()} for place, line in enumerate(lines, sums.lines + 1)]
        session.insert_batch(StatementLine, rows)
        sums.add(lines)
        kept = () if number else lines
    paid_lines.write(session, statement_id, draft.paid)
    row = _build(session, draft, sums, statement_id, by)
    row.sha256 = _hash(session, row, kept, draft.paid)
    session.insert(row)
    _audit(session, row, "statement prepared", by=by)
    return row


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
        number=_take_number(session, parties.party_of(original)),
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
    _audit(session, row, "statement reversed", by=by, reverses=number, reason=reason)
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


def _build(session: ScopedSession, draft: Draft, sums: _Sums, statement_id: UUID, by: Person) -> Statement:
    """Return a prepared statement that lacks its hash yet."""
    paid_minor = sum(line.amount_minor for line in draft.paid)
    return Statement.to_insert(
        id=statement_id,
        **draft.party.columns,
        number=_take_number(session, draft.party),
        month=draft.month,
        opening_minor=draft.opening_minor,
        **{name: getattr(sums, name) for name in _CHANGES if name != "paid_minor"},
        paid_minor=paid_minor,
        closing_minor=draft.opening_minor + sums.net_minor - paid_minor,
        lines=sums.lines,
        sha256="",
        facts=_build_facts(draft, sums),
        prepared_by=by.id,
        prepared_at=clock.now(),
    )


def _take_number(session: ScopedSession, party: Party) -> int:
    """Return the number of a party's next statement."""
    return session.next_in_transaction(f"statement {party.account} {party.id}")


def _build_facts(draft: Draft, sums: _Sums) -> dict[str, Any]:
    """Return the descriptive data frozen with a statement: names, terms, and the sources of its taxes."""
    terms, taxed = draft.terms, draft.taxed
    holder = "the distributor" if collector_of(terms) == "distributor" else "the platform"
    particulars = {
        "Date basis": "The moment a movement is recorded, as days in Africa/Lagos",
        "Agreement": terms.number if terms else "None on file: the usual terms",
        **({"Premium is held by": holder} if draft.party.account == "distributor" else {}),
        "VAT": _describe_tax(taxed.vat_bp, taxed.vat_source),
        "Withholding tax": _describe_tax(taxed.withheld_bp, taxed.withheld_source),
    }
    tin = {"Tax number": terms.tin} if terms and terms.tin else {}
    return {
        "party": draft.name,
        "said": {**particulars, **tin},
        "rates": {"vat_bp": taxed.vat_bp, "withheld_bp": taxed.withheld_bp},
        "names": statement_files.names_of(sums.seen, draft.names),
    }


def _describe_tax(rate_bp: int, source: str) -> str:
    return f"{money.to_wire(rate_bp)} %. {source}" if rate_bp else source


def load_names(session: ScopedSession) -> dict[UUID, str]:
    """Return the names of every party and product by id."""
    return dict(chain.from_iterable(names.items() for names in load_choices(session).names.values()))


def _hash(session: ScopedSession, row: Statement, lines: Sequence[Line], paid: Sequence[PaidLine]) -> str:
    """Return the hash of a statement by its lines; those in the store where these are not all."""
    if row.lines > len(lines):
        return hash_chunks(statement_reading.csv_of(session, row))
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


def _audit(session: ScopedSession, row: Statement, action: str, *, by: Person, **more: str) -> None:
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
