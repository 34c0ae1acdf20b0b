"""A loan book whose worker is killed again and again is read and sold once, while others sell: nothing is lost, nothing
doubled.
"""

import importlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.dispatch import loan_books as worker
from core.services.selling.loan_books import carrying_out
from core.store import access
from core.store.access import Scope, Store
from core.store.schema.tables import LoanBook, Purchase
from tests.conftest import Partner, make_partner
from tests.crash import books
from tests.crash.conftest import Room
from tests.crash.selling import Crowd
from tests.crash.serving import Process, Server, kill, loaded, loaded_with
from tests.crash.sizes import CRASHES, IS_FULL, ON_POSTGRES, ON_SQLITE
from tests.services.loan_books import Lender, as_csv, loan

pytestmark = pytest.mark.both_databases

LOANS = int(os.environ.get("COVERDESK_LOANS", "100000" if IS_FULL else "800"))
KILLS = CRASHES
CLIENTS, REST_SECONDS = 2, 0.2
_PATIENCE = 600


def _progress(store: Store) -> tuple[str, int, int]:
    with store.reading(Scope.system()) as session:
        columns = (LoanBook.state, LoanBook.rows, LoanBook.done_rows)
        return tuple(session.execute(sa.select(*(col(each) for each in columns))).one())  # type: ignore[return-value]


def _let_the_lease_end(store: Store) -> None:
    """Let the time go by after which a worker follows one that was killed."""
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(LoanBook).values(leased_until=None))


def _kill_at_work(room: Room, store: Store, *ends: str) -> None:
    """Start a worker and kill it at a random moment after it has come further, or to the end."""
    before = _progress(store)
    process: Process = loaded("worker", environment=room.environment, log=room.folder / "worker.log")
    until = time.monotonic() + _PATIENCE
    while (now := _progress(store)) == before and now[0] not in ends:
        assert time.monotonic() < until, (room.folder / "worker.log").read_text()[-2000:]
        time.sleep(0.01)
    time.sleep(room.random.uniform(0, 0.5))
    kill(process)
    _let_the_lease_end(store)


def _count_sold(store: Store, *conditions: Any) -> int:
    with store.reading(Scope.system()) as session:
        query = sa.select(sa.func.count()).select_from(Purchase).where(*conditions)
        return int(session.execute(query).scalar_one())


@contextmanager
def _selling(room: Room, partner: Partner) -> Iterator[Crowd]:
    """Let clients of a server whose own worker rests sell by themselves."""
    server = Server({**room.environment, "COVERDESK_WORKER": "false"}, room.folder)
    server.start()
    try:
        crowd = Crowd(server.url, partner.test_key, clients=CLIENTS, uploaders=0, connected=True, rest=REST_SECONDS)
        with crowd:
            yield crowd
    finally:
        server.kill()


@pytest.mark.exhaustive
@ON_SQLITE
def test_a_book_is_sold_once_however_often_its_worker_is_killed(room: Room, sqlite_template: Path) -> None:
    room.fill(sqlite_template)
    with room.opened() as store:
        lender = Lender(store, make_partner(store, "Swift Lenders"))
        started = str(clock.today())
        book_id = lender.upload(as_csv([loan(number, loan_start_date=started) for number in range(LOANS)]))
        with _selling(room, lender.partner) as crowd:
            for _ in range(KILLS):
                _kill_at_work(room, store, "validated")
            worker.work(store)
            lender.confirm(lender.get(book_id))
            for _ in range(KILLS):
                _kill_at_work(room, store, "done")
            worker.work(store)
            crowd.wait_for(1)
        done = lender.get(book_id)
        assert (done.state, done.done_rows) == ("done", LOANS)
        assert _count_sold(store, col(Purchase.batch_id) == done.batch_id) == LOANS
        assert books.faults(store, crowd, before=LOANS) == []
    others = f"{len(crowd.sold):,} other sales (slowest {crowd.slowest:.1f} s)"
    print(f"\n{room.kind}: {2 * KILLS} kills while {LOANS:,} loans and {others} were sold: 0 lost, 0 doubled")


# A function, the call of it, and whether the worker is killed before or behind it.
_STAGES = (
    ("core.services.selling.loan_books.carrying_out", "write", 2, "before"),
    ("core.services.selling.buying", "write_many", 1, "after"),
    ("core.services.audit.log", "write_many", 1, "after"),
    ("core.services.selling.buying", "account_for", 2, "before"),
    ("core.services.audit.log", "write_many", 2, "after"),
    ("core.services.selling.loan_books.carrying_out", "prepare", 4, "before"),
)
_OF_STAGES = 60


def work_until(module: str, name: str, call: int, when: str) -> None:
    """Work at the books that wait in chunks of three, and be killed at a stage."""
    owner, calls = importlib.import_module(module), count(1)
    done = getattr(owner, name)

    def stage(*given: Any, **named: Any) -> Any:
        is_it = next(calls) == call
        if is_it and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        value = done(*given, **named)
        if is_it:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    setattr(owner, name, stage)
    carrying_out.CHUNKS.update(sqlite=3, postgresql=3)
    worker.work(access.store())


@pytest.mark.exhaustive
@ON_POSTGRES
def test_a_book_is_sold_once_at_whatever_stage_of_two_chunks_its_worker_is_killed(
    room: Room, sqlite_template: Path
) -> None:
    room.fill(sqlite_template)
    with room.opened() as store:
        lender = Lender(store, make_partner(store, "Swift Lenders"))
        rows = [loan(number, loan_start_date=str(clock.today())) for number in range(_OF_STAGES)]
        book = lender.read(as_csv(rows))
        lender.confirm(book)
        for stage in _STAGES:
            process = loaded_with(work_until, *stage, environment=room.environment, log=room.folder / "worker.log")
            assert process.wait(_PATIENCE) == -signal.SIGKILL, stage
            _let_the_lease_end(store)
            assert _count_sold(store) == lender.get(book.id).done_rows, stage
        worker.work(store)
        done = lender.get(book.id)
        assert (done.state, done.done_rows, _count_sold(store)) == ("done", _OF_STAGES, _OF_STAGES)
        with store.reading(Scope.system()) as session:
            assert store_check.list_faults(session) == []
