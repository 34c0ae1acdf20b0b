"""The one thread that writes into a SQLite file: one commit for everything that waited while the last one ran.

Making a commit durable costs far more than writing its rows. So the works that wait are done in one transaction,
each behind a savepoint of its own, and nobody hears of his before it is on the disk.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import sqlalchemy as sa

from core.errors import StoreUnavailable
from core.store.access.db_errors import told_apart
from core.store.access.fair_lock import WAIT_SECONDS, Turns
from core.store.access.scope import Scope, ScopedSession
from core.store.access.statements import driver_of, say
from core.store.operations import disk_space

T = TypeVar("T")
# Enough to share the cost of a commit; the first to come must not wait for ever more others.
_MOST_TOGETHER = 64
_LONGEST_SECONDS = 0.02


@dataclass(slots=True)
class _Work:
    """What somebody wants to have written, and where he waits for it."""

    scope: Scope
    work: Callable[[ScopedSession], Any]
    done: "Future[Any]" = field(default_factory=Future)
    context: Context = field(default_factory=copy_context)
    until: float = field(default_factory=lambda: time.monotonic() + WAIT_SECONDS)
    value: Any = None

    def refuse(self, error: BaseException) -> None:
        """Tell who waits, unless nobody does any more, that nothing was tried."""
        if self.done.set_running_or_notify_cancel():
            self.done.set_exception(error)


class _Group:
    """Works in one transaction."""

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
        """True while one more may join."""
        few = len(self._written) < _MOST_TOGETHER
        return few and self._failure is None and time.monotonic() < self._until

    def add(self, asked: _Work) -> None:
        """Do one work; nothing of one that fails stays, and who asked for it hears so at once."""
        if not asked.done.set_running_or_notify_cancel():
            return
        try:
            asked.value = asked.context.run(self._value, asked)
        except BaseException as error:
            asked.done.set_exception(error)
        else:
            self._written.append(asked)

    def _value(self, asked: _Work) -> Any:
        with told_apart():
            say(self._connection, "SAVEPOINT work")
            # What a work does through entities has a savepoint of the session's own, inside this one.
            session = ScopedSession(self._connection, asked.scope, join_transaction_mode="create_savepoint")
            session.held = self._connection
            try:
                value = asked.work(session)
                session.commit()
            except BaseException:
                self._let_go(session, "ROLLBACK TO work")
                raise
            self._let_go(session)
            return value

    def _let_go(self, session: ScopedSession, *first: str) -> None:
        """Leave the savepoint; what cannot be left, or taken back to it, must not be committed."""
        try:
            session.close()
            driver: Any = driver_of(self._connection)
            # A full disk takes the whole transaction back, and with it what the others wrote.
            if not driver.in_transaction:
                raise StoreUnavailable
            for statement in (*first, "RELEASE work"):
                say(self._connection, statement)
        except BaseException as error:
            self._failure = error
            raise

    def end(self) -> None:
        """Commit, and tell everybody; when that fails, nothing was written and everybody hears so."""
        try:
            if self._failure is None and self._written:
                self._connection.commit()
        except BaseException as error:
            disk_space.notice(error)
            self._failure = error
        try:
            self._connection.close()
        finally:
            for asked in self._written:
                self._tell(asked)

    def _tell(self, asked: _Work) -> None:
        if self._failure is None:
            asked.done.set_result(asked.value)
            return
        unavailable = StoreUnavailable()
        unavailable.__cause__ = self._failure
        asked.done.set_exception(unavailable)


class OneWriter:
    """The way to write from any thread of this process; the file's own lock keeps other processes away."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._turns = Turns()
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, scope: Scope, work: Callable[[ScopedSession], T]) -> "Future[T]":
        """What will hold the value of a work once it is on the disk, or its error when nothing of it is."""
        self._turns.refuse_holder()
        asked = _Work(scope, work)
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
                self._thread.start()
            self._queue.put(asked)
        return asked.done

    @contextmanager
    def alone(self, scope: Scope) -> Iterator[ScopedSession]:
        """A transaction of its own in the caller's thread; it may be long."""
        self._turns.refuse_holder()
        with told_apart():
            self._turns.take(time.monotonic() + WAIT_SECONDS)
            try:
                with ScopedSession(self._engine, scope) as session:
                    yield session
                    session.commit()
            finally:
                self._turns.give_back()

    def close(self) -> None:
        """Finish what was asked for, and stop; whatever is asked later starts anew."""
        with self._starting:
            thread, self._thread = self._thread, None
            if thread:
                self._queue.put(None)
                thread.join()

    def _run(self) -> None:
        while (asked := self._queue.get()) is not None:
            try:
                self._turns.take(asked.until)
            except StoreUnavailable as error:
                asked.refuse(error)
                continue
            try:
                self._write(asked)
            finally:
                self._turns.give_back()

    def _write(self, asked: _Work) -> None:
        """One transaction, for this work and for those that wait behind it."""
        try:
            with told_apart():
                group = _Group(self._engine)
        except BaseException as error:
            asked.refuse(error)
            return
        group.add(asked)
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
