"""Queue of the processes that write one SQLite file.

SQLite keeps no order among those who wait for its lock: they look again after up to 100 ms, and a process that writes
without pause has the lock again microseconds after it let go, so that a command beside it could wait in vain. Here
whoever is next holds a lock on a file beside the database until its turn has come, and nobody else tries meanwhile.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from core.store.access import slow_statements
from core.store.access.statements import driver_connection

WAIT_SECONDS = 10.0
# Short beside the transactions that are waited for: a turn is noticed as soon as it comes.
_LOOK_SECONDS = 0.001


def file_of(database: str) -> Path:
    """Return the file on which writers of a database queue; it stays empty, and may be deleted while nobody writes."""
    return Path(f"{database}-queue")


def begin(connection: sa.Connection, file: Path | None) -> None:
    """Begin a write transaction when it is this process's turn; sqlalchemy's OperationalError after ten seconds.

    A connection of an in-memory database has no file, and nobody to wait for.
    """
    began, until = time.perf_counter(), time.monotonic() + WAIT_SECONDS
    driver = driver_connection(connection)
    # A try is to end at once: the waiting is ours.
    driver.execute("PRAGMA busy_timeout=0")
    try:
        with _next_in_line(file, until):
            while _is_locked(connection, driver) and time.monotonic() < until:
                time.sleep(_LOOK_SECONDS)
            if not driver.in_transaction:
                # Once more by SQLAlchemy, which tells the error as that of its own.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        driver.execute(f"PRAGMA busy_timeout={int(WAIT_SECONDS * 1000)}")
    slow_statements.log_slow("BEGIN IMMEDIATE", began)


def _is_locked(connection: sa.Connection, driver: Any) -> bool:
    """Try to begin; True when another process writes."""
    dbapi: Any = connection.dialect.loaded_dbapi
    try:
        driver.execute("BEGIN IMMEDIATE")
    except dbapi.OperationalError as error:
        return "locked" in str(error)
    return False


@contextmanager
def _next_in_line(file: Path | None, until: float) -> Iterator[None]:
    """Hold the lock of whoever is next. Without it, as on a file system without locks, there is only no order."""
    descriptor = None
    with suppress(OSError):
        descriptor = None if file is None else os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while descriptor is not None and not _is_ours(descriptor) and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    """Try to take the lock; it ends with its descriptor, and so with its process. True too where there are no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
