"""Works at loan books: reads them, sells or ends their loans chunk by chunk, and gives up those nobody confirmed (B6).

No transaction is open while a file is read or a chunk is prepared. A worker that is stopped lets go of its book, and
one that is killed is followed by another when its lease is over. `python -m core.dispatch.loan_books PARENT` works
until nothing waits, or until the process of this number has ended.
"""

import gc
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

import structlog

from core import telemetry
from core.errors import InvalidInput, OtherRelease, StateForbids
from core.services.selling.loan_books import books, carrying_out, reading, row_values
from core.services.selling.loan_books.carrying_out import Chunk
from core.services.selling.loan_books.judging import Judged, Tally
from core.services.selling.loan_books.reading import Job
from core.services.selling.loan_books.row_values import Heading
from core.states.loan_books import LoanBookState
from core.store import access
from core.store.access import Scope, Store, gave_way
from core.store.operations import statistics
from core.store.schema import versions

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
    versions.write_at_own_version()
    opened = access.store()
    # What is loaded by now stays: looked through for garbage again and again it takes a sixth of the worker's time.
    gc.freeze()
    try:
        work(opened, lambda: stopping.is_set() or os.getppid() != parent)
    except OtherRelease as error:
        _log.warning("loan books not worked at", error=type(error).__name__, exc_info=True)
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
    selling = _Selling(store, job, is_stopping)
    try:
        selling.run()
    except (StateForbids, InvalidInput) as refused:
        reason = str(refused)
        _log.warning("loan book paused", reason=reason)
        store.transact(_SYSTEM, lambda session: books.pause(session, job.id, actor="system", reason=reason))
        return
    if selling.job is not None:
        store.transact(_SYSTEM, partial(reading.release, job=selling.job))


class _Selling:
    """Carries out one book, chunk after chunk; those that sell two at once on PostgreSQL.

    Of two, the later one writes its sales while the earlier one is entered in the book, the roll-ups and the log, and
    does that in its turn, when the earlier one is committed. It begins to lock its loans and borrowers when the earlier
    one has locked all of its own, and locks nothing else before its turn: so the earlier one does not wait for it.
    """

    def __init__(self, store: Store, job: Job, is_stopping: Callable[[], bool]) -> None:
        self._store, self._is_stopping, self._book = store, is_stopping, job.book
        self._scope = Scope.of(job.book.distributor_id, is_live=job.book.is_live)
        self._size = carrying_out.CHUNKS["sqlite" if store.is_sqlite else "postgresql"]
        # SQLite lets one write at a time, and what an exit writes is in the log at once.
        self._is_in_pairs = not store.is_sqlite and job.book.kind == row_values.ADDITIONS
        # As of the last commit; None once the book is done, or another worker's.
        self.job: Job | None = job

    def run(self) -> None:
        """Carry out what is left, until the worker is to stop; an error leaves the job as of the last commit."""
        while self.job is not None and not self._is_stopping():
            if not self._is_in_pairs:
                self._carry_out_next(self.job)
                continue
            try:
                self._sell_in_pairs(self.job)
            except carrying_out.BookTaken:
                self.job = None
            except Exception as error:
                if not gave_way(error):
                    raise
                # Both were rolled back. What is next is tried alone, more than once if need be.
                _log.info("loan book chunks begun anew", error=type(error).__name__)
                self._carry_out_next(self.job)

    def _carry_out_next(self, job: Job) -> None:
        chunk = self._prepare(job.book.done_to)
        self.job = self._store.transact(self._scope, partial(carrying_out.carry_out, job=job, chunk=chunk))

    def _sell_in_pairs(self, job: Job) -> None:
        """Sell with two chunks under way until nothing is left, or one fails: then neither is under way any more."""
        earlier: Future[Job] = Future()
        earlier.set_result(job)
        after = job.book.done_to
        with ThreadPoolExecutor(2, thread_name_prefix="loan-book") as threads:
            while True:
                locked: Future[Chunk] = Future()
                later = threads.submit(copy_context().run, self._sell, after, earlier, locked)
                chunk = locked.result()
                earlier.result()
                after, earlier = chunk.last, later
                if not chunk.rows or self._is_stopping():
                    break
        last = earlier.result()
        if not chunk.rows:
            self._carry_out_next(last)

    def _sell(self, after: int, earlier: Future[Job], locked: Future[Chunk]) -> Job:
        """Sell the chunk behind a line, in its turn; `locked` is given it when the next one may begin."""
        try:
            chunk = self._prepare(after)
            if not chunk.rows:
                locked.set_result(chunk)
                return earlier.result()
            with self._store.writing(self._scope) as session:
                session.be_awaited(f"{self._book.id} {chunk.last}")
                written = carrying_out.write(session, self._book, chunk, lambda: locked.set_result(chunk))
                # By the database, which sees who waits for whom: a stranger may hold the log and want a borrower.
                session.wait_for(f"{self._book.id} {chunk.after}")
                held = carrying_out.account_for(session, earlier.result(), written)
        except BaseException as error:
            if not locked.done():
                locked.set_exception(error)
            raise
        self.job = held
        return held

    def _prepare(self, after: int) -> Chunk:
        statistics.refresh_grown(self._store)
        with self._store.reading(self._scope) as session:
            return carrying_out.prepare(session, self._book, self._size, after)


if __name__ == "__main__":
    main()
