"""The status of an installation for operators: what runs, what waits, what is overdue (contract O4)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import Any, Final

from core import clock
from core.services.admin import readiness
from core.services.admin.readiness import Beat
from core.services.outbox.queue import list_queues
from core.settings import VERSION, get_commit, settings
from core.store.access import ScopedSession, store
from core.store.schema import versions

BACKUP_DUE: Final = timedelta(hours=26)
QUEUE_LATE: Final = timedelta(hours=1)
_CLOCK_TOLERANCE: Final = timedelta(seconds=2)
_GIB: Final = 1 << 30
_MIN_FREE_BYTES: Final = 2 * _GIB


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueStatus:
    """One queue: how much waits, is due, and was given up, and for how many seconds the oldest has been due.

    `refused` were given up because of who was to receive them; `configured` is false where nothing can be sent at all;
    `by_hand` are policies that the desk tells an insurer without a connection of.
    """

    name: str
    depth: int
    due: int
    dead: int
    oldest_seconds: int
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
        workers=readiness.list_beats(session),
        queues=_list_queues(session),
        disk_free_bytes=_free_bytes(),
        clock_skew_seconds=_clock_skew(session),
        backup_at=readiness.newest_backup(session),
        replica=readiness.describe_replica(),
    )
    return replace(found, faults=[*list_faults(found), *list_queue_faults(found.queues, found.workers)])


def _list_queues(session: ScopedSession) -> list[QueueStatus]:
    now = clock.now()
    return [
        QueueStatus(
            name=queue.name,
            depth=queue.queued + queue.held,
            due=queue.due,
            dead=queue.dead,
            refused=queue.refused,
            configured=queue.is_configured,
            by_hand=queue.by_hand,
            oldest_seconds=int((now - (queue.oldest_due_at or now)).total_seconds()),
        )
        for queue in list_queues(session)
    ]


def _free_bytes() -> int:
    folder = Path(settings().files_url.removeprefix("file://"))
    return disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free


def _clock_skew(session: ScopedSession) -> float:
    """Return the seconds by which a PostgreSQL server's clock is ahead of ours; 0 on SQLite."""
    if store().is_sqlite:
        return 0.0
    theirs = session.connection().exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return float((theirs - clock.now()).total_seconds())


def list_faults(status: Status) -> list[str]:
    """Return what is wrong with store, backup, disk, clock and replica."""
    has_never_saved = status.backup_at is None and not settings().demo
    late = status.backup_at is not None and clock.now() - status.backup_at > BACKUP_DUE
    found = {
        "the store has another version: run `coverdesk init`": status.migration != status.newest_migration,
        "there is no backup yet: run `coverdesk backup FILE`": has_never_saved,
        "the newest backup is older than 26 hours": late,
        "less than 2 GiB are free on the disk of the files": status.disk_free_bytes < _MIN_FREE_BYTES,
        "the clocks of this machine and of the database differ": (
            abs(status.clock_skew_seconds) > _CLOCK_TOLERANCE.total_seconds()
        ),
        f"the replica is {status.replica}": status.replica not in {None, "in use"},
    }
    return [fault for fault, holds in found.items() if holds]


def list_queue_faults(queues: Sequence[QueueStatus], beats: Sequence[Beat]) -> list[str]:
    """Return what waits for too long, was given up, or has nobody to send it."""
    faults = [
        f"{queue.name}: work has been due for {queue.oldest_seconds // 60:,} minutes"
        for queue in queues
        if queue.oldest_seconds > QUEUE_LATE.total_seconds()
    ]
    if any(queue.due for queue in queues) and not any(beat.is_fresh for beat in beats):
        faults.append("work waits and no worker was heard of for two minutes")
    return [
        *faults,
        *(f"{queue.name}: {queue.dead:,} were given up and need a person" for queue in queues if queue.dead),
    ]
