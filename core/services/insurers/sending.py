"""The submission queue: workers lease due policies for a limited time, and apply an insurer's answer once (N3, N5).

By an answer a policy is activated, waits, ends, or is set aside. Rows are always locked in this order, to avoid
deadlocks: policy, submission, connection. Each insurer's connection has a circuit breaker, which pauses after failures
and limits concurrency (N4); its state is in the database, so that every worker and every screen see the same one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.insurers.answers import InsurerAnswer, InsurerFault
from core.services.audit import log as audit
from core.services.insurers import connections
from core.services.people import personal
from core.services.policies import changes, issuing, policies
from core.settings import settings
from core.states.policies import OPEN, STAGES, AnswerStatus, PolicyStage, SubmissionState
from core.store import outbox
from core.store.access import AnySelect, ScopedSession
from core.store.outbox import Backoff
from core.store.schema.tables import InsurerConnection, Policy, Provider, Submission

# Consecutive failures after which the connection pauses; then a single policy tries it again.
FAILURES_TO_TRIP = 5
REST_PERIODS = tuple(timedelta(seconds=seconds) for seconds in (5, 10, 15))


@dataclass(frozen=True, kw_only=True, slots=True)
class Insurer:
    """An insurer that accepts policies over the network, and in which modes."""

    id: UUID
    segment: str
    modes: tuple[bool, ...]


def list_connected(session: ScopedSession) -> Sequence[Insurer]:
    """Return every insurer that has a URL, by segment."""
    query = sa.select(col(Provider.id), col(Provider.segment)).order_by(col(Provider.segment))
    found = (Insurer(id=row.id, segment=row.segment, modes=get_modes(row.segment)) for row in session.execute(query))
    return [insurer for insurer in found if insurer.modes]


def get_modes(segment: str) -> tuple[bool, ...]:
    """Return the modes (is_live) in which an insurer has a URL."""
    return tuple(live for live in (True, False) if settings().insurer_url(segment, is_live=live))


def get_connection_for_update(session: ScopedSession, provider_id: UUID) -> InsurerConnection:
    """Return the row of one connection locked for update; created if there is none yet."""
    query = sa.select(InsurerConnection).where(col(InsurerConnection.provider_id) == provider_id).with_for_update()
    query = query.execution_options(populate_existing=True)
    found: InsurerConnection | None = session.execute(query).scalar_one_or_none()
    if found is None:
        session.insert_if_absent(InsurerConnection(provider_id=provider_id))
        found = session.execute(query).scalar_one()
    return found


def is_resting(connection: InsurerConnection | None) -> bool:
    """Return True while sending is paused because of consecutive failures."""
    return connection is not None and is_paused(connection.rests_until)


def is_paused(rests_until: datetime | None) -> bool:
    """Return True while nothing is sent over a connection that rests until this instant, if it rests at all."""
    return rests_until is not None and rests_until > clock.now()


def get_capacity(connection: InsurerConnection, *, in_flight: int, concurrency: int) -> int:
    """Return how many more policies may be sent now; only one while the connection is on trial."""
    if is_resting(connection):
        return 0
    return max(0, (1 if connection.failures >= FAILURES_TO_TRIP else concurrency) - in_flight)


def record_connection_success(session: ScopedSession, provider_id: UUID) -> None:
    """Record a usable answer; after a recovery, submissions that failed before become due."""
    connection = get_connection_for_update(session, provider_id)
    recovered = connection.failures >= FAILURES_TO_TRIP
    connection.failures, connection.rests_until = 0, None
    connection.last_success_at = clock.now()
    session.flush()
    if recovered:
        _make_due(session, provider_id)


def record_connection_failure(session: ScopedSession, provider_id: UUID, fault: InsurerFault) -> None:
    """Record one more consecutive failure; a configuration fault pauses the connection at once."""
    connection = get_connection_for_update(session, provider_id)
    connection.last_failure_at, connection.last_error = clock.now(), str(fault)
    # Calls that were in progress when it tripped do not count.
    if not is_resting(connection):
        connection.failures = max(connection.failures + 1, FAILURES_TO_TRIP if fault.is_setup_fault else 0)
        if connection.failures >= FAILURES_TO_TRIP:
            connection.rests_until = (
                clock.now() + REST_PERIODS[min(connection.failures - FAILURES_TO_TRIP, len(REST_PERIODS) - 1)]
            )
    session.flush()


def end_rest(session: ScopedSession, provider_id: UUID) -> None:
    """End the pause of a connection: somebody reports that it works again."""
    connection = get_connection_for_update(session, provider_id)
    if connection.rests_until is not None:
        connection.rests_until = clock.now()
    session.flush()


def _make_due(session: ScopedSession, provider_id: UUID) -> None:
    """Make failed submissions due now; rows locked by another worker are skipped."""
    now = clock.now()
    waiting = (
        sa.select(col(Submission.policy_id))
        .where(
            col(Submission.state) == SubmissionState.QUEUED,
            col(Submission.provider_id) == provider_id,
            col(Submission.next_try_at) > now,
            col(Submission.failures) > 0,
            col(Submission.leased_until).is_(None),
        )
        .with_for_update(skip_locked=True)
    )
    session.change(Submission, col(Submission.policy_id).in_(waiting), next_try_at=now)


LEASE = outbox.LEASE
DEFAULT_CONCURRENCY = 8
MAX_FAILURES = 12
_FAILURES = Backoff(seconds=outbox.doubling(30, 3_600), spread=0.25, most=MAX_FAILURES)
_DECISIONS = Backoff(seconds=outbox.doubling(60, 3_600), spread=0.25, most=MAX_FAILURES)
WITHDRAWN = "The policy ended before the insurer took it"


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One policy to send: the insurer's payload with `personal` numbers in clear.

    `attempt` distinguishes this lease from a later one of the same policy.
    """

    policy_id: UUID
    provider_id: UUID
    segment: str
    is_live: bool
    attempt: int
    payload: Mapping[str, Any]
    personal: frozenset[str]
    trace_id: str | None = None

    @property
    def actor(self) -> str:
        """The insurer's name in the audit log."""
        return f"insurer {self.segment}"

    @property
    def host(self) -> str | None:
        """The host of the address that this process has for the insurer: who answers there is the insurer here."""
        return connections.find_host(self.segment, is_live=self.is_live)


