"""Works at loan books: reads them, sells or ends their loans chunk by chunk, and gives up those nobody confirmed (B6).

No transaction is open while a file is read or a chunk is prepared. A worker that is stopped lets go of its book, and
one that is killed is followed by another when its lease is over. `python -m core.dispatch.loan_books PARENT` works
until nothing waits, or until the process of this number has ended.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Self

import structlog

from core import telemetry
from core.errors import InvalidInput, StateForbids
from core.services.selling.loan_books import books, carrying_out, reading
from core.services.selling.loan_books.carrying_out import Chunk
from core.services.selling.loan_books.columns import Heading
from core.services.selling.loan_books.judging import Judged
from core.services.selling.loan_books.preview import Tally
from core.services.selling.loan_books.reading import Job
from core.states.loan_books import LoanBookState
from core.store import access
from core.store.access import Scope, Store
from core.store.operations import statistics
from core.store.schema.tables import LoanBook

_log = structlog.get_logger("coverdesk.worker")
_SYSTEM = Scope.system()
_TO_READ = (LoanBookState.UPLOADED, LoanBookState.READING)
_TO_SELL = (LoanBookState.CONFIRMED, LoanBookState.SELLING)
_LOOK_SECONDS = 0.2


def never() -> bool:
    """Say that a worker is not to stop."""
    return False


def work_apart(store: Store, is_stopping: Callable[[], bool]) -> None:
    """Work at the books that wait in a process of its own: its rows would hold up every request that is served here."""
    with store.reading(_SYSTEM) as session:
        if not books.has_work(session):
            return
    command = [sys.executable, "-m", "core.dispatch.loan_books", str(os.getpid())]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 our own module
    while process.poll() is None:
        if is_stopping():
            process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_SECONDS)


def main() -> None:
    """Work at the books that wait.

    Its priority is that of a server: a chunk holds the ends of the audit chains, and single sales would wait for them
    while it waits for a processor.
    """
    parent, stopping = int(sys.argv[1]), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    telemetry.configure_logs()
    opened = access.store()
    try:
        work(opened, lambda: stopping.is_set() or os.getppid() != parent)
    finally:
        opened.close()


def work(store: Store, is_stopping: Callable[[], bool] = never) -> int:
    """Work at every book that waits; returns the number of books that were worked at."""
    with store.reading(_SYSTEM) as session:
        if not books.has_work(session):
            return 0
    store.transact(_SYSTEM, books.expire)
    count = 0
    for states, run in ((_TO_READ, _read), (_TO_SELL, _carry_out)):
        lease = partial(reading.lease, states=states)
        while not is_stopping() and (job := store.transact(_SYSTEM, lease)) is not None:
            run(store, job, is_stopping)
            count += 1
    return count


class _Reader:
    """Reads one book: judges each chunk in a transaction that reads, and keeps it in one that writes."""

    def __init__(self, store: Store, job: Job, is_stopping: Callable[[], bool]) -> None:
        self._store, self.job, self._is_stopping = store, job, is_stopping
        self.tally = Tally()
        with store.reading(_SYSTEM) as session:
            self.rules = reading.get_rules(session, job.book)
            self.content = reading.get_content(session, job)
        self.is_whole = True

    def take(self, heading: Heading, rows: list[Judged]) -> bool:
        """Judge and keep a chunk; False where the reading ends."""
        if self._is_stopping():
            self._store.transact(_SYSTEM, lambda session: reading.release(session, self.job))
            self.is_whole = False
            return False
        statistics.refresh_grown(self._store)
        with self._store.reading(_SYSTEM) as session:
            reading.judge(session, self.job.book, self.rules, rows)
        for row in rows:
            self.tally.add(row, self.rules.product, self.rules.benefits)
        held = self._store.transact(_SYSTEM, lambda session: reading.keep(session, self.job, heading, rows))
        self.is_whole = held is not None
        self.job = held or self.job
        return self.is_whole


def _read(store: Store, job: Job, is_stopping: Callable[[], bool]) -> None:
    begun = store.transact(_SYSTEM, lambda session: reading.begin(session, job))
    if begun is None:
        return
    reader = _Reader(store, begun, is_stopping)
    try:
        reading.read(begun, reader.content, reader.take)
    except InvalidInput as fault:
        reason = str(fault)
        store.transact(_SYSTEM, lambda session: reading.refuse(session, reader.job, reason))
        return
    if reader.is_whole:
        store.transact(_SYSTEM, lambda session: reading.finish(session, reader.job, reader.tally, reader.rules))


def _carry_out(store: Store, job: Job, is_stopping: Callable[[], bool]) -> None:
    """Carry out a book, chunk by chunk; what would be refused again pauses it, with why."""
    held: Job | None = job
    try:
        with _Drafting(store, job.book) as drafting:
            while held is not None and not is_stopping():
                job, chunk = held, drafting.take()
                work = partial(carrying_out.carry_out, job=job, chunk=chunk, meanwhile=drafting.go_ahead)
                held = store.transact(drafting.scope, work)
    except (StateForbids, InvalidInput) as refused:
        reason = str(refused)
        _log.warning("loan book paused", reason=reason)
        store.transact(_SYSTEM, lambda session: books.pause(session, job.id, actor="system", reason=reason))
        return
    if held is not None:
        store.transact(_SYSTEM, partial(reading.release, job=held))


class _Drafting:
    """Prepares the chunks of a book: on PostgreSQL each while its server writes the one before it.

    Earlier it would only take turns with the selling, and be done when the server is waited for. On SQLite this process
    writes itself: drafting meanwhile would lengthen the time in which others wait.
    """

    def __init__(self, store: Store, book: LoanBook) -> None:
        self.scope = Scope.of(book.distributor_id, is_live=book.is_live)
        self._store, self._book = store, book
        self._size = carrying_out.CHUNKS["sqlite" if store.is_sqlite else "postgresql"]
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="loan-book")
        self._next: Future[Chunk] | None = None
        self._after = book.done_to

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()

    def take(self) -> Chunk:
        """Return the next chunk."""
        begun, self._next = self._next, None
        chunk = begun.result() if begun else self._prepare(self._after)
        self._after = chunk.last
        return chunk

    def go_ahead(self) -> None:
        """Begin with the chunk after the one that is written now; once, however often its transaction is tried."""
        if not self._store.is_sqlite and self._next is None:
            self._next = self._thread.submit(copy_context().run, self._prepare, self._after)

    def _prepare(self, after: int) -> Chunk:
        statistics.refresh_grown(self._store)
        with self._store.reading(self.scope) as session:
            return carrying_out.prepare(session, self._book, self._size, after)


if __name__ == "__main__":
    main()
