"""Applies an insurer's answer once: the policy is activated, waits, ends, or is set aside (contract N5).

Rows are always locked in this order, to avoid deadlocks: policy, submission, connection.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.insurers.answers import InsurerAnswer
from core.insurers.faults import InsurerFault
from core.services.audit import log as audit
from core.services.insurers import connections as insurer_connections
from core.services.insurers import submissions
from core.services.insurers.sending import GIVES_UP_AFTER, Job, names_nobody, wait_after_failure, wait_for_decision
from core.services.policies import changes as policy_changes
from core.services.policies import policies
from core.services.policies import states as policy_states
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Policy, Submission

_OPEN = ("queued", "dead")
_NO_REASON = "The insurer gave no reason"


@dataclass(frozen=True, slots=True)
class _Case:
    """An answer with its policy and submission, both locked."""

    policy: Policy
    told: Submission
    job: Job
    answer: InsurerAnswer

    @property
    def reason(self) -> str:
        """The insurer's reason, with personal numbers masked."""
        return names_nobody(self.answer.reason or _NO_REASON, self.job.personal)


def apply(session: ScopedSession, job: Job, answer: InsurerAnswer) -> None:
    """Apply a usable answer. A late answer changes nothing and is recorded.

    InvalidInput if the policy cannot be activated as the insurer wants it: a number that another of its policies has,
    or a
    term that is over. The caller then calls `set_aside`.
    """
    policy = policies.locked(session, job.policy_id)
    case, stage = _Case(policy, held(session, job.policy_id), job, answer), policy_states.stage_of(policy)
    if case.told.state not in _OPEN or stage in {"Cancelled", "Declined"}:
        _note_late(session, case)
    else:
        _ANSWERED[answer.status, stage == "Pending"](session, case)
    session.flush()
    insurer_connections.succeeded(session, job.provider_id)


def fail(session: ScopedSession, job: Job, fault: InsurerFault) -> None:
    """Record a call without a usable answer: it is retried later, or set aside for a person."""
    told = held(session, job.policy_id)
    # If the lease expired meanwhile, another worker has the policy.
    if told.state == "queued" and told.attempts == job.attempt:
        told.failures += 1
        _let_go(told, names_nobody(str(fault), job.personal))
        wait = max(wait_after_failure(job.policy_id, told.failures), timedelta(seconds=fault.retry_after))
        told.next_try_at = clock.now() + wait
        if not fault.retryable or told.failures >= GIVES_UP_AFTER:
            _give_up(session, told, job)
    session.flush()
    if fault.retryable:
        insurer_connections.failed(session, job.provider_id, fault)
    else:
        insurer_connections.succeeded(session, job.provider_id)


def set_aside(session: ScopedSession, job: Job, answer: InsurerAnswer | None, why: str) -> None:
    """Set a policy aside for a person, with the insurer's answer and why it could not be applied."""
    told = held(session, job.policy_id)
    if told.state in _OPEN:
        if answer is not None:
            _keep(told, answer)
        _let_go(told, why)
        _give_up(session, told, job)
    session.flush()


def held(session: ScopedSession, policy_id: UUID) -> Submission:
    """Return a submission locked for update, with its current values."""
    told = held_if_any(session, policy_id)
    assert told is not None, "every policy has a submission"  # noqa: S101 - an invariant of the store
    return told


def held_if_any(session: ScopedSession, policy_id: UUID) -> Submission | None:
    """Like `get_for_update`, but returns None for an unknown policy."""
    query = sa.select(Submission).where(col(Submission.policy_id) == policy_id).with_for_update()
    told: Submission | None = session.execute(query.execution_options(populate_existing=True)).scalar_one_or_none()
    return told


def _keep(told: Submission, answer: InsurerAnswer) -> None:
    told.answer, told.answered_at = answer.status, clock.now()
    told.insurer_number, told.insurer_certificate_url = answer.policy_number, answer.certificate_url


