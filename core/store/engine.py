"""The two ways into the store: `reading` for a consistent look, `writing` for the only commit."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
import stamina
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError

from core.errors import StoreUnavailable
from core.settings import settings
from core.store.scope import Scope, ScopedSession

try:
    import pysqlite3.dbapi2 as sqlite
except ImportError:
    import sqlite3 as sqlite

T = TypeVar("T")
# Two connections that write or checkpoint at once can corrupt a WAL before these releases.
_SAFE_WAL = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
_PG_OPTIONS = "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"
_WRITER_WAIT_SECONDS = 10
_RETRIED = {"40001", "40P01"}


def wal_is_safe(version: tuple[int, ...] = sqlite.sqlite_version_info) -> bool:
    """True when this SQLite has the fix for the WAL corruption bug (docs/reliability.md)."""
    return version >= _SAFE_WAL[0] or any(version[:2] == fixed[:2] and version >= fixed for fixed in _SAFE_WAL[1:])


class Store:
    """One database: an engine for readers, one for writers, and a gate for SQLite's single writer."""

    def __init__(self, url: str) -> None:
        self.url = sa.make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _sqlite_engine(self.url) if self.is_sqlite else _postgres_engine(self.url)
        self._writers = self.engine.execution_options(write=True)
        self._gate = threading.Lock()

    @contextmanager
    def reading(self, scope: Scope, *, snapshot: bool = False) -> Iterator[ScopedSession]:
        """A read transaction: one look on SQLite, one per statement on PostgreSQL unless a `snapshot` is asked for."""
        with _told_apart(), ScopedSession(self.engine, scope) as session:
            if snapshot and not self.is_sqlite:
                session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
            yield session
            session.rollback()

    @contextmanager
    def writing(self, scope: Scope) -> Iterator[ScopedSession]:
        """A write transaction; it commits when the block ends well and leaves nothing otherwise."""
        with _told_apart(), self._turn(), ScopedSession(self._writers, scope) as session:
            yield session
            session.commit()

    def transact(self, scope: Scope, work: Callable[[ScopedSession], T]) -> T:
        """`work` in a write transaction, again when PostgreSQL found a deadlock (three times at most)."""
        for attempt in stamina.retry_context(on=_worth_retrying, attempts=3, wait_initial=0.02, timeout=10):
            with attempt, self.writing(scope) as session:
                return work(session)
        raise AssertionError("a retry ends in a value or an error")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        if not self._gate.acquire(timeout=_WRITER_WAIT_SECONDS):
            raise StoreUnavailable
        try:
            yield
        finally:
            self._gate.release()

    def close(self) -> None:
        """Let go of every connection."""
        self.engine.dispose()


def _worth_retrying(error: Exception) -> bool:
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in _RETRIED


@contextmanager
def _told_apart() -> Iterator[None]:
    """Tell a store that is gone or busy from a defect in a statement."""
    try:
        yield
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or ""
        gone = error.connection_invalidated or state[:2] in {"08", "53", "57"} or state == "55P03"
        if gone or (type(error.orig).__name__ == "OperationalError" and state not in _RETRIED):
            raise StoreUnavailable from error
        raise
    except sa.exc.TimeoutError as error:
        raise StoreUnavailable from error


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, module=sqlite, pool_size=48, max_overflow=0, connect_args={"timeout": 10})

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            f"journal_mode={'WAL' if wal_is_safe() else 'DELETE'}",
            "synchronous=FULL",
            "foreign_keys=ON",
            "busy_timeout=10000",
            "cache_size=-65536",
            "temp_store=MEMORY",
        ):
            connection.execute(f"PRAGMA {pragma}")
        # SQLite's own lower() knows ASCII alone: "Ṣọlá" would be found on PostgreSQL only.
        connection.create_function("lower", 1, _lower, deterministic=True)

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        # A deferred BEGIN that writes later fails "locked" at once, whatever the busy timeout.
        write = connection.get_execution_options().get("write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _lower(text: Any) -> Any:
    return text.lower() if isinstance(text, str) else text


def _postgres_engine(url: sa.URL) -> sa.Engine:
    return sa.create_engine(
        url,
        pool_size=40,
        max_overflow=8,
        pool_pre_ping=True,
        connect_args={"options": _PG_OPTIONS, "connect_timeout": 5},
        isolation_level="READ COMMITTED",
    )


@cache
def store() -> Store:
    """The store of this process."""
    return Store(settings().database_url)


def reading(scope: Scope, *, snapshot: bool = False) -> AbstractContextManager[ScopedSession]:
    """A read transaction on this process's store."""
    return store().reading(scope, snapshot=snapshot)


def writing(scope: Scope) -> AbstractContextManager[ScopedSession]:
    """A write transaction on this process's store."""
    return store().writing(scope)
