"""Group commit for SQLite: one thread writes, and writes that wait share one commit.

Making a commit durable costs far more than writing its rows. Waiting writes run in one transaction, each behind a
savepoint of its own, and their futures resolve only after the commit.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from core.errors import StoreUnavailable
from core.store.access.scope import Scope, ScopedSession, use_connection
from core.store.access.statements import driver_connection, execute, get_reason, translate_db_errors
from core.store.operations import local_files

WAIT_SECONDS = 10.0


class FairLock:
    """A lock that is granted in the order of arrival."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._holder: int | None = None
        self._is_locked = False

    def refuse_nested(self) -> None:
        """Raise RuntimeError in the thread that holds the lock: a nested write would wait for itself."""
        if self._holder == threading.get_ident():
            raise RuntimeError("a write inside a write would wait for itself")

    def acquire(self, until: float) -> None:
        """Wait for the lock; StoreUnavailable after `until` (monotonic seconds)."""
        with self._lock:
            waiter = threading.Lock() if self._is_locked else None
            self._is_locked = True
            if waiter:
                waiter.acquire()
                self._waiting.append(waiter)
        if waiter and not waiter.acquire(timeout=max(until - time.monotonic(), 0)):
            self._give_up(waiter)
        self._holder = threading.get_ident()

    def _give_up(self, ours: threading.Lock) -> None:
        with self._lock:
            # Otherwise the turn was given to us in this very moment, and is ours after all.
            if ours in self._waiting:
                self._waiting.remove(ours)
                raise StoreUnavailable("the writes before it took too long")

    def release(self) -> None:
        """Pass the lock to the next thread in line."""
        with self._lock:
            self._holder = None
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._is_locked = False


T = TypeVar("T")
# Enough to share the cost of a commit; the first to come must not wait for ever more others.
_MAX_GROUP = 64
_LONGEST_SECONDS = 0.02


@dataclass(slots=True)
class _Work:
    """One submitted write and the future of its result."""

    scope: Scope
    work: Callable[[ScopedSession], Any]
    done: "Future[Any]" = field(default_factory=Future)
    context: Context = field(default_factory=copy_context)
    until: float = field(default_factory=lambda: time.monotonic() + WAIT_SECONDS)
    value: Any = None

    def refuse(self, error: BaseException) -> None:
        """Fail the future, unless it was cancelled: nothing was written."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


class _Group:
    """Writes that share one transaction."""

    def __init__(self, engine: sa.Engine) -> None:
        self._connection = engine.connect()
        try:
            self._connection.begin()
        except BaseException:
            self._connection.close()
            raise
        self._written: list[_Work] = []
        self._until = time.monotonic() + _LONGEST_SECONDS
        self._failure: BaseException | None = None

    @property
    def has_room(self) -> bool:
        """True while another write may join this transaction."""
        few = len(self._written) < _MAX_GROUP
        return few and self._failure is None and time.monotonic() < self._until

    def add(self, item: _Work) -> None:
        """Run one write; a failing one is rolled back to its savepoint and its future fails at once."""
        if not item.done.set_running_or_notify_cancel():
            return
        try:
            item.value = item.context.run(self._run_in_savepoint, item)
        except BaseException as error:
            item.done.set_exception(error)
        else:
            self._written.append(item)

    def _run_in_savepoint(self, item: _Work) -> Any:
        with translate_db_errors():
            execute(self._connection, "SAVEPOINT work")
            # What a work does through entities has a savepoint of the session's own, inside this one.
            session = ScopedSession(self._connection, item.scope, join_transaction_mode="create_savepoint")
            use_connection(session, self._connection)
            try:
                value = item.work(session)
                session.commit()
            except BaseException:
                self._release(session, "ROLLBACK TO work")
                raise
            self._release(session)
            return value

    def _release(self, session: ScopedSession, *first: str) -> None:
        """Release the savepoint; if that fails, the whole transaction must not be committed."""
        try:
            session.close()
            driver: Any = driver_connection(self._connection)
            # A full disk takes the whole transaction back, and with it what the others wrote.
            if not driver.in_transaction:
                raise StoreUnavailable("the database took the transaction back, as it does when its disk is full")
            for statement in (*first, "RELEASE work"):
                execute(self._connection, statement)
        except BaseException as error:
            self._failure = error
            raise

    def end(self) -> None:
        """Commit and resolve all futures; if the commit fails, fail them all."""
        try:
            if self._failure is None and self._written:
                self._connection.commit()
        except BaseException as error:
            local_files.notice(error)
            self._failure = error
        try:
            self._connection.close()
        finally:
            for item in self._written:
                self._resolve(item)

    def _resolve(self, item: _Work) -> None:
        if self._failure is None:
            item.done.set_result(item.value)
            return
        unavailable = StoreUnavailable(_get_reason(self._failure))
        unavailable.__cause__ = self._failure
        item.done.set_exception(unavailable)


def _get_reason(error: BaseException) -> str:
    """Return what the database said; of any other failure nothing, as its words may be somebody's data."""
    if isinstance(error, StoreUnavailable):
        return error.reason
    return get_reason(error.orig) if isinstance(error, DBAPIError) else ""


class GroupCommitWriter:
    """Runs writes from any thread of this process; other processes are kept out by SQLite's file lock."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._lock = FairLock()
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, scope: Scope, work: Callable[[ScopedSession], T]) -> "Future[T]":
        """Queue a write; the future resolves after its commit, or fails when nothing was written."""
        self._lock.refuse_nested()
        item = _Work(scope, work)
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()
            self._queue.put(item)
        return item.done

    @contextmanager
    def exclusive(self, scope: Scope) -> Iterator[ScopedSession]:
        """A write transaction of its own in the caller's thread, for long writes."""
        self._lock.refuse_nested()
        with translate_db_errors():
            self._lock.acquire(time.monotonic() + WAIT_SECONDS)
            try:
                with ScopedSession(self._engine, scope) as session:
                    yield session
                    session.commit()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Finish queued writes and stop the thread; a later `submit` starts it again."""
        with self._starting:
            thread, self._thread = self._thread, None
            if thread:
                self._queue.put(None)
                thread.join()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self._lock.acquire(item.until)
            except StoreUnavailable as error:
                item.refuse(error)
                continue
            try:
                self._write(item)
            finally:
                self._lock.release()

    def _write(self, item: _Work) -> None:
        """Run this write and those queued behind it in one transaction."""
        try:
            with translate_db_errors():
                group = _Group(self._engine)
        except BaseException as error:
            item.refuse(error)
            return
        group.add(item)
        while group.has_room and (following := self._next()):
            group.add(following)
        group.end()

    def _next(self) -> _Work | None:
        try:
            following = self._queue.get_nowait()
        except Empty:
            return None
        if following is None:
            self._queue.put(None)  # to be met again when this transaction has ended
        return following
