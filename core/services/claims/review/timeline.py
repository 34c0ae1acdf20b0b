"""Timeline of a claim: statuses, messages and audit events (contract C6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.store.access import ScopedSession
from core.store.schema.tables import AuditEntry, ClaimComment, ClaimEvent, ClaimQuestion, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusStep:
    """A status, when it was reached, by whom, and the note; `by` is None for the lodging."""

    status: str
    at: datetime
    by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A comment, or a question that the claimant has to answer."""

    id: UUID
    at: datetime
    by: str | None
    text: str
    for_claimant: bool
    is_question: bool = False
    answered_at: datetime | None = None
    closed_at: datetime | None = None
    due_on: date | None = None
    answer: str | None = None

    @property
    def is_open(self) -> bool:
        """True while the claimant's answer is outstanding and the clock therefore stopped."""
        return self.is_question and self.answered_at is None and self.closed_at is None


def list_status_steps(session: ScopedSession, claim_id: UUID) -> list[StatusStep]:
    """List every status of a claim, oldest first."""
    query = _build_query(ClaimEvent, claim_id).order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))
    return [
        StatusStep(status=row.ClaimEvent.status, at=row.ClaimEvent.created_at, by=row.by, note=row.ClaimEvent.note)
        for row in session.execute(query)
    ]


def list_messages(session: ScopedSession, claim_id: UUID) -> list[Message]:
    """List the comments and questions of a claim, newest first; a question replaces the comment that carried it."""
    question_messages = [
        _question(row.ClaimQuestion, row.by) for row in session.execute(_build_query(ClaimQuestion, claim_id))
    ]
    question_ids = {question.id for question in question_messages}
    notes = (_comment(row.ClaimComment, row.by) for row in session.execute(_build_query(ClaimComment, claim_id)))
    return sorted(
        [*question_messages, *(note for note in notes if note.id not in question_ids)], key=_get_sort_key, reverse=True
    )


def list_events(session: ScopedSession, claim_id: UUID) -> list[AuditEvent]:
    """List the audit events of a claim, oldest first."""
    return [_event(entry) for entry in audit.list_history(session, audit.subject_of("claim", claim_id))]


def _build_query(table: Any, claim_id: UUID) -> sa.Select[Any]:
    """Build the query of a claim's rows with the name of their author."""
    query = sa.select(table, col(Staff.name).label("by")).outerjoin(Staff, col(Staff.id) == col(table.staff_id))
    return query.where(col(table.claim_id) == claim_id)


def _question(row: ClaimQuestion, by: str | None) -> Message:
    return Message(
        id=row.id,
        at=row.asked_at,
        by=by,
        text=row.text,
        for_claimant=True,
        is_question=True,
        answered_at=row.answered_at,
        closed_at=row.closed_at,
        due_on=row.due_on,
        answer=row.answer,
    )


def _comment(row: ClaimComment, by: str | None) -> Message:
    return Message(id=row.id, at=row.created_at, by=by, text=row.text, for_claimant=row.for_claimant)


def _get_sort_key(message: Message) -> Any:
    return message.at, message.id


def _event(entry: AuditEntry) -> AuditEvent:
    after: Mapping[str, Any] = entry.after or {}
    return AuditEvent(at=entry.created_at, actor=entry.actor, action=entry.action, facts=after)
