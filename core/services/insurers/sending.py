"""The submission queue: workers lease due policies for a limited time (contract N3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.services.insurers import connections as insurer_connections
from core.services.insurers.connections import Insurer
from core.services.outbox import queue
from core.services.outbox.queue import Backoff
from core.services.people import personal
from core.states.policies import SubmissionState
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import InsurerConnection, Policy, Submission

LEASE = queue.LEASE
DEFAULT_CONCURRENCY = 8
MAX_FAILURES = 12
_FAILURES = Backoff(seconds=queue.doubling(30, 3_600), spread=0.25, most=MAX_FAILURES)
_DECISIONS = Backoff(seconds=queue.doubling(60, 3_600), spread=0.25, most=MAX_FAILURES)
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


def has_due(session: ScopedSession, insurer: Insurer) -> bool:
    """Return True if something is due for this insurer now; takes no locks."""
    connection = session.get(InsurerConnection, insurer.id)
    if insurer_connections.is_resting(connection):
        return False
    return session.execute(_build_due_query(insurer).limit(1)).first() is not None


def lease_due(
    session: ScopedSession, insurer: Insurer, *, limit: int, concurrency: int = DEFAULT_CONCURRENCY
) -> list[Job]:
    """Lease due policies, the longest due first, within the concurrency limit of the insurer's connection.

    Policies that ended before they were sent are withdrawn from the queue instead.
    """
    connection = insurer_connections.get_for_update(session, insurer.id)
    capacity = insurer_connections.get_capacity(
        connection, in_flight=_count_in_flight(session, insurer), concurrency=concurrency
    )
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
            *queue.is_due(Submission),
            col(Submission.provider_id) == insurer.id,
            col(Submission.is_live).in_(insurer.modes),
        )
        .order_by(col(Submission.next_try_at))
    )


def _count_in_flight(session: ScopedSession, insurer: Insurer) -> int:
    query = sa.select(sa.func.count()).where(*queue.is_in_flight(Submission), col(Submission.provider_id) == insurer.id)
    return int(session.execute(query).scalar_one())


def _withdraw(submission: Submission) -> None:
    submission.state, submission.next_try_at, submission.leased_until = SubmissionState.WITHDRAWN, None, None
    submission.last_error, submission.updated_at = WITHDRAWN, clock.now()


def _lease(submission: Submission, policy: Policy, insurer: Insurer) -> Job:
    queue.lease(submission)
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


def compute_decision_wait(policy_id: UUID, attempts: int) -> timedelta:
    """Return the delay before asking again for a pending decision: a minute, doubled, at most an hour."""
    return _DECISIONS.wait(policy_id, attempts)


def mask_numbers(text: str, numbers: Sequence[str] | frozenset[str]) -> str:
    """Return the insurer's text with the policy's personal numbers masked (contract A3)."""
    for number in numbers:
        text = text.replace(number, seal.mask(number) or "")
    return text
