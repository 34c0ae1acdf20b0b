"""The submission queue: workers lease due policies for a limited time (contract N3)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.services import personal
from core.services.insurers import connections as insurer_connections
from core.services.insurers.connections import Insurer
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import InsurerConnection, Policy, Submission

# Longer than any call may take: a running worker always finishes before its lease expires.
LEASE = timedelta(seconds=60)
AT_ONCE = 8
GIVES_UP_AFTER = 12
_FIRST_WAIT, _FIRST_QUESTION, _LONGEST_WAIT = 30, 60, 3_600
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

    @property
    def actor(self) -> str:
        """The insurer's name in the audit log."""
        return f"insurer {self.segment}"


def anything_due(session: ScopedSession, insurer: Insurer) -> bool:
    """Return True if something is due for this insurer now; takes no locks."""
    connection = session.get(InsurerConnection, insurer.id)
    if insurer_connections.resting(connection):
        return False
    return session.execute(_due(insurer).limit(1)).first() is not None


def claim(session: ScopedSession, insurer: Insurer, *, most: int, at_once: int = AT_ONCE) -> list[Job]:
    """Lease due policies, the longest due first, within the concurrency limit of the insurer's connection.

    Policies that ended before they were sent are withdrawn from the queue instead.
    """
    connection = insurer_connections.held(session, insurer.id)
    free = insurer_connections.room(connection, under_way=_under_way(session, insurer), at_once=at_once)
    query = _due(insurer).limit(min(most, free)).with_for_update(skip_locked=True)
    due = {row.policy_id: row for row in session.execute(query).scalars()} if min(most, free) > 0 else {}
    jobs = []
    for policy in session.execute(sa.select(Policy).where(col(Policy.id).in_(list(due)))).scalars():
        if policy.cancelled_at or policy.declined_at or policy.deleted_at:
            _withdraw(due[policy.id])
        else:
            jobs.append(_leased(due[policy.id], policy, insurer))
    session.flush()
    return jobs


def _due(insurer: Insurer) -> AnySelect:
    """Build the query for submissions to an insurer that are queued, due, and not leased."""
    now = clock.now()
    return (
        sa.select(Submission)
        .where(
            col(Submission.state) == "queued",
            col(Submission.provider_id) == insurer.id,
            col(Submission.next_try_at) <= now,
            sa.or_(col(Submission.leased_until).is_(None), col(Submission.leased_until) <= now),
            col(Submission.is_live).in_(insurer.modes),
        )
        .order_by(col(Submission.next_try_at))
    )


def _under_way(session: ScopedSession, insurer: Insurer) -> int:
    query = sa.select(sa.func.count()).where(
        col(Submission.state) == "queued",
        col(Submission.provider_id) == insurer.id,
        col(Submission.leased_until) > clock.now(),
    )
    return int(session.execute(query).scalar_one())


def _withdraw(told: Submission) -> None:
    told.state, told.next_try_at, told.leased_until = "withdrawn", None, None
    told.last_error, told.updated_at = WITHDRAWN, clock.now()


def _leased(told: Submission, policy: Policy, insurer: Insurer) -> Job:
    told.attempts += 1
    told.leased_until = clock.now() + LEASE
    return Job(
        policy_id=policy.id,
        provider_id=insurer.id,
        segment=insurer.segment,
        is_live=policy.is_live,
        attempt=told.attempts,
        payload=personal.restored(policy.payload, policy.sealed, "payload"),
        personal=frozenset(seal.unseal(policy.sealed).values()),
    )


def wait_after_failure(policy_id: UUID, failures: int) -> timedelta:
    """Return the delay after consecutive failures: 30 s, doubled each time, at most an hour."""
    return _spread(policy_id, failures, _FIRST_WAIT)


def wait_for_decision(policy_id: UUID, attempts: int) -> timedelta:
    """Return the delay before asking again for a pending decision: a minute, doubled, at most an hour."""
    return _spread(policy_id, attempts, _FIRST_QUESTION)


def _spread(policy_id: UUID, times: int, first: int) -> timedelta:
    """Return 0.75 to 1.25 times the delay, derived from the id, so that retries do not come back together."""
    digest = hashlib.blake2b(policy_id.bytes + times.to_bytes(4), digest_size=2).digest()
    longest = min(first << min(max(times, 1) - 1, 16), _LONGEST_WAIT)
    return timedelta(seconds=round(longest * (0.75 + int.from_bytes(digest) / 0xFFFF / 2), 3))


def names_nobody(text: str, numbers: Sequence[str] | frozenset[str]) -> str:
    """Return the insurer's text with the policy's personal numbers masked (contract A3)."""
    for number in numbers:
        text = text.replace(number, seal.mask(number) or "")
    return text
