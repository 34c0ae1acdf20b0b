"""Submissions to insurers, created in the sale's own transaction."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, telemetry
from core.settings import settings
from core.states.submissions import OPEN, SubmissionState
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, Submission


def queue_policy(session: ScopedSession, policy: Policy, segment: str) -> None:
    """Queue a policy for its insurer; without a connection it is issued here, to be reported by bordereau."""
    address = settings().insurer_url(segment, is_live=policy.is_live)
    is_delegated = policy.submitted_to_provider and address is None
    session.insert(
        Submission(
            distributor_id=policy.distributor_id,
            is_live=policy.is_live,
            policy_id=policy.id,
            provider_id=policy.provider_id,
            state=SubmissionState.DELEGATED if is_delegated else SubmissionState.QUEUED,
            next_try_at=None if is_delegated else clock.now(),
            trace_id=telemetry.current_trace(),
            created_at=clock.now(),
            updated_at=clock.now(),
        )
    )


def settle(session: ScopedSession, policy_id: UUID, state: SubmissionState, *, note: str | None = None) -> None:
    """Close the open submission of a policy: the insurer's answer is known, or no longer needed."""
    session.execute(
        sa.update(Submission)
        .where(col(Submission.policy_id) == policy_id, col(Submission.state).in_(OPEN))
        .values(state=state, last_error=note, next_try_at=None, leased_until=None, updated_at=clock.now())
        .execution_options(synchronize_session=False)
    )
