"""Timeline of a claim: statuses, messages and audit events (contract C6)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.audit import log as audit
from core.services.views.sale import Event
from core.store.access.scope import ScopedSession
from core.store.schema.tables import AuditEntry, ClaimComment, ClaimEvent, ClaimQuestion, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusStep:
    """A status, when it was reached, by whom, and the note; `by` is None for the lodging."""

    status: str
    at: datetime
    by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A comment, or a question that the claimant has to answer."""

    id: UUID
    at: datetime
    by: str | None
    text: str
    for_claimant: bool
    asked: bool = False
    answered_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """True while the claimant's answer is outstanding and the clock therefore stopped."""
        return self.asked and self.answered_at is None


def steps(session: ScopedSession, claim_id: UUID) -> list[StatusStep]:
    """List every status of a claim, oldest first."""
    query = _signed(ClaimEvent, claim_id).order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))
    return [
        StatusStep(status=row.ClaimEvent.status, at=row.ClaimEvent.created_at, by=row.by, note=row.ClaimEvent.note)
        for row in session.execute(query)
    ]


def talk(session: ScopedSession, claim_id: UUID) -> list[Said]:
    """List the comments and questions of a claim, newest first; a question replaces the comment that carried it."""
    asked = [_question(row.ClaimQuestion, row.by) for row in session.execute(_signed(ClaimQuestion, claim_id))]
    questions = {question.id for question in asked}
    notes = (_comment(row.ClaimComment, row.by) for row in session.execute(_signed(ClaimComment, claim_id)))
    return sorted([*asked, *(note for note in notes if note.id not in questions)], key=_newest, reverse=True)


def history(session: ScopedSession, claim_id: UUID) -> list[Event]:
    """List the audit events of a claim, oldest first."""
    return [_event(entry) for entry in audit.history(session, audit.subject_of("claim", claim_id))]


def _signed(table: Any, claim_id: UUID) -> sa.Select[Any]:
    """Build the query of a claim's rows with the name of their author."""
    query = sa.select(table, col(Staff.name).label("by")).outerjoin(Staff, col(Staff.id) == col(table.staff_id))
    return query.where(col(table.claim_id) == claim_id)


def _question(row: ClaimQuestion, by: str | None) -> Said:
    return Said(
        id=row.id, at=row.asked_at, by=by, text=row.text, for_claimant=True, asked=True, answered_at=row.answered_at
    )


def _comment(row: ClaimComment, by: str | None) -> Said:
    return Said(id=row.id, at=row.created_at, by=by, text=row.text, for_claimant=row.for_claimant)


def _newest(said: Said) -> Any:
    return said.at, said.id


def _event(entry: AuditEntry) -> Event:
    after: Mapping[str, Any] = entry.after or {}
    return Event(at=entry.created_at, actor=entry.actor, action=entry.action, facts=after)
