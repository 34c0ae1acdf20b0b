"""Statements: a month of a party, frozen with a number and a hash, approved, sent, and reversed (contract F3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, journal, parties, tax
from core.services.finance.parties import Party
from core.services.finance.payments.settlement import refuse_under_way
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import lines as statement_lines
from core.services.finance.statements import makers
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.files import PaidLine
from core.services.finance.statements.lines import Line, Sums
from core.services.finance.statements.reading import StatementRow
from core.services.finance.tax import MonthRates, MonthTax
from core.services.lists.dimensions import load_choices
from core.services.lists.spreadsheets import hash_chunks
from core.services.lists.windows import Window, find_first_month
from core.services.people import approvals
from core.services.people.approvals import Subject
from core.services.people.four_eyes import FirstStep, refuse_own, require_other
from core.services.people.staff import Person
from core.states.finance import PAID_ON, STATEMENT_TRANSITIONS, StatementState, StatementTransition
from core.store.access import ScopedSession
from core.store.schema.tables import (
    Agreement,
    Movement,
    Statement,
    StatementLine,
    StatementPayment,
    StatementStep,
)

ROLE: Final = "finance"
# What changes a balance, and between which two it lies.
_CHANGES: Final = (
    *("premium_minor", "earned_minor", "clawback_minor", "adjusted_minor", "vat_minor", "withheld_minor", "paid_minor"),
)
AMOUNTS: Final = ("opening_minor", *_CHANGES, "closing_minor")
KIND: Final = "statement"
_SHORTEST_NOTE: Final = 5
_ACTIONS: Final[Mapping[StatementState, str]] = {
    StatementState.APPROVED: "statement approved",
    StatementState.SENT: "statement sent",
    StatementState.DISPUTED: "statement disputed",
    StatementState.VOID: "statement given up",
}


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
    unstated = statement_lines.measure_unstated(session, party, window)
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
        batches=statement_lines.stream_lines(
            session, party, window, taxed, collects=collector_of(terms), rows=unstated.rows
        ),
        paid=statement_lines.list_payments(session, party, window.last),
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
    statement_id, sums = ids.new(), Sums()
    held = {"statement_id": statement_id, "account": draft.party.account, "released_by": None}
    # One batch is hashed as it is here; several are read again, so that a long month is never held whole.
    kept: Sequence[Line] = ()
    for number, lines in enumerate(draft.batches):
        rows = [{**held, "position": place, **line._asdict()} for place, line in enumerate(lines, sums.lines + 1)]
        session.insert_batch(StatementLine, rows)
        sums.add(lines)
        kept = () if number else lines
    statement_lines.write_payments(session, statement_id, draft.paid)
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
    last = statement_reading.get_last(session, party)
    return _find_month_after(session, party, last.month if last else None)


def _find_month_after(session: ScopedSession, party: Party, last: date | None) -> date | None:
    """Return the month after the last one that was stated, or the one of the first movement."""
    if last:
        return clock.add_months(last, 1)
    return find_first_month(session, col(Movement.created_at), party.owns(Movement))


def _refuse_without_rate(session: ScopedSession, party: Party, month: date, commission_minor: int) -> None:
    if party.account == "distributor" and commission_minor > 0 and tax.lacks_withholding(session, month):
        raise StateForbids(
            f"No rate of withholding tax is on file for {month:%B %Y}: it is stated once somebody says that nothing is"
            " withheld"
        )


def _build(session: ScopedSession, draft: Draft, sums: Sums, statement_id: UUID, by: Person) -> Statement:
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


def _build_facts(draft: Draft, sums: Sums) -> dict[str, Any]:
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
    return [(party, name) for party, name, first in list_due_months(session) if first <= month]


def list_due_months(session: ScopedSession) -> Sequence[tuple[Party, str, date]]:
    """List the parties that money has moved with: id, name, and the month that the next statement is of."""
    query = sa.select(
        *(col(Statement.account), col(Statement.distributor_id), col(Statement.provider_id)),
        sa.func.max(col(Statement.month)).label("month"),
    ).where(*statement_reading.IS_VALID)
    query = query.group_by(col(Statement.account), col(Statement.distributor_id), col(Statement.provider_id))
    stated = {parties.party_of(row): row.month for row in session.execute(query)}
    due = (
        (party, name, _find_month_after(session, party, stated.get(party)))
        for party, name in parties.list_parties(session)
    )
    return [(party, name, month) for party, name, month in due if month is not None]


# Moved on: one table of what may follow what, each approval by another, and the steps.


def build_subject(row: Statement) -> Subject:
    """Return what an approval of a statement is of: party, month, figures, and its lines by their hash."""
    parts = {
        "the party": [row.account, row.distributor_id or row.provider_id],
        "the month": row.month,
        "the calculation": [getattr(row, name) for name in AMOUNTS],
        "the list of lines": [row.lines, row.sha256],
        "what it reverses": row.reverses_id,
    }
    return Subject(kind=KIND, id=row.id, amount_minor=row.closing_minor, parts=parts)


def find_lapse(session: ScopedSession, statement_id: UUID) -> str | None:
    """Say why the approval of an approved statement does not stand; None where it does, or where none is needed."""
    row: Statement = session.get_one(Statement, statement_id)
    return approvals.find_fault(session, build_subject(row)) if row.state == StatementState.APPROVED else None


def refuse_unapproved(session: ScopedSession, statement_ids: Iterable[UUID]) -> None:
    """StateForbids where a statement is not what was approved: nothing is paid on it."""
    rows = session.execute(sa.select(Statement).where(col(Statement.id).in_(list(statement_ids)))).scalars().all()
    approved = approvals.load_latest(session, KIND, [row.id for row in rows])
    for row in sorted(rows, key=lambda row: row.month):
        if why := approvals.describe_difference(approved.get(row.id), build_subject(row)):
            raise StateForbids(f"{statement_reading.number_of(row)} is not what was approved: {why}")


def list_allowed(session: ScopedSession, statement_id: UUID, by: Person) -> list[StatementTransition]:
    """List what this person may do with a statement now; where its approval lapsed it is approved anew first."""
    row = statement_reading.get_statement(session, statement_id)
    has_lapsed = find_lapse(session, statement_id) is not None
    return [each for each in _list_allowed(row, by, anew=has_lapsed) if not has_lapsed or each.anew]


def list_movable(rows: Iterable[StatementRow], to: str, *, by: Person) -> list[StatementRow]:
    """Return the statements that this person may move to a state without a note; reversals go one by one."""
    return [
        row
        for row in rows
        if row.reverses_id is None and any(step.to == to and not step.needs_note for step in _list_allowed(row, by))
    ]


def count_for_another(rows: Iterable[StatementRow], *, by: Person) -> int:
    """Return the number of statements that this person has prepared and that wait for another's approval."""
    return sum(row.prepared_by == by.id and row.paper.state == StatementState.PREPARED for row in rows)


