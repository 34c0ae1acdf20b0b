"""Engines and transactions: `reading` for a consistent read, `writing` and `transact` for the only commits.

`reading_autocommit` saves round trips for independent statements; `reading_replica` may read from a replica.
"""

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from contextvars import copy_context
from functools import cache
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from core.errors import CoverdeskError, StoreUnavailable
from core.settings import settings
from core.store.access import sqlite, statements
from core.store.access.group_commit import GroupCommitWriter
from core.store.access.replica import Replica
from core.store.access.scope import COUNTER_ENGINE, Scope, ScopedSession, use_connection
from core.store.access.statements import (
    NOTIFY_SECONDS,
    PAGE_COST,
    WRITTEN,
    add_options,
    driver_connection,
    gave_way,
    get_reason,
    install_transaction_events,
    translate_db_errors,
)
from core.store.operations import secret_mark

_LOOK_SECONDS, _LOOKS = 0.2, 10
# The end of a process waits for a thread that waits for a notification.
_LONGEST_SECONDS: Final = 0.5


class CommitWatch(Protocol):
    """Waits for commits; used by one thread at a time."""

    def wait(self, stopping: threading.Event) -> bool:
        """Return True after a commit since the last call, False once `stopping` is set, and perhaps before."""
        ...

    def close(self) -> None:
        """Close its connection."""
        ...


class SqliteWatch:
    """Looks at `data_version`, which another connection's commit changes, also that of another process."""

    def __init__(self, engine: sa.Engine) -> None:
        # Detached, as the number is that of one connection, and the pool's belong to whoever reads.
        self._connection = engine.raw_connection()
        self._connection.detach()
        self._driver: Any = self._connection.dbapi_connection
        self._seen = self._version()

    def wait(self, stopping: threading.Event) -> bool:
        """See `CommitWatch`."""
        before, self._seen = self._seen, self._version()
        for _ in range(_LOOKS):
            if self._seen != before or stopping.wait(_LOOK_SECONDS):
                break
            self._seen = self._version()
        return self._seen != before

    def close(self) -> None:
        """Close its connection."""
        self._connection.close()

    def _version(self) -> int:
        return int(self._driver.execute("PRAGMA data_version").fetchone()[0])


class PostgresWatch:
    """Listens on a connection of its own, which is opened again after the server was away."""

    def __init__(self, url: sa.URL) -> None:
        options = {"connect_timeout": 5}
        self._engine = sa.create_engine(
            url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT", connect_args=options, hide_parameters=True
        )
        self._connection: sa.Connection | None = None
        self._is_second = False

    def wait(self, stopping: threading.Event) -> bool:
        """See `CommitWatch`; a commit of the tenth of a second after a notification is told with it a second time."""
        if self._is_second:
            self._is_second = False
            stopping.wait(NOTIFY_SECONDS * 1.5)
            return True
        try:
            if self._connection is None:
                self._listen()
                return not stopping.is_set()  # nobody was told of what was committed before this connection listened
            driver: Any = driver_connection(self._connection)
            self._is_second = any(True for _ in driver.notifies(timeout=_LONGEST_SECONDS, stop_after=1))
        except (sa.exc.DBAPIError, self._engine.dialect.loaded_dbapi.Error):
            self.close()
            stopping.wait(_LONGEST_SECONDS)
        return self._is_second

    def close(self) -> None:
        """Close its connection."""
        with suppress(sa.exc.DBAPIError):
            if self._connection:
                self._connection.close()
        self._connection = None

    def _listen(self) -> None:
        self._connection = self._engine.connect()
        self._connection.exec_driver_sql(f"LISTEN {WRITTEN}")


CONNECTIONS: Final = 40
_TRUSTED_SECONDS, _RESTS_SINCE = 1.0, "rests since"
_PG_OPTIONS = (
    f"-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000 {PAGE_COST}"
)


def open_engine(url: sa.URL) -> sa.Engine:
    """The engine of all transactions; its statements are pipelined."""
    engine = sa.create_engine(
        url,
        pool_size=CONNECTIONS,
        max_overflow=8,
        # The one used last is used next, and needs no ping.
        pool_use_lifo=True,
        connect_args={"options": add_options(_PG_OPTIONS, url), "connect_timeout": 5},
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )
    install_transaction_events(engine)
    statements.read_sums_whole(engine)
    statements.watch(engine)

    @event.listens_for(engine, "connect")
    @event.listens_for(engine, "checkin")
    def _record_time(_connection: Any, record: Any) -> None:
        record.info[_RESTS_SINCE] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _ping_idle_connection(connection: Any, record: Any, _proxy: Any) -> None:
        # A ping is a round trip for each transaction; a connection that worked a moment ago does without.
        rested = time.monotonic() - record.info.get(_RESTS_SINCE, 0.0)
        if rested > _TRUSTED_SECONDS and not _ping(engine, connection):
            raise sa.exc.InvalidatePoolError

    return engine


def _ping(engine: sa.Engine, connection: Any) -> bool:
    try:
        return bool(engine.dialect.do_ping(connection))
    except engine.dialect.loaded_dbapi.Error:
        return False


def open_counter(url: sa.URL) -> sa.Engine:
    """Connections for number series: autocommit, without waiting for the disk."""
    return sa.create_engine(
        url,
        pool_size=4,
        max_overflow=4,
        connect_args={"options": add_options(f"{_PG_OPTIONS} -c synchronous_commit=off", url), "connect_timeout": 5},
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        hide_parameters=True,
    )