def has_due(session: ScopedSession, insurer: Insurer) -> bool:
    """Return True if something is due for this insurer now; takes no locks."""
    connection = session.get(InsurerConnection, insurer.id)
    if is_resting(connection):
        return False
    return session.execute(_build_due_query(insurer).limit(1)).first() is not None


def lease_due(
    session: ScopedSession, insurer: Insurer, *, limit: int, concurrency: int = DEFAULT_CONCURRENCY
) -> list[Job]:
    """Lease due policies, the longest due first, within the concurrency limit of the insurer's connection.

    Policies that ended before they were sent are withdrawn from the queue instead.
    """
    connection = get_connection_for_update(session, insurer.id)
    capacity = get_capacity(connection, in_flight=_count_in_flight(session, insurer), concurrency=concurrency)
    query = _build_due_query(insurer).limit(min(limit, capacity)).with_for_update(skip_locked=True)
    due = {row.policy_id: row for row in session.execute(query).scalars()} if min(limit, capacity) > 0 else {}
    jobs = []
    for policy in session.execute(sa.select(Policy).where(col(Policy.id).in_(list(due)))).scalars():
        if policy.cancelled_at or policy.declined_at or policy.deleted_at:
            _withdraw(due[policy.id])
        else:
            jobs.append(_lease(due[policy.id], policy, insurer))
    session.flush()
    return jobs


def _build_due_query(insurer: Insurer) -> AnySelect:
    """Build the query for submissions to an insurer that are queued, due, and not leased."""
    return (
        sa.select(Submission)
        .where(
            *outbox.is_due(Submission),
            col(Submission.provider_id) == insurer.id,
            col(Submission.is_live).in_(insurer.modes),
        )
        .order_by(col(Submission.next_try_at))
    )


def _count_in_flight(session: ScopedSession, insurer: Insurer) -> int:
    query = sa.select(sa.func.count()).where(
        *outbox.is_in_flight(Submission), col(Submission.provider_id) == insurer.id
    )
    return int(session.execute(query).scalar_one())


def _withdraw(submission: Submission) -> None:
    submission.state, submission.next_try_at, submission.leased_until = SubmissionState.WITHDRAWN, None, None
    submission.last_error, submission.updated_at = WITHDRAWN, clock.now()


