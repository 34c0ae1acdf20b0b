"""Works at loan books: reads them, sells or ends their loans chunk by chunk, and gives up those nobody confirmed (B6).

No transaction is open while a file is read or a chunk is prepared. A worker that is stopped lets go of its book, and
one that is killed is followed by another when its lease is over.
"""

from collections.abc import Callable
from functools import partial

import structlog

from core.errors import InvalidInput, StateForbids
from core.services.selling.loan_books import books, carrying_out, reading
from core.services.selling.loan_books.columns import Heading
from core.services.selling.loan_books.judging import Judged
from core.services.selling.loan_books.preview import Tally
from core.services.selling.loan_books.reading import Job
from core.states.loan_books import LoanBookState
from core.store.access import Scope, Store

_log = structlog.get_logger("coverdesk.worker")
_SYSTEM = Scope.system()
_TO_READ = (LoanBookState.UPLOADED, LoanBookState.READING)
_TO_SELL = (LoanBookState.CONFIRMED, LoanBookState.SELLING)


def never() -> bool:
    """Say that a worker is not to stop."""
    return False


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
    scope = Scope.of(job.book.distributor_id, is_live=job.book.is_live)
    held: Job | None = job
    try:
        while held is not None and not is_stopping():
            job = held
            held = _carry_out_chunk(store, scope, job)
    except (StateForbids, InvalidInput) as refused:
        reason = str(refused)
        _log.warning("loan book paused", reason=reason)
        store.transact(_SYSTEM, lambda session: books.pause(session, job.id, actor="system", reason=reason))
        return
    if held is not None:
        store.transact(_SYSTEM, partial(reading.release, job=held))


def _carry_out_chunk(store: Store, scope: Scope, job: Job) -> Job | None:
    size = carrying_out.CHUNKS["sqlite" if store.is_sqlite else "postgresql"]
    with store.reading(scope) as session:
        chunk = carrying_out.prepare(session, job, size)
    return store.transact(scope, lambda session: carrying_out.carry_out(session, job, chunk))
