"""Tasks on claims, by hand or by a rule from where a claim stands, and referrals to a supervisor (C18, C19)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money
from core.covers import fields, request
from core.covers.request import Request, refuse_unless
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.lists import filter as claim_filter
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.transitions import Case, find_rule_exceeded
from core.services.people import staff
from core.services.people.staff import Person, join_names
from core.states.claims import CLAIMS_ROLES, RULES, AskedRole, ClaimStatus, ClaimTransition
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Claim, ClaimEvent, ClaimQuestion, ClaimReferral, ClaimTask

QUESTION_DAYS: Final = 7
OFFER_DAYS: Final = 14
UNPAID_DAYS: Final = 3
PAPERS_DAYS: Final = 7
# What is to be done with a claim that is not paid, by its status.
_UNPAID: Final = {ClaimStatus.APPROVED: "send the offer", ClaimStatus.OFFER_ACCEPTED: "pay it"}
_BEFORE_APPROVAL: Final = frozenset(status for status, rule in RULES.items() if ClaimStatus.APPROVED in rule.leads_to)


class TaskInput(Request):
    """Something to do, and by when."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"task"})

    task: Annotated[str, Field(min_length=2, max_length=500)]
    due_on: fields.TodayOrLater


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One thing to do on a claim, with whose claim it is, its line and what it came to so far, in kobo.

    `id` is None where a rule asks for it, which ends when its reason does.
    """

    id: UUID | None
    claim_id: UUID
    claimant: str
    claim_type: str
    amount_minor: int
    text: str
    due_on: date
    who: str | None
    done_at: datetime | None = None

    @property
    def reference(self) -> str:
        """The claim as people name it."""
        return submitted.format_reference(self.claim_id)

    @property
    def is_overdue(self) -> bool:
        """True when its day is over and it is not done."""
        return self.done_at is None and self.due_on < clock.today()


def add_task(
    session: ScopedSession, claim_id: UUID, *, text: str, to: UUID, due_on: date | None, person: Person
) -> UUID:
    """Give somebody who works claims something to do; returns its id. InvalidInput names what is wrong."""
    claim_changes.require_claims_role(person)
    given: TaskInput = request.validate(TaskInput, {"task": text, "due_on": due_on})
    if to not in staff.list_active(session, *CLAIMS_ROLES):
        raise InvalidInput.for_field("task_for", "must be a claims officer or a supervisor")
    claim = claim_changes.get_for_update(session, claim_id)
    made = {"assigned_to": to, "made_by": person.id, "created_at": clock.now()}
    row = claim_changes.new_row(ClaimTask, claim, text=given.task, due_on=given.due_on, **made)
    session.insert(row)
    # The text may name people: it is kept out of the log, which cannot be erased.
    audit.note(session, "claim", claim.id, "claim task made", actor=person.actor, task_id=str(row.id))
    return row.id


def finish_task(session: ScopedSession, task_id: UUID, *, person: Person) -> None:
    """Mark a task as done; NotFound for another mode's, StateForbids for one that is done."""
    claim_changes.require_claims_role(person)
    query = sa.select(ClaimTask).where(col(ClaimTask.id) == task_id).with_for_update()
    row = session.find_scalar(query.execution_options(populate_existing=True), otherwise="Task not found")
    if row.done_at is not None:
        raise StateForbids("This task is done already")
    row.done_at, row.done_by = clock.now(), person.id
    session.flush()
    audit.note(session, "claim", row.claim_id, "claim task done", actor=person.actor, task_id=str(row.id))


def give_back_referral(
    session: ScopedSession, claim_id: UUID, *, question: str, person: Person, version: int
) -> ClaimChange:
    """Give a referral back with a question, a note of the desk and a task of today for who referred the claim.

    NotAllowed for an officer, StateForbids where no referral to a supervisor is open.
    """
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    person.require_role("supervisor", otherwise="A supervisor gives a referral back")
    referral = find_open_referral(session, claim.id)
    if referral is None or referral.is_for_finance:
        raise StateForbids("No decision is referred on this claim")
    inputs: TaskInput = request.validate(TaskInput, {"task": question, "due_on": clock.today()})
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    close_referral(session, claim, person=person, at=at)
    change = claim_changes.save_change(session, claim, before, person=person, action="claim referral given back")
    claim_questions.add_comment(session, claim.id, text=inputs.task, person=person)
    if referral.by_id in staff.list_active(session, *CLAIMS_ROLES):
        add_task(session, claim.id, text=inputs.task, to=referral.by_id, due_on=inputs.due_on, person=person)
    return change


