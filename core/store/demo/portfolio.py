"""Writes the demonstration: two years of believable business that end now, the same for the same seed."""

import gc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import SQLModel

from core import clock
from core.errors import StateForbids
from core.store.demo import days, marker
from core.store.demo.chunks import Chunk, chunks, write_chunk
from core.store.demo.dice import dice
from core.store.demo.log import chain
from core.store.demo.marker import Mark
from core.store.demo.offers import Offer, on_the_shelf
from core.store.demo.rows import Rows, pour
from core.store.demo.sellers import Officer, Seller, enlist, officers
from core.store.engine import Store
from core.store.scope import Scope, ScopedSession
from core.store.tables_claims import Claim
from core.store.tables_parties import Customer
from core.store.tables_sales import Policy, Purchase, Renewal

Progress = Callable[[int], object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What stands in the store; `already_there` when nothing had to be written."""

    purchases: int
    policies: int
    renewals: int
    customers: int
    claims: int
    seed: int
    until: datetime
    already_there: bool

    def __str__(self) -> str:
        counted = ("purchases", "policies", "renewals", "customers", "claims")
        facts = ", ".join(f"{getattr(self, name):,} {name}" for name in counted)
        verb = "Already there" if self.already_there else "Written"
        return f"{verb}: {facts}; two years up to {clock.in_lagos(self.until)}, seed {self.seed}."


def write(
    store: Store, *, purchases: int, seed: int, until: datetime | None = None, progress: Progress | None = None
) -> Summary:
    """Write the demonstration into a store with a catalogue; safe to repeat, and goes on after a crash.

    `progress` hears how many purchases are in the store. StateForbids when the store holds another
    demonstration or business of its own; nothing is written then.
    """
    with store.writing(Scope.system()) as session:
        mark, sellers, offers, desk = _begin(session, purchases=purchases, seed=seed, until=until or clock.now())
        done = _count(session, Purchase)
    if not mark.written:
        _write(store, chunks(mark, sellers, offers, desk), done, progress or (lambda _: None))
    with store.reading(Scope.system()) as session:
        return _summary(session, mark)


def _begin(
    session: ScopedSession, *, purchases: int, seed: int, until: datetime
) -> tuple[Mark, list[Seller], list[Offer], list[Officer]]:
    """Mark the store, and enlist who sells and who decides; all of it is there already when it was begun before."""
    log = marker.begin(session, Mark(purchases=purchases, seed=seed, until=until, written=False))
    rows = Rows()
    if log is not None:
        chain(session, rows, log.due(until))
    pour(session, rows)
    mark = marker.find(session)
    assert mark is not None  # noqa: S101 - it was written above
    offers = on_the_shelf(session, mark.until)
    if not offers:
        raise StateForbids("This store has no catalogue yet; run `coverdesk init` first")
    thrown, began, keys = dice(seed, "parties"), days.begins_at(mark.until), Rows()
    sellers, desk = enlist(session, keys, thrown, began), officers(session, thrown, began)
    if log is not None:
        pour(session, keys)
    return mark, sellers, offers, desk


def _write(store: Store, pieces: Iterable[Chunk], done: int, progress: Progress) -> None:
    """Write what is missing; while one chunk is written, the next is made."""
    waiting: Future[None] | None = None
    with _without_collecting(), ThreadPoolExecutor(1) as writer:
        for chunk in pieces:
            if waiting is not None:
                waiting.result()
            progress(chunk.upto)
            waiting = writer.submit(_commit, store, chunk) if chunk.upto > done else None
    if waiting is not None:
        waiting.result()


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Rows by the million hold no cycles, and looking for some takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _commit(store: Store, chunk: Chunk) -> None:
    with store.writing(Scope.system()) as session:
        write_chunk(session, chunk)


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
