"""The status of an installation for operators: what runs, what waits, what is overdue (contract O4)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import Any, Final

from core import clock
from core.services.admin import gauges, heartbeats, readiness
from core.services.admin.heartbeats import Beat
from core.settings import settings
from core.store.access.engine import store
from core.store.access.scope import ScopedSession
from core.store.schema import versions
from core.version import VERSION, get_commit

BACKUP_DUE: Final = timedelta(hours=26)
QUEUE_LATE: Final = timedelta(hours=1)
_CLOCK_TOLERANCE: Final = timedelta(seconds=2)
_GIB: Final = 1 << 30
_MIN_FREE_BYTES: Final = 2 * _GIB


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueStatus:
    """Work that waits: how much, and for how many seconds the oldest has."""

    name: str
    depth: int
    oldest_seconds: int


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
    faults: Sequence[str]

    def as_json(self) -> dict[str, Any]:
        """Plain values with instants in ISO 8601."""
        return _plain(asdict(self))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return clock.to_wire(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def get_status(session: ScopedSession) -> Status:
    """Return the status; needs the system's scope and a store of this release."""
    beats, queues = heartbeats.list_beats(session), _queues(session)
    facts = {
        "migration": versions.version_of(session.connection()),
        "disk_free_bytes": _free_bytes(),
        "clock_skew_seconds": _clock_skew(session),
        "backup_at": gauges.newest_backup(session),
        "replica": readiness.describe_replica(),
    }
    return Status(
        version=VERSION,
        commit=get_commit(),
        newest_migration=versions.newest(),
        workers=beats,
        queues=queues,
        faults=[*_list_faults(facts), *_list_queue_faults(queues, beats)],
        **facts,
    )


def _queues(session: ScopedSession) -> list[QueueStatus]:
    described = gauges.describe_queues(list(gauges.list_queues(session)))
    return [
        QueueStatus(name=name, depth=depth, oldest_seconds=int(seconds)) for name, (depth, seconds) in described.items()
    ]


def _free_bytes() -> int:
    folder = Path(settings().files_url.removeprefix("file://"))
    return disk_usage(next(path for path in (folder, *folder.parents) if path.exists())).free


def _clock_skew(session: ScopedSession) -> float:
    """How far the clock of a PostgreSQL server is ahead of ours; SQLite has none of its own."""
    if store().is_sqlite:
        return 0.0
    theirs = session.connection().exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return round((theirs - clock.now()).total_seconds(), 1)


def _list_faults(facts: Mapping[str, Any]) -> list[str]:
    backup_at: datetime | None = facts["backup_at"]
    found = {
        "the store has another version: run `coverdesk init`": facts["migration"] != versions.newest(),
        "there is no backup yet: run `coverdesk backup FILE`": backup_at is None,
        "the newest backup is older than 26 hours": backup_at is not None and clock.now() - backup_at > BACKUP_DUE,
        "less than 2 GiB are free on the disk of the files": facts["disk_free_bytes"] < _MIN_FREE_BYTES,
        "the clocks of this machine and of the database differ": (
            abs(facts["clock_skew_seconds"]) > _CLOCK_TOLERANCE.total_seconds()
        ),
        f"the replica is {facts['replica']}": facts["replica"] not in {None, "in use"},
    }
    return [fault for fault, holds in found.items() if holds]


def _list_queue_faults(queues: Sequence[QueueStatus], beats: Sequence[Beat]) -> list[str]:
    waiting = [queue for queue in queues if queue.depth and queue.name != gauges.GIVEN_UP]
    faults = [
        f"the queue {queue.name} has waited for {queue.oldest_seconds // 60:,} minutes"
        for queue in waiting
        if queue.oldest_seconds > QUEUE_LATE.total_seconds()
    ]
    if waiting and not any(beat.is_fresh for beat in beats):
        faults.append("work waits and no worker was heard of for two minutes")
    given_up = sum(queue.depth for queue in queues if queue.name == gauges.GIVEN_UP)
    return [*faults, f"{given_up:,} policies were given up and need a person"] if given_up else faults
