"""One way to lease, retry and give up, shared by every table of the outbox, and how deep and old each is (contract W1).

A table joins by its columns: `state` ("queued", "dead" and its own ends), `attempts`, `failures`, `next_try_at`,
`leased_until`, `last_error`, `updated_at`. A row is worked on by whoever leased it; when a worker dies its lease ends
and another takes over. `attempts` tells one lease from a later one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.outbound import mail as smtp
from core.settings import settings
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Mail, Provider, Submission, WebhookDelivery, WebhookEndpoint

# Last word about a row whose sending failed by a defect of ours.
INTERNAL_ERROR = "Something broke here while it was sent: the log says where"
# Longer than any call may take: a running worker always finishes before its lease expires.
LEASE = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True, slots=True)
class Backoff:
    """Seconds to wait after each failure in a row; `spread` is the share by which a wait may differ either way.

    After `most` failures a row is dead.
    """

    seconds: Sequence[float]
    spread: float
    most: int

    def wait(self, key: UUID, failures: int) -> timedelta:
        """Return the wait after so many failures, derived from the id, so that retries do not come back together."""
        digest = hashlib.blake2b(key.bytes + failures.to_bytes(4), digest_size=2).digest()
        base = self.seconds[min(max(failures, 1), len(self.seconds)) - 1]
        return timedelta(seconds=round(base * (1 - self.spread + int.from_bytes(digest) / 0xFFFF * 2 * self.spread), 3))

    def is_over(self, failures: int) -> bool:
        """Return True when nothing is tried again."""
        return failures >= self.most


def doubling(first: int, longest: int) -> tuple[int, ...]:
    """Return waits in seconds that double up to the longest."""
    waits = [first]
    while waits[-1] < longest:
        waits.append(min(waits[-1] * 2, longest))
    return tuple(waits)


def is_due(entity: Any) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for rows that are queued, due, and not leased."""
    now = clock.now()
    return [
        col(entity.state) == "queued",
        col(entity.next_try_at) <= now,
        sa.or_(col(entity.leased_until).is_(None), col(entity.leased_until) <= now),
    ]


def is_in_flight(entity: Any) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for rows that somebody works on now."""
    return [col(entity.state) == "queued", col(entity.leased_until) > clock.now()]


def lease(row: Any) -> None:
    """Take a row for a limited time."""
    row.attempts += 1
    row.leased_until = clock.now() + LEASE


def holds(row: Any, attempt: int) -> bool:
    """Return True while the lease of this attempt is the last one; later another worker has the row."""
    return bool(row.state == "queued" and row.attempts == attempt)


def release(row: Any, message: str | None) -> None:
    """End a lease, with the last word about the row."""
    row.last_error, row.leased_until, row.updated_at = message, None, clock.now()


def end(row: Any, state: str, message: str | None = None) -> None:
    """End the work on a row in a state that is not tried again."""
    release(row, message)
    row.state, row.next_try_at = state, None


def fail(row: Any, backoff: Backoff, message: str, *, at_least: timedelta = timedelta()) -> None:
    """Note a failure: the row is due again later, or dead when it failed too often."""
    row.failures += 1
    if backoff.is_over(row.failures):
        end(row, "dead", message)
        return
    release(row, message)
    row.next_try_at = clock.now() + max(backoff.wait(row.id, row.failures), at_least)


def requeue(row: Any) -> None:
    """Make a row due now, as if it had not failed; for a person who sends it again."""
    row.state, row.failures, row.next_try_at = "queued", 0, clock.now()
    row.leased_until, row.updated_at = None, clock.now()


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueHealth:
    """One queue: rows that wait, of which due now, and since when the oldest has been due.

    `dead` were given up and need a person here, `refused` were given up because of who was to receive them. What nobody
    could send now is not due: e-mail without a server (`is_configured` is false then), and deliveries to endpoints that
    fail, are slow or take none. `by_hand` are policies of insurers without a connection, which the desk tells them of
    and no worker sends; they count nowhere else.
    """

    name: str
    queued: int
    due: int
    held: int
    dead: int
    oldest_due_at: datetime | None
    refused: int = 0
    is_configured: bool = True
    by_hand: int = 0


def list_queues(session: ScopedSession) -> Sequence[QueueHealth]:
    """Return the health of every queue. Needs the system's scope."""
    return [_measure_submissions(session), _measure_webhooks(session), _measure_mail(session)]