def list_by_claim(session: ScopedSession, claim: Claim) -> list[Task]:
    """List the tasks of a claim: those that a rule asks for now, the open ones by day, then those that are done."""
    made = [_task(row) for row in session.execute(_build_query(col(ClaimTask.claim_id) == claim.id))]
    return [*_find_due(session, [claim]), *sorted(made, key=lambda task: task.done_at is not None)]


def list_mine(session: ScopedSession, person: Person) -> list[Task]:
    """List what a person has to do: their tasks, and what rules ask for on their claims, the most urgent first.

    A task of somebody who has left is that of whoever has the claim.
    """
    of, has_left = col(ClaimTask.assigned_to), claim_filter.build_left_condition(col(ClaimTask.assigned_to))
    is_mine = sa.or_(of == person.id, sa.and_(col(Claim.assigned_to) == person.id, has_left))
    mine = _build_query(is_mine, col(ClaimTask.done_at).is_(None), col(Claim.deleted_at).is_(None))
    claims = sa.select(Claim).where(
        col(Claim.assigned_to) == person.id, claim_filter.IS_OPEN, col(Claim.deleted_at).is_(None)
    )
    due = _find_due(session, session.execute(claims).scalars().all())
    found = [*(_task(row) for row in session.execute(mine)), *due]
    return sorted(found, key=lambda task: (task.due_on, task.reference, task.text))


def _build_query(*conditions: sa.ColumnElement[bool]) -> AnySelect:
    query = (
        sa.select(ClaimTask, Claim)
        .join(Claim, col(Claim.id) == col(ClaimTask.claim_id))
        .where(*conditions)
        .order_by(col(ClaimTask.due_on), col(ClaimTask.id))
    )
    return join_names(query, who=ClaimTask.assigned_to)


def _task(row: Any) -> Task:
    return build_row(Task, row.ClaimTask, who=row.who, **_describe(row.Claim))


def _describe(claim: Claim) -> dict[str, Any]:
    return {
        "claim_id": claim.id,
        "claimant": f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}",
        "claim_type": claim.claim_type,
        "amount_minor": claim.offer_amount_minor or claim.approved_amount_minor or claim.claim_amount_minor,
    }


def _find_due(session: ScopedSession, claims: Sequence[Claim]) -> list[Task]:
    """Find what the rules ask for today, two statements however many claims."""
    if not claims:
        return []
    claim_ids = [claim.id for claim in claims]
    latest = sa.select(col(ClaimEvent.claim_id), sa.func.max(col(ClaimEvent.created_at)).label("at"))
    latest = latest.where(col(ClaimEvent.claim_id).in_(claim_ids)).group_by(col(ClaimEvent.claim_id))
    since = {row.claim_id: row.at for row in session.execute(latest)}
    open_questions = sa.select(col(ClaimQuestion.claim_id), col(ClaimQuestion.asked_at)).where(
        col(ClaimQuestion.claim_id).in_(claim_ids),
        col(ClaimQuestion.answered_at).is_(None),
        col(ClaimQuestion.closed_at).is_(None),
    )
    open_since = {row.claim_id: row.asked_at for row in session.execute(open_questions)}
    today = clock.today()
    tasks = (
        Task(id=None, text=text, due_on=clock.to_lagos_day(at + timedelta(days=days)), who=None, **_describe(claim))
        for claim in claims
        for at, days, text in _list_rules(claim, since.get(claim.id, claim.created_at), open_since.get(claim.id))
    )
    return [task for task in tasks if task.due_on <= today]


def _list_rules(claim: Claim, since: datetime, asked_at: datetime | None) -> Iterator[tuple[datetime, int, str]]:
    """Yield for each rule that holds since when, after how many days it asks, and for what."""
    if asked_at is not None:
        yield asked_at, QUESTION_DAYS, "The question is not answered: remind the claimant"
    if claim.claim_status == ClaimStatus.OFFER_SENT:
        yield since, OFFER_DAYS, "The offer is not answered: call the claimant"
    if todo := _UNPAID.get(ClaimStatus(claim.claim_status)):
        yield since, UNPAID_DAYS, f"{claim.claim_status} and not paid: {todo}"
    if claim.claim_status in _BEFORE_APPROVAL and (papers := submitted.list_missing_documents(claim)):
        names = ", ".join(name.replace("_", " ") for name in papers)
        yield claim.created_at, PAPERS_DAYS, f"Papers are owed: {names}"


# The referral of a claim, to a supervisor or to finance.


