"""Writes the demonstration: two years of believable business that end now, the same for the same seed."""

import gc
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from multiprocessing.connection import Connection

import sqlalchemy as sa
from sqlmodel import SQLModel

from core import clock
from core.demo import marker
from core.demo.audit_log import chain
from core.demo.bulk_rows import Rows, pour
from core.demo.chunks import Chunk, Plan, chunks, write_chunk
from core.demo.marker import Mark, Summary
from core.demo.market import market
from core.demo.market.offers import on_the_shelf
from core.demo.market.sellers import enlist, officers
from core.demo.random_source import dice
from core.errors import StateForbids
from core.store.access import Scope, ScopedSession, Store
from core.store.schema import migrating
from core.store.schema.claims import Claim
from core.store.schema.parties import Customer
from core.store.schema.sales import Policy, Purchase, Renewal


def _make(theirs: Connection) -> None:
    plan = theirs.recv()
    with without_gc():
        for chunk in chunks(plan):
            theirs.send(chunk)
        theirs.send(None)


@contextmanager
def without_gc() -> Iterator[None]:
    """Without a search for cycles: rows in bulk hold none worth it, and looking takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


Progress = Callable[[int], object]
Make = Callable[[Plan], Iterable[Chunk]]
# A second interpreter needs a second to start, and so do indexes that are built anew.
_WORTH_A_PROCESS = 10_000


def write(
    store: Store,
    *,
    purchases: int,
    seed: int,
    until: datetime | None = None,
    progress: Progress = lambda _: None,
    meanwhile: Callable[[], object] = lambda: None,
    make: Make | None = None,
) -> Summary:
    """Write the demonstration into a store with a catalogue; safe to repeat, and goes on after a crash.

    `progress` is given how many purchases are in the store; `meanwhile` is called once, while the first are made.
    `make` comes of `making`, where that was begun while the store was still being made.
    StateForbids when the store holds another demonstration or business of its own; nothing is written then.
    """
    with store.writing(Scope.system()) as session:
        plan = _begin(session, purchases=purchases, seed=seed, until=until or clock.now())
        done = _count(session, Purchase)
    if plan.mark.written:
        meanwhile()
    else:
        with without_gc(), nullcontext(make) if make else making(purchases) as made:
            pieces = made(plan)
            meanwhile()
            with migrating.without_indexes(store) if purchases >= _WORTH_A_PROCESS else nullcontext():
                _write(store, pieces, done, progress)
    with store.reading(Scope.system()) as session:
        return _summary(session, plan.mark)


def _begin(session: ScopedSession, *, purchases: int, seed: int, until: datetime) -> Plan:
    """Mark the store, and enlist who sells and who decides; all of it is there already when it was begun before."""
    log = marker.begin(session, Mark(purchases=purchases, seed=seed, until=until, written=False))
    rows = Rows()
    if log is not None:
        chain(session, rows, log.entries_until(until))
    pour(session, rows)
    mark = marker.find(session)
    assert mark is not None  # noqa: S101 - it was written above
    offers = on_the_shelf(session, mark.until)
    if not offers:
        raise StateForbids("This store has no catalogue yet; run `coverdesk init` first")
    thrown, began, keys = dice(seed, "parties"), market.begins_at(mark.until), Rows()
    sellers, desk = enlist(session, keys, thrown, began), officers(session, thrown, began)
    if log is not None:
        pour(session, keys)
    return Plan(mark=mark, sellers=sellers, offers=offers, desk=desk)


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Let a process begin deaf to Ctrl-C: whoever writes is told, and ends the other."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def making(purchases: int) -> Iterator[Make]:
    """Yield what makes the chunks of a plan: for many purchases a process, which is loaded from now on.

    It makes one chunk ahead of whoever writes them. EOFError when it dies.
    """
    if purchases < _WORTH_A_PROCESS:
        yield chunks
        return
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    maker = context.Process(target=_make, args=(theirs,), daemon=True)
    with _ignoring_interrupts():
        maker.start()
    theirs.close()

    def pieces(plan: Plan) -> Iterable[Chunk]:
        ours.send(plan)
        return iter(ours.recv, None)

    try:
        yield pieces
    finally:
        ours.close()
        maker.terminate()
        maker.join()


def _write(store: Store, pieces: Iterable[Chunk], done: int, progress: Progress) -> None:
    """Write what is missing, one transaction for each chunk."""
    for chunk in pieces:
        if chunk.upto > done:
            with store.writing(Scope.system()) as session:
                write_chunk(session, chunk)
        progress(chunk.upto)


def _summary(session: ScopedSession, mark: Mark) -> Summary:
    return Summary(
        purchases=_count(session, Purchase),
        policies=_count(session, Policy),
        renewals=_count(session, Renewal),
        customers=_count(session, Customer),
        claims=_count(session, Claim),
        seed=mark.seed,
        until=mark.until,
        already_there=mark.written,
    )


def _count(session: ScopedSession, entity: type[SQLModel]) -> int:
    return int(session.execute(sa.select(sa.func.count()).select_from(entity)).scalar_one())