def _list_allowed(row: StatementRow, by: Person, *, anew: bool = False) -> list[StatementTransition]:
    if not by.has_role("finance"):
        return []
    return [
        each
        for each in _of(row.paper.state, is_reversal=row.reverses_id is not None)
        if not (each.needs_other and row.prepared_by == by.id) and each.anew <= anew
    ]


def move(session: ScopedSession, statement_id: UUID, to: str, *, by: Person, note: str = "") -> None:
    """Move a statement to another state.

    NotAllowed for whoever prepared it and approves it too, or had a password reset; StateForbids for a step that the
    table does not have, that lacks its note, or whose approval lapsed. Approving a reversal voids what it reverses and
    frees its movements.
    """
    with audit.keep_refusal(actor=by.actor, action=f"statement {to}", subject=audit.subject_of(KIND, statement_id)):
        _move(session, statement_id, to, by=by, note=note)


def _move(session: ScopedSession, statement_id: UUID, to: str, *, by: Person, note: str) -> None:
    require_finance(by)
    if statement_reading.get_statement(session, statement_id).reverses_id:
        journal.hold_months(session)
    row = statement_reading.get_for_update(session, statement_id)
    refuse_own(parties.load_people(session, parties.party_of(row)), by)
    step = STATEMENT_TRANSITIONS.get(row.state, to)
    if step not in _of(row.state, is_reversal=row.reverses_id is not None):
        raise StateForbids(
            f"{'A reversal' if row.reverses_id else 'A statement'} that is {row.state} cannot become {to}"
        )
    if step.needs_other:
        _require_second(session, row, by)
    if step.needs_note and len(note.strip()) < _SHORTEST_NOTE:
        raise InvalidInput.for_field("note", "must say why, in at least five characters")
    if step.to is StatementState.DISPUTED or (step.to is StatementState.APPROVED and row.reverses_id):
        refuse_under_way(session, parties.party_of(row))
    if step.to is StatementState.APPROVED and row.reverses_id:
        if statement_reading.get_for_update(session, row.reverses_id).state in PAID_ON:
            raise StateForbids("Something was paid on the statement meanwhile: give this reversal up")
        journal.refuse_shut(session, row.month)
    _require_approval(session, row, step)
    reason = note.strip() if step.needs_note else None
    take(session, row, step, position=_next_place(session, row.id), by=by, note=reason)
    if step.to is StatementState.APPROVED and row.reverses_id:
        _void(session, row.reverses_id, reversal_id=row.id)
        place = _next_place(session, row.reverses_id)
        _add_step(session, row.reverses_id, StatementState.VOID, position=place, by=by, note=row.note)


