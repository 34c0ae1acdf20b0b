"""Workers that were heard of: each writes a row about every half minute, and removes it when it ends."""

import os
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.settings import VERSION
from core.store.access import ScopedSession
from core.store.schema.tables import Heartbeat

INTERVAL: Final = timedelta(seconds=30)
# Several beats may be late, as when the store is restarted.
FRESH: Final = timedelta(seconds=120)
_FORGOTTEN: Final = timedelta(days=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Beat:
    """A worker by machine and process, its release, and when it was last heard of."""

    name: str
    release: str
    started_at: datetime
    seen_at: datetime

    @property
    def is_fresh(self) -> bool:
        """True if the worker can be taken to be at work."""
        return clock.now() - self.seen_at <= FRESH

    @property
    def is_here(self) -> bool:
        """True for a worker of this machine."""
        return self.name.rpartition(":")[0] == _machine()


def worker_name() -> str:
    """Return the name of this process, which tells it apart on every machine."""
    return f"{_machine()}:{os.getpid()}"


def _machine() -> str:
    return socket.gethostname()[:60]


def record(session: ScopedSession, name: str) -> None:
    """Record that a worker is at work; those not heard of for days are forgotten."""
    now = clock.now()
    beat = session.get(Heartbeat, name)
    if beat is None:
        session.insert(Heartbeat(name=name, release=VERSION, started_at=now, seen_at=now))
        session.execute(sa.delete(Heartbeat).where(col(Heartbeat.seen_at) < now - _FORGOTTEN))
    else:
        beat.seen_at = now
        session.flush()


def forget(session: ScopedSession, name: str) -> None:
    """Remove a worker that has ended as it should."""
    session.execute(sa.delete(Heartbeat).where(col(Heartbeat.name) == name))


def list_beats(session: ScopedSession) -> list[Beat]:
    """List the workers, the one heard of last first."""
    query = sa.select(Heartbeat).order_by(col(Heartbeat.seen_at).desc(), col(Heartbeat.name))
    return [
        Beat(name=row.name, release=row.release, started_at=row.started_at, seen_at=row.seen_at)
        for row in session.execute(query).scalars()
    ]
