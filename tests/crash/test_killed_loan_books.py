"""A loan book whose worker is killed again and again is read and sold once: nothing is lost, nothing doubled."""

import os
import time
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.dispatch import loan_books as worker
from core.services.admin import store_check
from core.store.access import Scope, Store
from core.store.schema.tables import LoanBook, Policy
from tests.conftest import make_partner
from tests.crash.conftest import Room
from tests.crash.serving import Process, executed, kill
from tests.crash.sizes import CRASHES, IS_FULL, ON_SQLITE
from tests.services.loan_books import Lender, as_csv, loan

pytestmark = pytest.mark.both_databases

LOANS = int(os.environ.get("COVERDESK_LOANS", "100000" if IS_FULL else "800"))
KILLS = max(2, CRASHES)
_PATIENCE = 120


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
    process: Process = executed("worker", environment=room.environment, log=room.folder / "worker.log")
    until = time.monotonic() + _PATIENCE
    while (now := _progress(store)) == before and now[0] not in ends:
        assert time.monotonic() < until, (room.folder / "worker.log").read_text()[-2000:]
        time.sleep(0.01)
    time.sleep(room.random.uniform(0, 0.5))
    kill(process)
    _let_the_lease_end(store)


@ON_SQLITE
def test_a_book_is_sold_once_however_often_its_worker_is_killed(room: Room, sqlite_template: Path) -> None:
    room.fill(sqlite_template)
    with room.opened() as store:
        lender = Lender(store, make_partner(store, "Swift Lenders"))
        started = str(clock.today())
        book_id = lender.upload(as_csv([loan(number, loan_start_date=started) for number in range(LOANS)]))
        for _ in range(KILLS):
            _kill_at_work(room, store, "validated")
        worker.work(store)
        lender.confirm(lender.get(book_id))
        for _ in range(KILLS):
            _kill_at_work(room, store, "done")
        worker.work(store)
        done = lender.get(book_id)
        assert (done.state, done.done_rows) == ("done", LOANS)
        with store.reading(Scope.system()) as session:
            assert session.execute(sa.select(sa.func.count()).select_from(Policy)).scalar_one() == LOANS
            assert store_check.list_faults(session) == []
    print(f"\n{room.kind}: {2 * KILLS} kills while {LOANS:,} loans were read and sold: 0 lost, 0 doubled")