class ReferralInput(Request):
    """The decision that is referred, its amount, if it has one, and why a supervisor should decide."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"referral_note"})

    referred_to: fields.Text
    referral_amount: fields.Naira | None = None
    referral_note: fields.LongText


@dataclass(frozen=True, kw_only=True, slots=True)
class Referral:
    """An open referral: whom it asks for which decision, the amount in kobo if it has one, and why."""

    asks_role: str
    to: str
    amount_minor: int | None
    note: str
    by: str
    by_id: UUID
    at: datetime

    @property
    def is_for_finance(self) -> bool:
        """True where a payment was handed to finance."""
        return self.asks_role == AskedRole.FINANCE


def find_open_referral(session: ScopedSession, claim_id: UUID) -> Referral | None:
    """Return the open referral of a claim, None when there is none."""
    query: AnySelect = (
        sa.select(
            *(col(ClaimReferral.asks_role), col(ClaimReferral.to_status).label("to"), col(ClaimReferral.amount_minor)),
            *(
                col(ClaimReferral.note),
                col(ClaimReferral.staff_id).label("by_id"),
                col(ClaimReferral.created_at).label("at"),
            ),
        )
        .where(col(ClaimReferral.claim_id) == claim_id, col(ClaimReferral.closed_at).is_(None))
        .order_by(col(ClaimReferral.created_at).desc())
        .limit(1)
    )
    row = session.execute(join_names(query, by=ClaimReferral.staff_id)).one_or_none()
    return None if row is None else Referral(**row._mapping)


def refer_claim(
    session: ScopedSession,
    claim_id: UUID,
    *,
    to: str,
    note: str,
    person: Person,
    version: int,
    amount: Decimal | str | None = None,
) -> ClaimChange:
    """Refer a decision with its amount in naira and a note to the supervisors, in place of an earlier referral.

    StateForbids for a transition that does not exist and for a supervisor, who decides; InvalidInput for an amount of
    a decision that has none, and for one above what is owed, insured or offered by the rule.
    """
    typed = {"referred_to": to, "referral_amount": amount, "referral_note": note}
    inputs: ReferralInput = request.validate(ReferralInput, typed)
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    transition = claim_transitions.require_transition(claim, ClaimStatus(to) if to in set(ClaimStatus) else to)
    if person.has_role("supervisor"):
        raise StateForbids("A supervisor decides: there is nobody to refer it to")
    if (standing := find_open_referral(session, claim.id)) and standing.is_for_finance:
        raise StateForbids("The payment is with finance: a supervisor can take it back first")
    given = inputs.referral_amount is not None
    refuse_unless([(not given or transition.column is not None, "referral_amount", f"is no part of the move to {to}")])
    amount_minor = None if inputs.referral_amount is None else money.to_minor(inputs.referral_amount)
    case = Case(transition, claim, person, claim_judgement.judge(session, claim))
    most = find_rule_exceeded(case, amount_minor or 0)
    refuse_unless([(most is None, "referral_amount", f"must not be above {most}: a supervisor may not either")])
    before = claim_changes.get_audited_facts(claim)
    at = claim_changes.next_instant(claim)
    open_referral(
        session, claim, to=transition.to, amount_minor=amount_minor, note=inputs.referral_note, person=person, at=at
    )
    facts: dict[str, Any] = {"referred_for": str(transition.to), "note": inputs.referral_note}
    if amount_minor is not None:
        facts["referred_amount"] = money.to_wire(amount_minor)
    return claim_changes.save_change(session, claim, before, person=person, action="claim referred", facts=facts)


def open_referral(
    session: ScopedSession,
    claim: Claim,
    *,
    to: str,
    amount_minor: int | None,
    note: str,
    person: Person,
    at: datetime,
    asks_role: AskedRole = AskedRole.SUPERVISOR,
) -> None:
    """Write a referral in place of the one that is open."""
    close_referral(session, claim, person=person, at=at)
    referral = {"asks_role": asks_role, "to_status": to, "amount_minor": amount_minor, "note": note}
    session.insert(claim_changes.new_row(ClaimReferral, claim, **referral, staff_id=person.id, created_at=at))


def close_referral(
    session: ScopedSession, claim: Claim, *, person: Person, at: datetime, begun: ClaimTransition | None = None
) -> None:
    """Close the open referral of a claim, if there is one.

    A transition by which it was only `begun` closes none but its own: the decision that is referred still waits.
    """
    is_open = [col(ClaimReferral.claim_id) == claim.id, col(ClaimReferral.closed_at).is_(None)]
    if begun:
        is_open.append(col(ClaimReferral.to_status) == begun.to)
    session.change(ClaimReferral, *is_open, closed_at=at, closed_by=person.id)
