"""One policy's submission to its insurer: state, answer, and the actions the desk may take."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.insurers import awaiting
from core.settings import settings
from core.states.policies import OPEN
from core.store.access import ScopedSession
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


def get_submission(session: ScopedSession, policy_id: UUID, *, activated: bool) -> SubmissionDetail | None:
    """Return the submission of a policy; None if it has none."""
    query = (
        sa.select(Submission, col(Provider.segment))
        .join(Provider, col(Provider.id) == col(Submission.provider_id))
        .where(col(Submission.policy_id) == policy_id)
    )
    row = session.execute(query).one_or_none()
    if row is None:
        return None
    submission: Submission = row.Submission
    connected = settings().insurer_url(row.segment, is_live=submission.is_live) is not None
    is_open = submission.state in OPEN
    situation = awaiting.get_situation(submission, connected=connected) if is_open else submission.state.capitalize()
    return SubmissionDetail(
        state=submission.state,
        situation=situation,
        attempts=submission.attempts,
        last_error=submission.last_error,
        answer=submission.answer,
        answered_at=submission.answered_at,
        insurer_number=submission.insurer_number,
        insurer_certificate_url=submission.insurer_certificate_url,
        next_try_at=submission.next_try_at if connected and situation != "Being sent" else None,
        created_at=submission.created_at,
        updated_at=submission.updated_at,
        waits=is_open,
        resendable=is_open and connected and situation != "Being sent",
        reportable=is_open and activated and situation != "Being sent",
    )
