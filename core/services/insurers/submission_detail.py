"""One policy's submission to its insurer: state, answer, and the actions the desk may take."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.insurers import awaiting
from core.settings import settings
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Provider, Submission


@dataclass(frozen=True, kw_only=True, slots=True)
class SubmissionDetail:
    """One submission; `situation` is its state as the desk names it."""

    state: str
    situation: str
    attempts: int
    last_error: str | None
    answer: str | None
    answered_at: datetime | None
    insurer_number: str | None
    insurer_certificate_url: str | None
    next_try_at: datetime | None
    created_at: datetime
    updated_at: datetime
    waits: bool
    resendable: bool
    reportable: bool


def one(session: ScopedSession, policy_id: UUID, *, activated: bool) -> SubmissionDetail | None:
    """Return the submission of a policy; None if it has none."""
    query = (
        sa.select(Submission, col(Provider.segment))
        .join(Provider, col(Provider.id) == col(Submission.provider_id))
        .where(col(Submission.policy_id) == policy_id)
    )
    row = session.execute(query).one_or_none()
    if row is None:
        return None
    told: Submission = row.Submission
    connected = settings().insurer_url(row.segment, is_live=told.is_live) is not None
    waits = told.state in awaiting.OPEN
    situation = awaiting.situation_of(told, connected=connected) if waits else told.state.capitalize()
    return SubmissionDetail(
        state=told.state,
        situation=situation,
        attempts=told.attempts,
        last_error=told.last_error,
        answer=told.answer,
        answered_at=told.answered_at,
        insurer_number=told.insurer_number,
        insurer_certificate_url=told.insurer_certificate_url,
        next_try_at=told.next_try_at if connected and situation != "Being sent" else None,
        created_at=told.created_at,
        updated_at=told.updated_at,
        waits=waits,
        resendable=waits and connected and situation != "Being sent",
        reportable=waits and activated and situation != "Being sent",
    )
