"""Room on PostgreSQL's disk, which a small write cannot tell of: it fits into pages that are there already."""

import time
from typing import Final

import sqlalchemy as sa

DISK_FULL: Final = "53100"
_LATELY_SECONDS: Final = 60.0
# As much as the next piece of the write-ahead log takes; nothing of it is logged or kept.
_FILLING: Final = (
    "CREATE TEMPORARY TABLE room (filling text) ON COMMIT DROP",
    "ALTER TABLE room ALTER filling SET STORAGE PLAIN",
    "INSERT INTO room SELECT repeat('x', 8000) FROM generate_series(1, 2048)",
)


class _Lack:
    """When a write last found no room; this process alone remembers it."""

    noticed_at: float | None = None


def lacked() -> None:
    """Remember that a write found no room just now."""
    _Lack.noticed_at = time.monotonic()


def prove(connection: sa.Connection) -> None:
    """Take 16 MiB and give them back if room lacked in the last minute; the driver's error when it still does."""
    if _Lack.noticed_at is None:
        return
    if time.monotonic() - _Lack.noticed_at > _LATELY_SECONDS:
        _Lack.noticed_at = None
        return
    for statement in _FILLING:
        connection.exec_driver_sql(statement)
