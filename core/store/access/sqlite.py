"""SQLite: engines with one writing connection and many readers, and statements that join in the order given."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler

from core.store.access import statements
from core.store.access.statements import driver_connection

WAIT_SECONDS = 10.0
# Short beside the transactions that are waited for: a turn is noticed as soon as it comes.
_LOOK_SECONDS = 0.001
# Another process that writes for a moment is no slow statement of ours.
_LONG_WAIT_SECONDS: Final = 2.0


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
    if time.perf_counter() - began >= _LONG_WAIT_SECONDS:
        statements.log_slow("BEGIN IMMEDIATE", began)


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


try:
    import pysqlite3.dbapi2 as sqlite
except ImportError:
    import sqlite3 as sqlite

# Two connections that write or checkpoint at once can corrupt a WAL before these releases.
_SAFE_WAL = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
# Without an adapter the driver asks each None and each bool for attributes that they do not have, at twenty times the
# cost of a text (docs/performance.md).
sqlite.register_adapter(type(None), lambda _: None)
sqlite.register_adapter(bool, int)
# What a reader keeps of the file is void after the next commit; there are as many of them as read at once.
_READER_CACHE_KIB, _WRITER_CACHE_KIB = 4 * 1024, 16 * 1024
# Execution option of a SELECT whose inner joins SQLite must take in their order, not in its planner's.
JOINS_IN_ORDER: Final = "joins_in_order"


class _Compiler(SQLiteCompiler):
    def visit_join(self, join: Any, *arguments: Any, **options: Any) -> str:
        """Render inner joins as CROSS JOIN, which SQLite takes in the order given, where the statement asks for it."""
        if not self.execution_options.get(JOINS_IN_ORDER) or join.isouter or join.full:
            return str(super().visit_join(join, *arguments, **options))  # type: ignore[no-untyped-call]
        condition = self.process(join.onclause, **options | {"asfrom": False})
        left, right = (self.process(side, **options | {"asfrom": True}) for side in (join.left, join.right))
        return f"{left} CROSS JOIN {right} ON {condition}"

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        """Render the hint of a table: INDEXED BY, where the planner does not know what a condition costs."""
        return text


def wal_is_safe(version: tuple[int, ...] = sqlite.sqlite_version_info) -> bool:
    """True when this SQLite release has the fix of the WAL corruption bug (docs/reliability.md)."""
    return version >= _SAFE_WAL[0] or any(version[:2] == fixed[:2] and version >= fixed for fixed in _SAFE_WAL[1:])


def writing_engine(url: sa.URL) -> sa.Engine:
    """The engine with the one writing connection; its page cache stays valid as nobody else writes."""
    return reading_engine(url, connections=1, cache_kib=_WRITER_CACHE_KIB)


def reading_engine(url: sa.URL, *, connections: int = 48, cache_kib: int = _READER_CACHE_KIB) -> sa.Engine:
    """The engine whose connections read, as many as read at once."""
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    # The connection used last is used next: each keeps pages in memory, and few of them fill up that way.
    engine = sa.create_engine(
        url,
        module=sqlite,
        pool_size=connections,
        max_overflow=0,
        pool_use_lifo=True,
        connect_args={"timeout": 10},
        hide_parameters=True,
    )
    engine.dialect.statement_compiler = _Compiler
    statements.watch(engine)

    event.listen(engine, "connect", partial(_prepare, cache_kib=cache_kib))
    queue = file_of(url.database) if url.database else None
    event.listen(engine, "begin", partial(_begin, queue=queue))
    event.listen(engine, "checkin", _roll_back)
    return engine


def _prepare(connection: Any, _record: Any, *, cache_kib: int) -> None:
    """Set up a new connection of the driver."""
    connection.isolation_level = None
    for pragma in (
        f"journal_mode={'WAL' if wal_is_safe() else 'DELETE'}",
        "synchronous=FULL",
        "foreign_keys=ON",
        # Without it INSERT OR REPLACE removes a row past the triggers that keep it.
        "recursive_triggers=ON",
        f"busy_timeout={int(WAIT_SECONDS * 1000)}",
        f"cache_size=-{cache_kib}",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")
    # SQLite's own lower() knows ASCII alone: "Ṣọlá" would be found on PostgreSQL only.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _begin(connection: sa.Connection, *, queue: Path | None) -> None:
    # A deferred BEGIN that writes later fails "locked" at once, whatever the busy timeout.
    if connection.get_execution_options().get("write"):
        begin(connection, queue)
        statements.ask_version(connection)
    else:
        # It takes no lock and cannot fail, and SQLAlchemy's way to say it costs more than a small question.
        driver_connection(connection).execute("BEGIN")


def _roll_back(connection: Any, _record: Any) -> None:
    # After a COMMIT that failed, SQLAlchemy takes the transaction for ended, and SQLite does not.
    if connection is not None and connection.in_transaction:
        connection.rollback()


def _lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text