def _require_second(session: ScopedSession, row: Statement, by: Person) -> None:
    step = FirstStep(by=row.prepared_by, at=row.prepared_at, did="prepared this statement", does="approves it")
    require_other(session, step, by, second="somebody else of finance")
    agreements.refuse_who_changed(session, row, by)
    if row.account == "distributor":
        makers.refuse_makers(session, row, by)


def take(
    session: ScopedSession,
    row: Statement,
    step: StatementTransition,
    *,
    position: int,
    by: Person,
    note: str | None = None,
) -> None:
    """Take a step of a statement that nothing stands against, the position-th after its preparation."""
    if step.to is StatementState.APPROVED:
        role = "admin" if "admin" in by.roles else ROLE
        approvals.approve(session, build_subject(row), staff_id=by.id, role=role, limit_minor=None, at=clock.now())
    stamps = {f"{step.stamps}_by": by.id, f"{step.stamps}_at": clock.now()} if step.stamps else {}
    session.update_columns(Statement.to_insert(id=row.id, state=step.to, **stamps), "state", *stamps)
    _add_step(session, row.id, step.to, position=position, by=by, note=note)
    audit.write(
        session,
        actor=by.actor,
        action=_ACTIONS[step.to],
        subject=audit.subject_of(KIND, row.id),
        before={"state": step.start},
        after={"state": step.to, **({"reason": note} if note else {})},
    )


def _require_approval(session: ScopedSession, row: Statement, step: StatementTransition) -> None:
    """Require that an approval stands before a statement is sent, and lapsed before it is given anew (contract K3)."""
    subject = build_subject(row)
    if step.anew and approvals.find_fault(session, subject) is None:
        raise StateForbids("The approval stands: there is nothing to approve anew")
    if step.start is StatementState.APPROVED and step.to is not StatementState.APPROVED:
        approvals.require_standing(session, subject)


def _next_place(session: ScopedSession, statement_id: UUID) -> int:
    return session.count_rows(StatementStep, col(StatementStep.statement_id) == statement_id) + 1


def _add_step(
    session: ScopedSession, statement_id: UUID, state: str, *, position: int, by: Person, note: str | None
) -> None:
    step = StatementStep.to_insert(
        statement_id=statement_id, position=position, state=state, staff_id=by.id, made_at=clock.now(), note=note
    )
    session.insert(step)


def _of(state: str, *, is_reversal: bool) -> Sequence[StatementTransition]:
    return [each for each in STATEMENT_TRANSITIONS.list_from(state) if each.of_reversal in (None, is_reversal)]


def _void(session: ScopedSession, statement_id: UUID, *, reversal_id: UUID) -> None:
    """Void a statement, and free its lines and payments: they are stated again."""
    session.change(Statement, col(Statement.id) == statement_id, state=StatementState.VOID)
    lines: tuple[Any, ...] = (StatementLine, StatementPayment)
    for entity in lines:
        is_held = entity.released_by.is_(None)
        session.change(entity, entity.statement_id == statement_id, is_held, released_by=reversal_id)
