"""Engines and transactions: `reading` for a consistent read, `writing` and `transact` for the only commits.

`reading_autocommit` saves round trips for independent statements; `reading_replica` may read from a replica.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
import stamina
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from core.settings import settings
from core.store.access import slow_statements
from core.store.access.db_errors import RETRIED_SQLSTATES, translate_db_errors
from core.store.access.group_commit import GroupCommitWriter
from core.store.access.replica import Replica
from core.store.access.scope import COUNTER_ENGINE, Scope, ScopedSession
from core.store.access.statements import driver_connection, install_transaction_events
from core.store.operations import secret_mark

try:
    import pysqlite3.dbapi2 as sqlite
except ImportError:
    import sqlite3 as sqlite

T = TypeVar("T")
# Two connections that write or checkpoint at once can corrupt a WAL before these releases.
_SAFE_WAL = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
_POSTGRES_CONNECTIONS = 40
# What a reader keeps of the file is void after the next commit; there are as many of them as read at once.
_READER_KEEPS_KIB, _WRITER_KEEPS_KIB = 4 * 1024, 16 * 1024
_TRUSTED_SECONDS, _RESTS_SINCE = 1.0, "rests since"
_PG_OPTIONS = "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"


def wal_is_safe(version: tuple[int, ...] = sqlite.sqlite_version_info) -> bool:
    """True when this SQLite release has the fix of the WAL corruption bug (docs/reliability.md)."""
    return version >= _SAFE_WAL[0] or any(version[:2] == fixed[:2] and version >= fixed for fixed in _SAFE_WAL[1:])


class Store:
    """One database. SQLite is written by one thread at a time, PostgreSQL by a pool."""

    def __init__(self, url: str, replica_url: str | None = None) -> None:
        self.url = sa.make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _sqlite_engine(self.url) if self.is_sqlite else _postgres_engine(self.url)
        self._asked = self.engine.execution_options(begins=None)
        self.writers = (_sqlite_writers(self.url) if self.is_sqlite else self.engine).execution_options(write=True)
        self._writer = GroupCommitWriter(self.writers) if self.is_sqlite else None
        self._counter = None if self.is_sqlite else _postgres_counter(self.url)
        self.replica = None if replica_url is None else Replica(replica_url, self.engine)
        self._threads: ThreadPoolExecutor | None = None
        self._opening = threading.Lock()

    @property
    def reads_never_block(self) -> bool:
        """True for SQLite in WAL mode: readers never wait for the writer."""
        return self.is_sqlite and wal_is_safe()

    @contextmanager
    def reading(self, scope: Scope) -> Iterator[ScopedSession]:
        """A read transaction: all that is read in it is of one moment, on either database (contract P2)."""
        with translate_db_errors(), self.engine.connect() as connection:
            yield from _session_on(connection, scope)

    @contextmanager
    def reading_autocommit(self, scope: Scope) -> Iterator[ScopedSession]:
        """Like `reading`, without the round trips of BEGIN and COMMIT; for statements that are independent of each
        other.

        Each statement sees what is committed when it runs. Streaming rows needs a transaction.
        """
        with translate_db_errors(), self._asked.connect() as connection:
            yield from _session_on(connection, scope)

    @contextmanager
    def reading_replica(self, scope: Scope, *, exact: bool = False) -> Iterator[ScopedSession]:
        """A read transaction for figures and exports: on the replica if it is near enough, else on the primary.

        `exact` is one snapshot that includes every write acknowledged before.
        """
        with ExitStack() as stack:
            session = stack.enter_context(self.replica.reading(scope, exact=exact)) if self.replica else None
            yield session or stack.enter_context(self.reading(scope))

    @contextmanager
    def writing(self, scope: Scope) -> Iterator[ScopedSession]:
        """A write transaction; commits when the block ends without an error."""
        with self._writer.exclusive(scope) if self._writer else self._committing(scope) as session:
            yield session

    def transact(self, scope: Scope, work: Callable[[ScopedSession], T]) -> T:
        """Run `work` in a write transaction and return its value after the commit; an error rolls everything back.

        On SQLite, waiting writes share a commit. On PostgreSQL a deadlock is retried, three attempts in all.
        """
        if self._writer:
            return self._writer.submit(scope, work).result()
        for attempt in stamina.retry_context(on=_worth_retrying, attempts=3, wait_initial=0.02, timeout=10):
            with attempt, self.writing(scope) as session:
                return work(session)
        raise AssertionError("a retry ends in a value or an error")

    def submit(self, scope: Scope, work: Callable[[ScopedSession], T]) -> "Future[T]":
        """Like `transact`, but returns a Future."""
        if self._writer:
            return self._writer.submit(scope, work)
        return self._writing_threads().submit(copy_context().run, self.transact, scope, work)

    @contextmanager
    def _committing(self, scope: Scope) -> Iterator[ScopedSession]:
        with translate_db_errors(), ScopedSession(self.writers, scope, info={COUNTER_ENGINE: self._counter}) as session:
            yield session
            session.commit()

    def close(self) -> None:
        """Finish submitted writes and close all connections."""
        if self._writer:
            self._writer.close()
        with self._opening:
            threads, self._threads = self._threads, None
        if threads:
            threads.shutdown()
        self.drop_idle_connections()
        if self._counter:
            self._counter.dispose()
        if self.replica:
            self.replica.close()

    def drop_idle_connections(self) -> None:
        """Close idle connections, so that the next ones use the newest planner statistics."""
        self.engine.dispose()
        self.writers.dispose()

    def _writing_threads(self) -> ThreadPoolExecutor:
        with self._opening:
            self._threads = self._threads or ThreadPoolExecutor(_POSTGRES_CONNECTIONS, "writer")
            return self._threads


def _session_on(connection: sa.Connection, scope: Scope) -> Iterator[ScopedSession]:
    # Begun here and not by the session, whose own account of a transaction costs more than a small question.
    connection.begin()
    with ScopedSession(connection, scope) as session:
        session.raw_connection = connection
        yield session


def _worth_retrying(error: Exception) -> bool:
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in RETRIED_SQLSTATES


def _sqlite_writers(url: sa.URL) -> sa.Engine:
    """The engine with the one writing connection; its page cache stays valid as nobody else writes."""
    return _sqlite_engine(url, connections=1, kept_kib=_WRITER_KEEPS_KIB)


def _sqlite_engine(url: sa.URL, *, connections: int = 48, kept_kib: int = _READER_KEEPS_KIB) -> sa.Engine:
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
    slow_statements.watch(engine)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            f"journal_mode={'WAL' if wal_is_safe() else 'DELETE'}",
            "synchronous=FULL",
            "foreign_keys=ON",
            "busy_timeout=10000",
            f"cache_size=-{kept_kib}",
            "temp_store=MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite's own lower() knows ASCII alone: "Ṣọlá" would be found on PostgreSQL only.
        connection.create_function("lower", 1, _lower, deterministic=True)

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        # A deferred BEGIN that writes later fails "locked" at once, whatever the busy timeout.
        if connection.get_execution_options().get("write"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            # It takes no lock and cannot fail, and SQLAlchemy's way to say it costs more than a small question.
            driver_connection(connection).execute("BEGIN")

    @event.listens_for(engine, "checkin")
    def _leave_nothing_open(connection: Any, _record: Any) -> None:
        # After a COMMIT that failed, SQLAlchemy takes the transaction for ended, and SQLite does not.
        if connection is not None and connection.in_transaction:
            connection.rollback()

    return engine


def _lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text


def _postgres_engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(
        url,
        pool_size=_POSTGRES_CONNECTIONS,
        max_overflow=8,
        # The one used last is used next, and needs no ping.
        pool_use_lifo=True,
        connect_args={"options": _PG_OPTIONS, "connect_timeout": 5},
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )
    install_transaction_events(engine)
    slow_statements.watch(engine)

    @event.listens_for(engine, "connect")
    @event.listens_for(engine, "checkin")
    def _note_when(_connection: Any, record: Any) -> None:
        record.info[_RESTS_SINCE] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _ping_what_rested(connection: Any, record: Any, _proxy: Any) -> None:
        # A ping is a round trip for each transaction; a connection that worked a moment ago does without.
        rested = time.monotonic() - record.info.get(_RESTS_SINCE, 0.0)
        if rested > _TRUSTED_SECONDS and not _answers(engine, connection):
            raise sa.exc.InvalidatePoolError

    return engine


def _answers(engine: sa.Engine, connection: Any) -> bool:
    try:
        return bool(engine.dialect.do_ping(connection))
    except engine.dialect.loaded_dbapi.Error:
        return False


def _postgres_counter(url: sa.URL) -> sa.Engine:
    """Connections for number series: autocommit, without waiting for the disk."""
    return sa.create_engine(
        url,
        pool_size=4,
        max_overflow=4,
        connect_args={"options": f"{_PG_OPTIONS} -c synchronous_commit=off", "connect_timeout": 5},
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        hide_parameters=True,
    )


@cache
def store() -> Store:
    """The store of this process."""
    opened = Store(settings().database_url, settings().replica_url)
    try:
        with translate_db_errors(), opened.engine.connect() as connection:
            secret_mark.refuse_other(connection)
    except BaseException:
        opened.close()
        raise
    return opened


def reading(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """`Store.reading` of this process's store."""
    return store().reading(scope)


def reading_autocommit(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """`Store.reading_autocommit` of this process's store."""
    return store().reading_autocommit(scope)


def reading_replica(scope: Scope, *, exact: bool = False) -> AbstractContextManager[ScopedSession]:
    """`Store.reading_replica` of this process's store."""
    return store().reading_replica(scope, exact=exact)


def writing(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """`Store.writing` of this process's store."""
    return store().writing(scope)