T = TypeVar("T")
P = ParamSpec("P")


class Store:
    """One database. SQLite is written by one thread at a time, PostgreSQL by a pool."""

    def __init__(self, url: str, replica_url: str | None = None) -> None:
        # A table that nothing joins would give each row as often as it has rows, and sums of money to match.
        warnings.filterwarnings("error", "SELECT statement has a cartesian product", sa.exc.SAWarning)
        self.url = sa.make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = sqlite.reading_engine(self.url) if self.is_sqlite else open_engine(self.url)
        self._autocommit_engine = self.engine.execution_options(begins=None)
        writers = sqlite.writing_engine(self.url) if self.is_sqlite else self.engine
        self.writers = writers.execution_options(write=True)
        self._writer = GroupCommitWriter(self.writers) if self.is_sqlite else None
        self._counter = None if self.is_sqlite else open_counter(self.url)
        self.replica = None if replica_url is None else Replica(replica_url, self.engine)
        self._threads: ThreadPoolExecutor | None = None
        self._opening = threading.Lock()

    @property
    def reads_never_block(self) -> bool:
        """True for SQLite in WAL mode: readers never wait for the writer."""
        return self.is_sqlite and sqlite.wal_is_safe()

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
        with translate_db_errors(), self._autocommit_engine.connect() as connection:
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
        """A write transaction; commits when the block ends without an error.

        What a refusal wants kept (`CoverdeskError.kept`) is written after the rollback, in a transaction of its own.
        """
        opened = self._writer.exclusive(scope) if self._writer else self._committing(scope)
        with self._keeping_refusal(), opened as session:
            yield session

    def transact(self, scope: Scope, work: Callable[[ScopedSession], T]) -> T:
        """Run `work` in a write transaction and return its value after the commit; an error rolls everything back.

        On SQLite, waiting writes share a commit. On PostgreSQL a deadlock is retried, three attempts in all.
        """
        if self._writer:
            with self._keeping_refusal():
                return self._writer.submit(scope, work).result()
        # Imported on first use: with it comes the logger, which a command that reads does without.
        import stamina  # noqa: PLC0415

        for attempt in stamina.retry_context(on=gave_way, attempts=3, wait_initial=0.02, timeout=10):
            with attempt, self.writing(scope) as session:
                return work(session)
        raise AssertionError("a retry ends in a value or an error")

    def submit(self, scope: Scope, work: Callable[[ScopedSession], T]) -> "Future[T]":
        """Like `transact`, but returns a Future."""
        if self._writer:
            return self._writer.submit(scope, work)
        return self._writing_threads().submit(copy_context().run, self.transact, scope, work)

    @contextmanager
    def _keeping_refusal(self) -> Iterator[None]:
        try:
            yield
        except CoverdeskError as error:
            kept, error.kept = error.kept, None
            if kept is not None:
                self.transact(Scope.system(), kept)
            raise

    @contextmanager
    def _committing(self, scope: Scope) -> Iterator[ScopedSession]:
        info = {COUNTER_ENGINE: self._counter}
        with translate_db_errors(is_writing=True), ScopedSession(self.writers, scope, info=info) as session:
            yield session
            session.commit()

    def watch_commits(self) -> CommitWatch:
        """Wait for commits of any process; to be closed by whoever waits."""
        return SqliteWatch(self.engine) if self.is_sqlite else PostgresWatch(self.url)

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
            self._threads = self._threads or ThreadPoolExecutor(CONNECTIONS, "writer")
            return self._threads


def _session_on(connection: sa.Connection, scope: Scope) -> Iterator[ScopedSession]:
    # Begun here and not by the session, whose own account of a transaction costs more than a small question.
    connection.begin()
    with ScopedSession(connection, scope) as session:
        use_connection(session, connection)
        yield session


@cache
def store() -> Store:
    """The store of this process."""
    opened = Store(settings().database_url, settings().replica_url)
    try:
        with translate_db_errors(), opened.engine.connect() as connection:
            secret_mark.refuse_other(connection)
    except sa.exc.DatabaseError as error:
        # What is no database, or an option of the address that its driver does not know.
        opened.close()
        raise StoreUnavailable(get_reason(error.orig)) from error
    except BaseException:
        opened.close()
        raise
    return opened


def reading(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """`Store.reading` of this process's store."""
    return store().reading(scope)


def read_in(scope: Scope, work: Callable[Concatenate[ScopedSession, P], T], /, *given: P.args, **named: P.kwargs) -> T:
    """Return what one function reads in a read transaction of its own, such as `read_in(scope, get_policy, key)`."""
    with reading(scope) as session:
        return work(session, *given, **named)


def reading_autocommit(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """`Store.reading_autocommit` of this process's store."""
    return store().reading_autocommit(scope)


def reading_replica(scope: Scope, *, exact: bool = False) -> AbstractContextManager[ScopedSession]:
    """`Store.reading_replica` of this process's store."""
    return store().reading_replica(scope, exact=exact)


def writing(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """`Store.writing` of this process's store."""
    return store().writing(scope)


def transact(scope: Scope, work: Callable[[ScopedSession], T]) -> T:
    """`Store.transact` of this process's store."""
    return store().transact(scope, work)
