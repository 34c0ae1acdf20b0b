"""Statements moved on: one table of what may follow what, each approval by another, and the steps (contract F3)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, journal, parties
from core.services.finance.payments.balances import refuse_under_way
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.finance.statements.reading import StatementRow
from core.services.people import approvals, four_eyes
from core.services.people.approvals import Subject
from core.services.people.four_eyes import refuse_made_resting, refuse_own, require_second
from core.services.people.staff import Person
from core.states.finance import PAID_ON, STATEMENT_TRANSITIONS, StatementState, StatementTransition
from core.store.access import ScopedSession
from core.store.schema.tables import Statement, StatementLine, StatementPayment, StatementStep

KIND: Final = "statement"
_SHORTEST_NOTE: Final = 5
_ACTIONS: Final[Mapping[StatementState, str]] = {
    StatementState.APPROVED: "statement approved",
    StatementState.SENT: "statement sent",
    StatementState.DISPUTED: "statement disputed",
    StatementState.VOID: "statement given up",
}


def build_subject(row: Statement) -> Subject:
    """Return what an approval of a statement is of: party, month, figures, and its lines by their hash."""
    parts = {
        "the party": [row.account, row.distributor_id or row.provider_id],
        "the month": row.month,
        "the calculation": [getattr(row, name) for name in statements.AMOUNTS],
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
    statements.require_finance(by)
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
    require_second(row.prepared_by, by, "You prepared this statement: somebody else of finance approves it")
    four_eyes.refuse_one_with(
        session, [(row.prepared_by, row.prepared_at)], by, did="prepared this statement", does="approves it"
    )
    refuse_made_resting(session, row.prepared_by, row.prepared_at)
    agreements.refuse_who_changed(session, row, by)


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
        role = "admin" if "admin" in by.roles else statements.ROLE
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
