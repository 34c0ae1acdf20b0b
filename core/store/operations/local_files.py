"""Files of this machine: the permissions of a store, files that are not finished, and whether the disk is full."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

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


def require_space(connection: "sa.Connection") -> None:
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


if TYPE_CHECKING:
    import sqlalchemy as sa

    from core.store.access import Store

_OTHERS = 0o007
PRIVATE = 0o077


def restrict(store: "Store") -> None:
    """Restrict a SQLite file and its journals to its owner; files of other accounts are left alone."""
    if not store.is_sqlite or not store.url.database:
        return
    for ending in ("", "-wal", "-shm", "-journal"):
        path = Path(store.url.database + ending)
        if path.exists() and path.stat().st_mode & _OTHERS:
            with contextlib.suppress(PermissionError):
                path.chmod(path.stat().st_mode & ~_OTHERS)


def begin_private() -> None:
    """Files that this process makes from now on are for its own account."""
    os.umask(PRIVATE)


def sync(path: Path) -> None:
    """Flush a file to disk, or what was renamed in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a temporary file or folder for the duration of the block."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # On a file system without locks nothing is ever cleared.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def clear(folder: Path, pattern: str) -> None:
    """Delete unlocked temporary files that match the pattern; empty ones may just have been created."""
    for path in folder.glob(pattern):
        if _is_started(path) and not _is_held(path):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _is_started(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.stat().st_size > 0


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
