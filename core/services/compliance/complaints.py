"""Complaints, counted for each insurer, with their letters, and the clocks of premiums (contract D5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.compliance import figures
from core.services.files import printing
from core.services.mail import mail
from core.services.people.staff import Person
from core.states.policies import OPEN
from core.store.access import ScopedSession
from core.store.expressions import sum_of
from core.store.rows import build_row
from core.store.schema.claims import LETTER_WAYS
from core.store.schema.compliance import COMPLAINT_CATEGORIES
from core.store.schema.tables import Complaint, Policy, Provider, Submission

CATEGORIES: Final[Mapping[str, str]] = {
    "delay": "Delay",
    "amount": "Amount",
    "refusal": "Refusal",
    "service": "Service",
    "privacy": "Privacy",
    "other": "Other",
}
_MONTHS: Final = 12


class ComplaintInput(Request):
    """Input: who complains about what; the policy names the insurer and the customer."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"text"})

    category: Annotated[str, fields.one_of(*COMPLAINT_CATEGORIES)]
    name: Annotated[str, Field(min_length=2, max_length=200)]
    contact: Annotated[str, Field(max_length=254)] | None = None
    policy_number: Annotated[str, Field(max_length=60)] | None = None
    text: Annotated[str, Field(min_length=10, max_length=4_000)]
    received_on: fields.Day | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ComplaintRow:
    """One complaint with the insurer and the policy that it is about."""

    id: UUID
    number: str
    category: str
    insurer: str | None
    policy_id: UUID | None
    policy_number: str | None
    name: str
    contact: str | None
    text: str
    received_at: datetime
    due_on: date
    outcome: str | None
    answered_at: datetime | None

    @property
    def days_left(self) -> int | None:
        """Days until it has to be answered, below zero when it is late; None once it was."""
        return None if self.answered_at else (self.due_on - clock.today()).days


@dataclass(frozen=True, kw_only=True, slots=True)
class InsurerLine:
    """An insurer: complaints of twelve months, those about delay, and premiums whose clock has run out.

    Complaints that name no policy have a line without an id.
    """

    id: UUID | None
    insurer: str
    complaints: int
    delays: int
    open: int
    notice_late: int
    placing_late: int


