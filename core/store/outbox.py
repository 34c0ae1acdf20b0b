"""One way to lease, retry and give up, shared by every table of the outbox (contract W1).

A table joins by its columns: `state` ("queued", "dead" and its own ends), `attempts`, `failures`, `next_try_at`,
`leased_until`, `last_error`, `updated_at`. A row is worked on by whoever leased it; when a worker dies its lease ends
and another takes over. `attempts` tells one lease from a later one.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock

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
