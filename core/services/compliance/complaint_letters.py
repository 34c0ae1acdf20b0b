"""Letters on a complaint: its acknowledgement and its answer, made of texts that an admin edits (contract D5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.compliance import figures
from core.services.compliance.complaints import CATEGORIES
from core.services.files import printing
from core.services.mail import mail
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.claims import LETTER_WAYS
from core.store.schema.tables import Complaint, Policy, Provider

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
    return [_build(session, row, kind) for kind in kinds]


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


def _build(session: ScopedSession, row: Complaint, kind: str) -> ComplaintLetter:
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