def _let_go(told: Submission, note: str | None) -> None:
    told.last_error, told.leased_until, told.updated_at = note, None, clock.now()


def _ask_again(session: ScopedSession, case: _Case) -> None:
    """The insurer is still deciding: schedule another request with the same idempotency key."""
    told = case.told
    if told.state == "queued" and told.attempts == case.job.attempt:
        told.answer, told.answered_at, told.failures = "pending", clock.now(), 0
        _let_go(told, f"The insurer is still deciding: {case.reason}" if case.answer.reason else None)
        told.next_try_at = clock.now() + wait_for_decision(told.policy_id, told.attempts)


def _accept_pending(session: ScopedSession, case: _Case) -> None:
    """Activate the policy as the desk would, with the insurer's number; the dates are those that were paid for."""
    policy, answer = case.policy, case.answer
    _keep(case.told, answer)
    policy.provider_policy_id = answer.provider_policy_id
    policy_changes.activate(
        session,
        policy.id,
        actor=case.job.actor,
        expected_version=policy.version,
        insurer_accepted=True,
        policy_number=answer.policy_number,
    )


def _accept_active(session: ScopedSession, case: _Case) -> None:
    """Keep the policy number that is on the certificate; the insurer's own number is stored in the submission."""
    policy, number = case.policy, case.answer.policy_number
    before = {"submitted_to_provider": policy.submitted_to_provider, "version": policy.version}
    _keep(case.told, case.answer)
    policy.provider_policy_id = case.answer.provider_policy_id
    policy.submitted_to_provider = True
    policy.version += 1
    policy.updated_at = clock.now()
    submissions.settle(session, policy.id, "accepted")
    _log(session, case.job, "policy accepted", before=before, after={"insurer_number": number})


def _decline_pending(session: ScopedSession, case: _Case) -> None:
    """Decline the policy as the desk would: the whole premium is refunded."""
    policy = case.policy
    _keep(case.told, case.answer)
    policy_changes.decline(
        session, policy.id, actor=case.job.actor, reason=case.reason, expected_version=policy.version
    )


def _decline_active(session: ScopedSession, case: _Case) -> None:
    """Set aside: cover in force is never ended automatically, a person contacts the insurer or cancels it."""
    _keep(case.told, case.answer)
    _let_go(case.told, f"The insurer declines it, and it is in force here: {case.reason}")
    _give_up(session, case.told, case.job)


_ANSWERED: Mapping[tuple[str, bool], Callable[[ScopedSession, _Case], None]] = {
    ("accepted", True): _accept_pending,
    ("accepted", False): _accept_active,
    ("declined", True): _decline_pending,
    ("declined", False): _decline_active,
    ("pending", True): _ask_again,
    ("pending", False): _ask_again,
}


def _note_late(session: ScopedSession, case: _Case) -> None:
    """Record an answer that came after the policy was settled or ended; a repeated answer is ignored."""
    told, answer = case.told, case.answer
    if answer.status in {told.answer, "pending"}:
        return
    number = f" as {answer.policy_number}" if answer.policy_number else ""
    _keep(told, answer)
    _let_go(told, f"The insurer answered late: {answer.status}{number}. Nothing was changed here.")
    after = {"answer": answer.status, "policy_number": answer.policy_number, "state": told.state}
    _log(session, case.job, "insurer answered late", after=after)


def _give_up(session: ScopedSession, told: Submission, job: Job) -> None:
    told.state, told.next_try_at = "dead", None
    _log(session, job, "submission set aside", after={"reason": told.last_error, "attempts": told.attempts})


def _log(
    session: ScopedSession, job: Job, action: str, *, after: dict[str, Any], before: dict[str, Any] | None = None
) -> None:
    subject = audit.subject_of("policy", job.policy_id)
    audit.write(session, actor=job.actor, action=action, subject=subject, before=before, after=after)
