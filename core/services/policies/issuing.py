"""Issuing a policy: the certificate of a term, and its submission to the insurer."""

from datetime import datetime
from uuid import UUID

from sqlmodel import col

from core import clock, ids, telemetry
from core.settings import settings
from core.states.policies import OPEN, SubmissionState
from core.store.access import ScopedSession
from core.store.schema.tables import Certificate, Policy, Submission


def build_certificate(policy: Policy, *, start_at: datetime, expiration_at: datetime, at: datetime) -> Certificate:
    """Build the certificate of one term, to be inserted by the caller; sets the policy's certificate code."""
    policy.certificate_code = ids.new_code()
    return Certificate.to_insert(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        code=policy.certificate_code,
        policy_id=policy.id,
        start_at=start_at,
        expiration_at=expiration_at,
        created_at=at,
    )


def build_submission(policy: Policy, segment: str) -> Submission:
    """Build what queues a policy for its insurer; one without a connection is issued here and told by bordereau."""
    address = settings().insurer_url(segment, is_live=policy.is_live)
    is_delegated, now = policy.submitted_to_provider and address is None, clock.now()
    return Submission.to_insert(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        provider_id=policy.provider_id,
        state=SubmissionState.DELEGATED if is_delegated else SubmissionState.QUEUED,
        next_try_at=None if is_delegated else now,
        trace_id=telemetry.current_trace(),
        created_at=now,
        updated_at=now,
    )


def settle_submission(
    session: ScopedSession, policy_id: UUID, state: SubmissionState, *, note: str | None = None
) -> None:
    """Close the open submission of a policy: the insurer's answer is known, or no longer needed."""
    which = (col(Submission.policy_id) == policy_id, col(Submission.state).in_(OPEN))
    settled = {"state": state, "last_error": note, "next_try_at": None, "leased_until": None}
    session.change(Submission, *which, **settled, updated_at=clock.now())