def _lease(submission: Submission, policy: Policy, insurer: Insurer) -> Job:
    outbox.lease(submission)
    return Job(
        policy_id=policy.id,
        provider_id=insurer.id,
        segment=insurer.segment,
        is_live=policy.is_live,
        attempt=submission.attempts,
        payload=personal.restore_personal_numbers(policy.payload, policy.sealed, "payload"),
        personal=frozenset(seal.unseal(policy.sealed).values()),
        trace_id=submission.trace_id,
    )


def compute_failure_wait(policy_id: UUID, failures: int) -> timedelta:
    """Return the delay after consecutive failures: 30 s, doubled each time, at most an hour."""
    return _FAILURES.wait(policy_id, failures)


def mask_numbers(text: str, numbers: Sequence[str] | frozenset[str]) -> str:
    """Return the insurer's text with the policy's personal numbers masked (contract A3)."""
    for number in numbers:
        text = text.replace(number, seal.mask(number) or "")
    return text


_NO_REASON = "The insurer gave no reason"


@dataclass(frozen=True, slots=True)
class _Case:
    """An answer with its policy and submission, both locked."""

    policy: Policy
    submission: Submission
    job: Job
    answer: InsurerAnswer

    @property
    def reason(self) -> str:
        """The insurer's reason, with personal numbers masked."""
        return mask_numbers(self.answer.reason or _NO_REASON, self.job.personal)


def apply_answer(session: ScopedSession, job: Job, answer: InsurerAnswer) -> None:
    """Apply a usable answer. A late answer changes nothing and is recorded.

    InvalidInput if the policy cannot be activated as the insurer wants it: a number that another of its policies has,
    or a term that is over. The caller then calls `set_aside`.
    """
    policy = policies.get_for_update(session, job.policy_id)
    case, stage = _Case(policy, get_for_update(session, job.policy_id), job, answer), policies.get_stage(policy)
    if case.submission.state not in OPEN or not STAGES[stage].actions:
        _record_late(session, case)
    else:
        _HANDLERS[answer.status, stage is PolicyStage.PENDING](session, case)
    session.flush()
    record_connection_success(session, job.provider_id)


def record_failure(session: ScopedSession, job: Job, fault: InsurerFault) -> None:
    """Record a call without a usable answer: it is retried later, or set aside for a person."""
    submission = get_for_update(session, job.policy_id)
    # If the lease expired meanwhile, another worker has the policy.
    if outbox.holds(submission, job.attempt):
        submission.failures += 1
        _release_lease(submission, mask_numbers(str(fault), job.personal))
        wait = max(compute_failure_wait(job.policy_id, submission.failures), timedelta(seconds=fault.retry_after))
        submission.next_try_at = clock.now() + wait
        if not fault.is_retryable or submission.failures >= MAX_FAILURES:
            _mark_dead(session, submission, job)
    session.flush()
    if fault.is_retryable:
        record_connection_failure(session, job.provider_id, fault)
    else:
        record_connection_success(session, job.provider_id)


def set_aside(session: ScopedSession, job: Job, answer: InsurerAnswer | None, reason: str) -> None:
    """Set a policy aside for a person, with the insurer's answer and why it could not be applied."""
    submission = get_for_update(session, job.policy_id)
    if submission.state in OPEN:
        if answer is not None:
            _store_answer(submission, answer)
        _release_lease(submission, reason)
        _mark_dead(session, submission, job)
    session.flush()


def get_for_update(session: ScopedSession, policy_id: UUID) -> Submission:
    """Return a submission locked for update, with its current values."""
    submission = find_for_update(session, policy_id)
    assert submission is not None, "every policy has a submission"  # noqa: S101 - an invariant of the store
    return submission


def find_for_update(session: ScopedSession, policy_id: UUID) -> Submission | None:
    """Like `get_for_update`, but returns None for an unknown policy."""
    query = sa.select(Submission).where(col(Submission.policy_id) == policy_id).with_for_update()
    submission: Submission | None = session.execute(
        query.execution_options(populate_existing=True)
    ).scalar_one_or_none()
    return submission


def _store_answer(submission: Submission, answer: InsurerAnswer) -> None:
    submission.answer, submission.answered_at = answer.status, clock.now()
    submission.insurer_number, submission.insurer_certificate_url = answer.policy_number, answer.certificate_url