def register(session: ScopedSession, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Register a complaint; InvalidInput names a policy number that no live policy has."""
    figures.require_role(by)
    given: ComplaintInput = request.validate(ComplaintInput, {key: value for key, value in typed.items() if value})
    policy = _find_policy(session, given.policy_number)
    received, received_at = figures.check_receipt(given.received_on)
    row = Complaint(
        id=ids.new(),
        number=figures.new_number(session, "CO"),
        **given.model_dump(exclude={"policy_number", "received_on"}),
        provider_id=policy.provider_id if policy else None,
        policy_id=policy.id if policy else None,
        customer_id=policy.customer_id if policy else None,
        received_at=received_at,
        due_on=received + timedelta(days=figures.get_figure(session, "complaint_days")),
        created_by=by.id,
    )
    session.insert(row)
    facts = {"number": row.number, "category": row.category}
    audit.note(session, "complaint", row.id, "complaint registered", actor=by.actor, **facts)
    return row.id


def _find_policy(session: ScopedSession, number: str | None) -> Policy | None:
    if number is None:
        return None
    query = sa.select(Policy).where(col(Policy.policy_number) == number.strip(), col(Policy.is_live))
    found: Policy | None = session.execute(query.limit(1)).scalar_one_or_none()
    if found is None:
        raise InvalidInput.for_field("policy_number", "must be the number of a live policy, or left out")
    return found


def answer(session: ScopedSession, complaint_id: UUID, *, outcome: str, by: Person) -> None:
    """Close a complaint with what was answered."""
    row = figures.get_for_update(session, Complaint, complaint_id, noun="complaint", by=by)
    if row.answered_at is not None:
        raise StateForbids("This complaint was answered already")
    outcome = request.validate_text("outcome", outcome, least=10, most=4_000, is_multiline=True)
    row.outcome, row.answered_by, row.answered_at = outcome, by.id, clock.now()
    session.flush()
    audit.note(session, "complaint", row.id, "complaint answered", actor=by.actor, number=row.number)


def list_complaints(session: ScopedSession) -> Sequence[ComplaintRow]:
    """List every complaint: the open ones by the day they are due, then the answered ones, newest first."""
    query = (
        sa.select(Complaint, col(Provider.company_name), col(Policy.policy_number))
        .outerjoin(Provider, col(Provider.id) == col(Complaint.provider_id))
        .outerjoin(Policy, col(Policy.id) == col(Complaint.policy_id))
        .order_by(col(Complaint.received_at).desc())
    )
    found = session.execute(query)
    rows = [build_row(ComplaintRow, row, insurer=insurer, policy_number=number) for row, insurer, number in found]
    open_ = sorted((row for row in rows if row.answered_at is None), key=lambda row: row.due_on)
    return [*open_, *(row for row in rows if row.answered_at is not None)]


def count_by_insurer(session: ScopedSession) -> list[InsurerLine]:
    """Count complaints of the last twelve months and late premiums of each insurer, live ones only.

    Complaints that name no policy are counted last, where there are any.
    """
    since = clock.lagos_midnight(clock.add_months(clock.today(), -_MONTHS))
    complaint = col(Complaint.provider_id)
    kinds = (sa.true(), col(Complaint.category) == "delay", col(Complaint.answered_at).is_(None))
    counted = sa.select(complaint, *(_count(kind) for kind in kinds)).where(col(Complaint.received_at) >= since)
    found = {row[0]: tuple(row[1:]) for row in session.execute(counted.group_by(complaint))}
    late = _count_late(session)
    query = sa.select(col(Provider.id), col(Provider.company_name)).order_by(col(Provider.company_name))
    insurers: list[tuple[UUID | None, str]] = [(row.id, row.company_name) for row in session.execute(query)]
    if None in found:
        insurers.append((None, "No policy named"))
    return [
        InsurerLine(
            id=key,
            insurer=name,
            **dict(zip(("complaints", "delays", "open"), found.get(key, (0, 0, 0)), strict=True)),
            **dict(zip(("notice_late", "placing_late"), late.get(key, (0, 0)), strict=True)),
        )
        for key, name in insurers
    ]


def _count_late(session: ScopedSession) -> dict[UUID | None, tuple[int, int]]:
    """Policies that are paid, of which a connected insurer has no notice, or which are not placed, for too long.

    Under delegated authority the sale itself places the cover, and the bordereau is the notice.
    """
    notice = clock.now() - timedelta(hours=figures.get_figure(session, "premium_notice_hours"))
    placed = clock.now() - timedelta(days=figures.get_figure(session, "premium_placed_days"))
    ends = (Policy.deleted_at, Policy.cancelled_at, Policy.declined_at)
    is_waiting = (col(Policy.is_live), *(col(at).is_(None) for at in ends), col(Policy.created_at) < notice)
    unnotified = sa.and_(sa.not_(col(Policy.submitted_to_provider)), col(Submission.state).in_(OPEN))
    unplaced = sa.and_(sa.not_(col(Policy.activated)), col(Policy.created_at) < placed)
    query = (
        sa.select(col(Policy.provider_id), _count(unnotified), _count(unplaced))
        .join(Submission, col(Submission.policy_id) == col(Policy.id))
        .where(*is_waiting, sa.or_(unnotified, unplaced))
        .group_by(col(Policy.provider_id))
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(query)}


def _count(condition: Any) -> Any:
    return sum_of(sa.case((condition, 1), else_=0))


WAYS: Final = LETTER_WAYS
ACKNOWLEDGEMENT, ANSWER = "acknowledgement", "answer"
KINDS: Final[Mapping[str, str]] = {ACKNOWLEDGEMENT: "Acknowledgement", ANSWER: "Answer"}
_SENT: Final = "complaint letter sent"


@dataclass(frozen=True, kw_only=True, slots=True)
class ComplaintLetter:
    """A letter as it reads now, of the day on which it was sent, or of this moment; `email` is where it can go."""

    kind: str
    number: str
    name: str
    subject: str
    body: str
    at: datetime
    email: str | None
    way: str | None

    @property
    def title(self) -> str:
        """The title of its kind."""
        return KINDS[self.kind]

    @property
    def file_name(self) -> str:
        """The name under which it is saved."""
        return f"{self.number}-{self.kind}.pdf"


def list_letters(session: ScopedSession, complaint_id: UUID, *, by: Person) -> list[ComplaintLetter]:
    """Return the letters that a complaint can have by now: its answer once there is one."""
    figures.require_role(by)
    row = session.get_one(Complaint, complaint_id)
    kinds = [kind for kind in KINDS if kind != ANSWER or row.outcome is not None]
    return [_build_letter(session, row, kind) for kind in kinds]


def render(letter: ComplaintLetter) -> bytes:
    """Return a letter as PDF."""
    return printing.render_letter(
        subject=letter.subject, body=letter.body, addressee=letter.name, at=letter.at, is_live=True
    )


def send_by_mail(session: ScopedSession, complaint_id: UUID, kind: str, *, by: Person) -> None:
    """Queue the text of a letter as an e-mail, once; StateForbids where the person gave no e-mail."""
    row, letter = _get_unsent(session, complaint_id, kind, by)
    if letter.email is None:
        raise StateForbids("The person gave no e-mail: print the letter, and mark how it was sent")
    about = audit.subject_of("complaint", complaint_id)
    mail.send(session, letter.email, f"complaint {kind}", _build_values(session, row), about=about, by=by.actor)
    _note_sent(session, row, letter, way=WAYS[0], by=by)


def mark_sent(session: ScopedSession, complaint_id: UUID, kind: str, *, way: str, by: Person) -> None:
    """Note that a letter was sent, and how."""
    row, letter = _get_unsent(session, complaint_id, kind, by)
    if way not in WAYS:
        raise InvalidInput.for_field("way", f"must be one of {', '.join(WAYS)}")
    _note_sent(session, row, letter, way=way, by=by)


def _get_unsent(session: ScopedSession, complaint_id: UUID, kind: str, by: Person) -> tuple[Complaint, ComplaintLetter]:
    row = figures.get_for_update(session, Complaint, complaint_id, noun="complaint", by=by)
    letter = next((each for each in list_letters(session, complaint_id, by=by) if each.kind == kind), None)
    if letter is None:
        raise StateForbids("This complaint has no such letter yet")
    if letter.way is not None:
        raise StateForbids("This letter was sent already")
    return row, letter


def _note_sent(session: ScopedSession, row: Complaint, letter: ComplaintLetter, *, way: str, by: Person) -> None:
    setattr(row, f"sent_{letter.kind}", f"{letter.subject}\n\n{letter.body}")
    session.flush()
    audit.note(session, "complaint", row.id, _SENT, actor=by.actor, letter=letter.title, way=way)


def _build_letter(session: ScopedSession, row: Complaint, kind: str) -> ComplaintLetter:
    if text := getattr(row, f"sent_{kind}"):
        subject, _, body = text.partition("\n\n")
    else:
        subject, body = mail.get_template(session, f"complaint {kind}").render(_build_values(session, row))
    history = audit.list_history(session, audit.subject_of("complaint", row.id))
    sent = next(
        (each for each in history if each.action == _SENT and (each.after or {})["letter"] == KINDS[kind]), None
    )
    return ComplaintLetter(
        kind=kind,
        number=row.number,
        name=row.name,
        subject=subject,
        body=body,
        at=sent.created_at if sent else clock.now(),
        email=row.contact if row.contact and "@" in row.contact else None,
        way=(sent.after or {})["way"] if sent else None,
    )


def _build_values(session: ScopedSession, row: Complaint) -> dict[str, str]:
    """Return every value that a letter may use, in words."""
    query = (
        sa.select(col(Policy.policy_number), col(Provider.company_name))
        .join(Provider, col(Provider.id) == col(Policy.provider_id))
        .where(col(Policy.id) == row.policy_id)
    )
    policy = session.execute(query).one_or_none()
    return {
        "name": row.name,
        "number": row.number,
        "about": CATEGORIES[row.category].lower(),
        "received": clock.format_day(clock.to_lagos_day(row.received_at)),
        "due": clock.format_day(row.due_on),
        "policy_number": (policy and policy.policy_number) or "none named",
        "insurer": policy.company_name if policy else "none named",
        "answer": row.outcome or "",
    }
