"""Readiness of the store, its newest backup, and the workers that were heard of.

Each worker writes a row about every half minute, and removes it when it ends.
"""

import os
import shutil
import socket
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import StoreUnavailable
from core.settings import VERSION, settings
from core.store.access import Scope, ScopedSession, store, writing
from core.store.operations import local_files
from core.store.schema import versions
from core.store.schema.tables import AuditEntry, Heartbeat, OneTimeTicket

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


# What is raised here when the store does not answer at all.
UNANSWERED = (StoreUnavailable, sa.exc.SQLAlchemyError, OSError)
BACKED_UP = "store backed up"
MIN_FREE_BYTES = 64 * 1024 * 1024


def find_fault() -> str | None:
    """Describe why the store is not ready, None when it is.

    Raises one of `UNANSWERED` when the store does not answer at all.
    """
    if versions.version(store()) != versions.newest():
        return "the store has another version: run `coverdesk init`"
    with writing(Scope.system()) as session:
        _verify_writable(session)
        local_files.require_space(session.connection())
    folder = Path(settings().files_url)
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < MIN_FREE_BYTES:
        return "the disk is nearly full"
    return None


def describe_replica() -> str | None:
    """Describe the replica: "in use", or why it is not; None where none is configured.

    Not a fault: the primary answers while the replica is not in use.
    """
    if (there := store().replica) is None:
        return None
    return there.status().fault or "in use"


def _verify_writable(session: ScopedSession) -> None:
    """Write and delete a row: a read-only store is not ready."""
    ticket_hash = f"readiness {ids.new_code()}"
    session.insert(OneTimeTicket(ticket_hash=ticket_hash, used_at=clock.now()))
    session.execute(sa.delete(OneTimeTicket).where(col(OneTimeTicket.ticket_hash) == ticket_hash))


def newest_backup(session: ScopedSession) -> datetime | None:
    """Return the time of the newest backup in the audit log, or None."""
    query = sa.select(sa.func.max(col(AuditEntry.created_at))).where(col(AuditEntry.action) == BACKED_UP)
    found: datetime | None = session.execute(query).scalar_one()
    return found