def _release_lease(submission: Submission, message: str | None) -> None:
    outbox.release(submission, message)


def _schedule_retry(session: ScopedSession, case: _Case) -> None:
    """The insurer is still deciding: schedule another request with the same idempotency key."""
    submission = case.submission
    if outbox.holds(submission, case.job.attempt):
        submission.answer, submission.answered_at, submission.failures = AnswerStatus.PENDING, clock.now(), 0
        _release_lease(submission, f"The insurer is still deciding: {case.reason}" if case.answer.reason else None)
        submission.next_try_at = clock.now() + _DECISIONS.wait(submission.policy_id, submission.attempts)


def _accept_pending(session: ScopedSession, case: _Case) -> None:
    """Activate the policy as the desk would, with the insurer's number; the dates are those that were paid for."""
    policy, answer = case.policy, case.answer
    _store_answer(case.submission, answer)
    policy.provider_policy_id = answer.provider_policy_id
    changes.activate(
        session,
        policy.id,
        actor=case.job.actor,
        expected_version=policy.version,
        insurer_accepted=True,
        policy_number=answer.policy_number,
        host=case.job.host,
    )


def _accept_active(session: ScopedSession, case: _Case) -> None:
    """Keep the policy number that is on the certificate; the insurer's own number is stored in the submission."""
    policy, number = case.policy, case.answer.policy_number
    before = {"submitted_to_provider": policy.submitted_to_provider, "version": policy.version}
    _store_answer(case.submission, case.answer)
    policy.provider_policy_id = case.answer.provider_policy_id
    policy.submitted_to_provider = True
    policy.version += 1
    policy.updated_at = clock.now()
    issuing.settle_submission(session, policy.id, SubmissionState.ACCEPTED)
    _record(session, case.job, "policy accepted", before=before, after={"insurer_number": number})


def _decline_pending(session: ScopedSession, case: _Case) -> None:
    """Decline the policy as the desk would: the whole premium is refunded."""
    policy = case.policy
    _store_answer(case.submission, case.answer)
    actor, host = case.job.actor, case.job.host
    changes.decline(session, policy.id, actor=actor, reason=case.reason, expected_version=policy.version, host=host)


def _decline_active(session: ScopedSession, case: _Case) -> None:
    """Set aside: cover in force is never ended automatically, a person contacts the insurer or cancels it."""
    _store_answer(case.submission, case.answer)
    _release_lease(case.submission, f"The insurer declines it, and it is in force here: {case.reason}")
    _mark_dead(session, case.submission, case.job)


_HANDLERS: Mapping[tuple[AnswerStatus, bool], Callable[[ScopedSession, _Case], None]] = {
    (AnswerStatus.ACCEPTED, True): _accept_pending,
    (AnswerStatus.ACCEPTED, False): _accept_active,
    (AnswerStatus.DECLINED, True): _decline_pending,
    (AnswerStatus.DECLINED, False): _decline_active,
    (AnswerStatus.PENDING, True): _schedule_retry,
    (AnswerStatus.PENDING, False): _schedule_retry,
}


def _record_late(session: ScopedSession, case: _Case) -> None:
    """Record an answer that came after the policy was settled or ended; a repeated answer is ignored."""
    submission, answer = case.submission, case.answer
    if answer.status in {submission.answer, AnswerStatus.PENDING}:
        return
    number = f" as {answer.policy_number}" if answer.policy_number else ""
    _store_answer(submission, answer)
    _release_lease(submission, f"The insurer answered late: {answer.status}{number}. Nothing was changed here.")
    after = {"answer": answer.status, "policy_number": answer.policy_number, "state": submission.state}
    _record(session, case.job, "insurer answered late", after=after)


def _mark_dead(session: ScopedSession, submission: Submission, job: Job) -> None:
    submission.state, submission.next_try_at = SubmissionState.DEAD, None
    _record(
        session, job, "submission set aside", after={"reason": submission.last_error, "attempts": submission.attempts}
    )


def _record(
    session: ScopedSession, job: Job, action: str, *, after: dict[str, Any], before: dict[str, Any] | None = None
) -> None:
    subject = audit.subject_of("policy", job.policy_id)
    after = {**after, "host": job.host}
    audit.write(session, actor=job.actor, action=action, subject=subject, before=before, after=after)
