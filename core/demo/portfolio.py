"""Writes the demonstration: two years of believable business that end now, the same for the same seed.

It is made in chunks, each in memory and then written whole, or not at all.
"""

import gc
import multiprocessing
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from multiprocessing.connection import Connection
from typing import Final

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.demo import Summary, audit_log
from core.demo.audit_log import Entry, Log, chain
from core.demo.bulk_rows import Rows, pour
from core.demo.claims import rows as claim_rows
from core.demo.claims.claims import Losses
from core.demo.claims.submitted import Specimens
from core.demo.market import market
from core.demo.market.market import Market, begins_at, instants
from core.demo.market.offers import Offer, on_the_shelf
from core.demo.market.people import People
from core.demo.market.sellers import Officer, Seller, enlist, officers
from core.demo.random_source import dice
from core.demo.sales import rows as sale_rows
from core.demo.sales.rows import Figures, pour_figures
from core.demo.sales.sales import Counting
from core.errors import StateForbids
from core.services.audit import demonstration
from core.services.audit.demonstration import Mark
from core.states.finance import CreditNoteState
from core.store.access import Scope, ScopedSession, Store
from core.store.policy_numbers import credit_note_series
from core.store.rollups import claim_totals
from core.store.schema import migrating
from core.store.schema.claims import Claim
from core.store.schema.parties import Customer
from core.store.schema.sales import Policy, Purchase, Renewal
from core.store.schema.tables import CreditNote, NumberCounter

# Younger ones are finance's to pay.
_SETTLED_AFTER: Final = timedelta(days=45)
_FILL: Final = """
INSERT INTO credit_note
  (id, refund_id, distributor_id, is_live, provider_id, number, total_minor, created_at, made_by, state)
SELECT refund.id, refund.id, refund.distributor_id, refund.is_live, refund.provider_id,
  COALESCE((
    SELECT MAX(number) FROM credit_note AS held
    WHERE held.provider_id = refund.provider_id AND held.is_live = refund.is_live
  ), 0) + ROW_NUMBER() OVER (
    PARTITION BY refund.provider_id, refund.is_live ORDER BY refund.created_at, refund.id
  ),
  refund.total_minor, refund.created_at, :actor, CASE WHEN refund.created_at < :settled THEN :old ELSE :young END
FROM refund
WHERE refund.total_minor > 0 AND NOT EXISTS (SELECT 1 FROM credit_note AS note WHERE note.refund_id = refund.id)
"""


def fill(session: ScopedSession, until: datetime) -> None:
    """Write the credit notes that are missing; safe to repeat."""
    values = {"actor": demonstration.ACTOR, "old": CreditNoteState.NOT_RECORDED, "young": CreditNoteState.COMPUTED}
    settled = sa.bindparam("settled", until - _SETTLED_AFTER, type_=UTCDateTime())
    session.connection().execute(sa.text(_FILL).bindparams(settled, **values))
    keys = (col(CreditNote.provider_id), col(CreditNote.is_live))
    last = sa.select(*keys, sa.func.max(col(CreditNote.number))).group_by(*keys)
    for provider_id, is_live, number in session.execute(last).all():
        _set_counter(session, credit_note_series(provider_id, is_live=is_live), number)


def _set_counter(session: ScopedSession, series: str, last: int) -> None:
    session.insert_if_absent(NumberCounter(series=series, last=0))
    session.change(NumberCounter, col(NumberCounter.series) == series, last=last)


_SMALLEST, _LARGEST, _PIECES = 2_500, 20_000, 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The plan of a demonstration: its mark, sellers, offers, and the officers who decide claims."""

    mark: Mark
    sellers: Sequence[Seller]
    offers: Sequence[Offer]
    desk: Sequence[Officer]


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows of one transaction: after it `upto` purchases are in the store, and all that happened until the last."""

    rows: Rows
    figures: Figures
    entries: list[Entry]
    policy_numbers: dict[str, int]
    upto: int
    until: datetime


def chunks(plan: Plan) -> Generator[Chunk]:
    """Every chunk in the order of time; always cut at the same sales, so that writing can go on after a crash."""
    mark = plan.mark
    until, thrown = mark.until, dice(mark.seed, "sales")
    log, specimens = Log(dice(mark.seed, "log")), Specimens(thrown, begins_at(until))
    people, market = People(thrown, until), Market(thrown, plan.sellers, plan.offers, until)
    counting = Counting(thrown, market, people, until)
    losses = Losses(thrown, plan.desk, purchases=mark.purchases, until=until)
    moments = instants(dice(mark.seed, "days"), purchases=mark.purchases, until=until)
    size, upto = min(_LARGEST, max(_SMALLEST, mark.purchases // _PIECES)), 0
    # The first is small, as nothing is written while it is made.
    while batch := list(islice(moments, size if upto else size // 4)):
        rows, figures = Rows(), Figures()
        for at in batch:
            sale = counting.sell(rows, at)
            sale_rows.file(sale, rows, figures)
            audit_log.add_entries(sale, log)
            if (loss := losses.of(sale)) is not None:
                claim_rows.file(loss, thrown, specimens, rows, log)
        specimens.put()
        upto += len(batch)
        is_last = upto == mark.purchases
        if is_last:
            log.add(until, demonstration.ACTOR, demonstration.WRITTEN, demonstration.SUBJECT, after=mark.facts)
        entries = log.entries_until(until if is_last else batch[-1])
        yield Chunk(rows, figures, entries, dict(counting.policy_numbers), upto, until)


def write_chunk(session: ScopedSession, chunk: Chunk) -> None:
    """Write a chunk in the session's transaction: rows, figures, audit entries, and the counters as they stand."""
    sale_rows.finish(chunk.rows)
    chain(session, chunk.rows, chunk.entries)
    pour(session, chunk.rows)
    pour_figures(session, chunk.figures)
    claim_totals.add_claims(session.connection(), chunk.rows.ids(Claim))
    for series, last in chunk.policy_numbers.items():
        _set_counter(session, series, last)
    fill(session, chunk.until)


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
        done = session.count_rows(Purchase)
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
    log = audit_log.begin(session, Mark(purchases=purchases, seed=seed, until=until, written=False))
    rows = Rows()
    if log is not None:
        chain(session, rows, log.entries_until(until))
    pour(session, rows)
    mark = demonstration.find(session)
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
        purchases=session.count_rows(Purchase),
        policies=session.count_rows(Policy),
        renewals=session.count_rows(Renewal),
        customers=session.count_rows(Customer),
        claims=session.count_rows(Claim),
        seed=mark.seed,
        until=mark.until,
        already_there=mark.written,
    )
