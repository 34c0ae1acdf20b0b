"""The status of an installation: whether it is ready, what runs, what waits, what is overdue (contract O4).

Each worker writes a row about every half minute, and removes it when it ends.
"""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.desk.queues import list_queues
from core.errors import StoreUnavailable
from core.services.audit import log as audit
from core.services.insurers import connections
from core.settings import VERSION, get_commit, settings
from core.store.access import Scope, ScopedSession, store, writing
from core.store.operations import local_files
from core.store.rows import build_row
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
    return [build_row(Beat, row) for row in session.execute(query).scalars()]


write_at_own_version = versions.write_at_own_version
# What is raised here when the store does not answer at all.
UNANSWERED = (StoreUnavailable, sa.exc.SQLAlchemyError, OSError)
MIN_FREE_BYTES = 64 * 1024 * 1024
UNWRITABLE_FILES: Final = "the folder of uploaded files cannot be written"


def find_fault() -> str | None:
    """Describe why the store is not ready, None when it is.

    Raises one of `UNANSWERED` when the store does not answer at all.
    """
    if fault := versions.describe_fault(versions.version(store())):
        return fault
    with writing(Scope.system()) as session:
        _verify_writable(session)
        local_files.require_space(session.connection())
    if not _can_write_files(settings().files_folder):
        return UNWRITABLE_FILES
    if free_bytes() < MIN_FREE_BYTES:
        return "the disk is nearly full"
    return None


def _can_write_files(folder: Path) -> bool:
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return os.access(folder, os.W_OK | os.X_OK)


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
    query = sa.select(sa.func.max(col(AuditEntry.created_at))).where(col(AuditEntry.action) == audit.BACKED_UP)
    found: datetime | None = session.execute(query).scalar_one()
    return found


BACKUP_DUE: Final = timedelta(hours=26)
QUEUE_LATE: Final = timedelta(hours=1)
_CLOCK_TOLERANCE: Final = timedelta(seconds=2)
_GIB: Final = 1 << 30
_LOW_FREE_BYTES: Final = 2 * _GIB


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueStatus:
    """One queue: how much waits, is due, and was given up, and for how many seconds the oldest has been due.

    `error` is why something that is due was not taken.
    `refused` were given up because of who was to receive them; `configured` is false where nothing can be sent at all;
    `by_hand` are policies that the desk tells an insurer without a connection of.
    """

    name: str
    depth: int
    due: int
    dead: int
    oldest_seconds: int
    error: str | None = None
    refused: int = 0
    configured: bool = True
    by_hand: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """State of the installation; `faults` are sentences on what needs a person, empty when nothing does."""

    version: str
    commit: str | None
    migration: str | None
    newest_migration: str
    workers: Sequence[Beat]
    queues: Sequence[QueueStatus]
    disk_free_bytes: int
    clock_skew_seconds: float
    backup_at: datetime | None
    replica: str | None
    faults: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values with instants in ISO 8601."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return clock.to_wire(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def get_status(session: ScopedSession) -> Status:
    """Return the status; needs the system's scope and a store of this release."""
    found = Status(
        version=VERSION,
        commit=get_commit(),
        migration=versions.version_of(session.connection()),
        newest_migration=versions.newest(),
        workers=list_beats(session),
        queues=_list_queues(session),
        disk_free_bytes=free_bytes(),
        clock_skew_seconds=measure_clock_skew(session),
        backup_at=newest_backup(session),
        replica=describe_replica(),
    )
    faults = [
        *list_faults(found),
        *_list_standby_faults(session),
        *list_queue_faults(found.queues, found.workers),
        *_list_insurer_faults(session),
    ]
    return replace(found, faults=faults)


def _list_queues(session: ScopedSession) -> list[QueueStatus]:
    now = clock.now()
    return [
        build_row(
            QueueStatus,
            queue,
            depth=queue.queued + queue.held,
            configured=queue.is_configured,
            oldest_seconds=int((now - (queue.oldest_due_at or now)).total_seconds()),
        )
        for queue in list_queues(session)
    ]


def measure_store(session: ScopedSession) -> int:
    """Return the size of the database in bytes."""
    sqlite = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    statement = sqlite if store().is_sqlite else "SELECT pg_database_size(current_database())"
    return int(session.connection().exec_driver_sql(statement).scalar_one())


def free_bytes() -> int:
    """Return the free space of the disk that has, or will have, the files."""
    folder = settings().files_folder
    return disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free


def measure_clock_skew(session: ScopedSession) -> float:
    """Return the seconds by which a PostgreSQL server's clock is ahead of ours; 0 on SQLite."""
    if store().is_sqlite:
        return 0.0
    theirs = session.connection().exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return float((theirs - clock.now()).total_seconds())


def list_faults(status: Status) -> list[str]:
    """Return what is wrong with store, backup, files, disk, clock and replica."""
    has_never_saved = status.backup_at is None and not settings().demo
    late = status.backup_at is not None and clock.now() - status.backup_at > BACKUP_DUE
    found = {
        "there is no backup yet: run `coverdesk backup FILE`": has_never_saved,
        "the newest backup is older than 26 hours": late,
        UNWRITABLE_FILES: not _can_write_files(settings().files_folder),
        "less than 2 GiB are free on the disk of the files": status.disk_free_bytes < _LOW_FREE_BYTES,
        "the clocks of this machine and of the database differ": (
            abs(status.clock_skew_seconds) > _CLOCK_TOLERANCE.total_seconds()
        ),
        f"the replica is {status.replica}": status.replica not in {None, "in use"},
    }
    of_version = versions.describe_fault(status.migration)
    return [*([of_version] if of_version else []), *(fault for fault, holds in found.items() if holds)]


def list_queue_faults(queues: Sequence[QueueStatus], beats: Sequence[Beat]) -> list[str]:
    """Return what waits for too long, was given up, or has nobody to send it."""
    faults = [
        f"{queue.name}: work has been due for {queue.oldest_seconds // 60:,} minutes{_describe_error(queue)}"
        for queue in queues
        if queue.oldest_seconds > QUEUE_LATE.total_seconds()
    ]
    if any(queue.due for queue in queues) and not any(beat.is_fresh for beat in beats):
        faults.append("work waits and no worker was heard of for two minutes")
    return [
        *faults,
        *(f"{queue.name}: {queue.dead:,} were given up and need a person" for queue in queues if queue.dead),
    ]


def _describe_error(queue: QueueStatus) -> str:
    return f" ({queue.error})" if queue.error else ""


def _list_standby_faults(session: ScopedSession) -> list[str]:
    """Tell of a server that is read and cannot be written, as after a failover that left the address with it."""
    if store().is_sqlite:
        return []
    query = "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean"
    takes_none = session.connection().exec_driver_sql(query).scalar_one()
    return ["the database takes no writes: it is a standby, or was made read only"] if takes_none else []


def _list_insurer_faults(session: ScopedSession) -> list[str]:
    silent = connections.list_silent(session, since=clock.now() - QUEUE_LATE)
    return [
        f"{insurer.name} does not take its policies ({insurer.error}):"
        f" {insurer.policies:,} tried in vain, waiting for more than an hour"
        for insurer in silent
    ]
