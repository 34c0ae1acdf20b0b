"""Actions of the desk on submissions: resend one now, or all that were set aside for one insurer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.insurers import awaiting, sending
from core.services.lists.records import format_mode
from core.services.people.staff import Person
from core.services.policies import issuing, policies
from core.services.policies.policies import BulkResult
from core.settings import settings
from core.states.policies import OPEN, SubmissionState
from core.store import outbox
from core.store.access import ScopedSession
from core.store.rows import build_row
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
    return build_row(
        SubmissionDetail,
        submission,
        situation=situation,
        next_try_at=submission.next_try_at if connected and situation != "Being sent" else None,
        waits=is_open,
        resendable=is_open and connected and situation != "Being sent",
        reportable=is_open and activated and situation != "Being sent",
    )


SENDING_ROLES = ("operations",)


def resend(session: ScopedSession, policy_id: UUID, *, person: Person) -> None:
    """Put one policy first in the queue and reset its failures; repeating has no further effect.

    NotFound if the policy has no submission; StateForbids if it is settled, is being sent right now, or if the insurer
    has no connection in its mode.
    """
    _require_sender(person)
    submission = _get_open(session, policy_id)
    _require_connection(session, submission.provider_id, is_live=submission.is_live)
    before = {"state": submission.state, "attempts": submission.attempts, "last_error": submission.last_error}
    outbox.requeue(submission)
    subject = audit.subject_of("policy", policy_id)
    audit.write(session, actor=person.actor, action="resent to the insurer", subject=subject, before=before, after={})
    session.flush()
    sending.end_rest(session, submission.provider_id)


def record_reported(session: ScopedSession, policy_id: UUID, *, person: Person) -> None:
    """Record that the insurer was informed of an active policy another way, such as by bordereau.

    StateForbids if the policy is pending (the insurer's own answer is needed), settled, or being sent.
    """
    _require_sender(person)
    policy = policies.get_for_update(session, policy_id)
    submission = _get_open(session, policy_id)
    if not policy.activated:
        raise StateForbids("This policy is pending: activate it with the insurer's number, or decline it")
    before = {
        "state": submission.state,
        "submitted_to_provider": policy.submitted_to_provider,
        "version": policy.version,
    }
    policy.submitted_to_provider = True
    policy.version += 1
    policy.updated_at = clock.now()
    issuing.settle_submission(session, policy_id, SubmissionState.ACCEPTED, note="Reported by the desk")
    after = {"state": SubmissionState.ACCEPTED, "submitted_to_provider": True}
    subject = audit.subject_of("policy", policy_id)
    audit.write(session, actor=person.actor, action="noted as reported", subject=subject, before=before, after=after)
    session.flush()


def act_on_each(
    session: ScopedSession, policy_ids: Sequence[UUID], act: Callable[..., None], *, person: Person
) -> BulkResult:
    """Do the same to each of these policies, `resend` or `record_reported`; those that refuse are left out, with why.

    InvalidInput for none or too many.
    """
    _require_sender(person)
    return policies.act_on_each(policies.choose_several(policy_ids), partial(_find_refusal, session, act, person))


def _find_refusal(session: ScopedSession, act: Callable[..., None], person: Person, policy_id: UUID) -> str | None:
    # Both actions check everything before they change anything: a refused one leaves no trace in the transaction.
    try:
        act(session, policy_id, person=person)
    except (StateForbids, NotFound) as error:
        return str(error)
    return None


def resend_all(session: ScopedSession, provider_id: UUID, *, person: Person) -> int:
    """Queue again all submissions that were set aside for one insurer in this mode; returns their number."""
    _require_sender(person)
    is_live = bool(session.scope.is_live)
    segment = _require_connection(session, provider_id, is_live=is_live)
    query = sa.update(Submission).where(
        col(Submission.provider_id) == provider_id, col(Submission.state) == SubmissionState.DEAD
    )
    now = clock.now()
    result = session.execute(
        query.values(state=SubmissionState.QUEUED, failures=0, next_try_at=now, leased_until=None, updated_at=now)
        .returning(col(Submission.policy_id))
        .execution_options(synchronize_session=False)
    )
    count = len(result.all())
    if count:
        after = {"policies": count, "mode": format_mode(is_live)}
        audit.write(
            session, actor=person.actor, action="all set aside resent", subject=f"insurer {segment}", after=after
        )
        sending.end_rest(session, provider_id)
    return count


def _get_open(session: ScopedSession, policy_id: UUID) -> Submission:
    """Return the submission locked for update; StateForbids unless it is open and not being sent."""
    submission = sending.find_for_update(session, policy_id)
    if submission is None:
        raise NotFound("Nothing was noted for the insurer of this policy")
    if submission.state not in OPEN:
        raise StateForbids(f"This policy is not waiting for its insurer: it is {submission.state}")
    if submission.leased_until is not None and submission.leased_until > clock.now():
        raise StateForbids("This policy is being sent to the insurer right now")
    return submission


def _require_sender(person: Person) -> None:
    person.require_role(*SENDING_ROLES, otherwise="Policies are sent to insurers by operations")


def _require_connection(session: ScopedSession, provider_id: UUID, *, is_live: bool) -> str:
    segment = session.execute(sa.select(col(Provider.segment)).where(col(Provider.id) == provider_id)).scalar_one()
    if settings().insurer_url(segment, is_live=is_live) is None:
        raise StateForbids("This insurer has no connection: approve or decline the policy by hand")
    return str(segment)