def is_connected(*, is_live: bool) -> sa.ColumnElement[bool]:
    """Return the condition of a submission in this mode whose insurer has an address in it."""
    known = settings()
    segments = [segment for segment in known.insurers if known.insurer_url(segment, is_live=is_live)]
    providers = sa.select(col(Provider.id)).where(col(Provider.segment).in_(segments))
    return sa.and_(col(Submission.is_live).is_(is_live), col(Submission.provider_id).in_(providers))


def _measure_submissions(session: ScopedSession) -> QueueHealth:
    can_be_sent = sa.or_(*(is_connected(is_live=is_live) for is_live in (True, False)))
    found = _measure(session, "Insurers", Submission, can_be_sent)
    rows = session.execute(
        sa.select(col(Submission.state), sa.func.count())
        .where(col(Submission.state).in_(("queued", "dead")), sa.not_(can_be_sent))
        .group_by(col(Submission.state))
    )
    told = {state: int(count) for state, count in rows}
    return replace(
        found,
        queued=found.queued - told.get("queued", 0),
        dead=found.dead - told.get("dead", 0),
        by_hand=sum(told.values()),
    )


def count_endpoints(session: ScopedSession) -> Mapping[str, int]:
    """Return how many webhook endpoints stand in each state. Needs the system's scope."""
    query = (
        sa.select(col(WebhookEndpoint.state), sa.func.count())
        .where(col(WebhookEndpoint.deleted_at).is_(None))
        .group_by(col(WebhookEndpoint.state))
    )
    return {state: int(count) for state, count in session.execute(query)}


def _measure_webhooks(session: ScopedSession) -> QueueHealth:
    """A receiver that does not answer is its distributor's to see, and no fault of the installation."""
    takes = sa.select(col(WebhookEndpoint.id)).join(
        Distributor, col(Distributor.id) == col(WebhookEndpoint.distributor_id)
    )
    healthy = takes.where(
        col(WebhookEndpoint.state) == "active",
        col(WebhookEndpoint.failing_since).is_(None),
        sa.not_(col(WebhookEndpoint.is_slow)),
        col(WebhookEndpoint.deleted_at).is_(None),
        col(Distributor.active),
    )
    found = _measure(session, "Webhooks", WebhookDelivery, col(WebhookDelivery.endpoint_id).in_(healthy))
    broken_here = sa.select(sa.func.count()).where(
        col(WebhookDelivery.state) == "dead", col(WebhookDelivery.last_error) == INTERNAL_ERROR
    )
    ours = int(session.execute(broken_here).scalar_one())
    return replace(found, dead=ours, refused=found.dead - ours)


def _measure_mail(session: ScopedSession) -> QueueHealth:
    found = _measure(session, "E-mail", Mail)
    return found if smtp.can_send() else replace(found, due=0, oldest_due_at=None, is_configured=False)


def _measure(session: ScopedSession, name: str, entity: Any, *conditions: sa.ColumnElement[bool]) -> QueueHealth:
    rows = session.execute(
        sa.select(col(entity.state), sa.func.count())
        .where(col(entity.state).in_(("queued", "held", "dead")))
        .group_by(col(entity.state))
    )
    counts = {state: int(count) for state, count in rows}
    waiting = sa.and_(col(entity.state) == "queued", col(entity.next_try_at) <= clock.now(), *conditions)
    due, oldest = session.execute(sa.select(sa.func.count(), sa.func.min(col(entity.next_try_at))).where(waiting)).one()
    return QueueHealth(
        name=name,
        queued=counts.get("queued", 0),
        due=int(due),
        held=counts.get("held", 0),
        dead=counts.get("dead", 0),
        oldest_due_at=oldest,
    )
