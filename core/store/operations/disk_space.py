"""Detect a full disk under PostgreSQL, which a small write does not: it fits into existing pages."""

import tempfile
import time
from pathlib import Path
from typing import Final

import sqlalchemy as sa

DISK_FULL: Final = "53100"
_SQLITE_FULL: Final = {10, 13}  # an error of writing, and no room; what stands above the lowest byte says where
_LATELY_SECONDS: Final = 60.0
# As much as the next piece of PostgreSQL's write-ahead log takes; nothing of it is logged or kept.
_PROVEN_MIB: Final = 16
_FILLING: Final = (
    "CREATE TEMPORARY TABLE room (filling text) ON COMMIT DROP",
    "ALTER TABLE room ALTER filling SET STORAGE PLAIN",
    "INSERT INTO room SELECT repeat('x', 8000) FROM generate_series(1, 2048)",
)


class _Lack:
    """Instant of this process's last write that failed for lack of space."""

    noticed_at: float | None = None


def notice(error: BaseException) -> None:
    """Remember that a write found no room just now, if that is what the error says."""
    cause = getattr(error, "orig", error)
    if (
        getattr(cause, "sqlstate", None) == DISK_FULL
        or (getattr(cause, "sqlite_errorcode", None) or 0) & 0xFF in _SQLITE_FULL
    ):
        _Lack.noticed_at = time.monotonic()


def require_space(connection: sa.Connection) -> None:
    """After a recent failure, allocate and free 16 MiB; raises the driver's error while the disk is full."""
    if _Lack.noticed_at is None:
        return
    if time.monotonic() - _Lack.noticed_at > _LATELY_SECONDS:
        _Lack.noticed_at = None
    elif connection.dialect.name == "sqlite":
        _write_probe(Path(connection.engine.url.database or ""))
    else:
        for statement in _FILLING:
            connection.exec_driver_sql(statement)


def _write_probe(database: Path) -> None:
    """The journal grows in the database's folder; nothing is written into either."""
    with tempfile.TemporaryFile(dir=database.parent) as filler:
        for _ in range(_PROVEN_MIB):
            filler.write(bytes(1 << 20))
