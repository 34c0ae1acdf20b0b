"""Two chunks of a loan book sold at once: what fails begins anew, and each loan is sold once (contract B6)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.dispatch import loan_books as worker
from core.services.catalogue import for_sale
from core.services.selling.loan_books import books, carrying_out, records
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import AuditHead, Customer, InsuredRisk, LoanBook, LoanBookRow, Policy
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.loan_books import Lender, as_csv, loan
from tests.services.races import run_at_once

pytestmark = pytest.mark.frozen_at(shipped.STILL)
ON_POSTGRESQL = pytest.mark.parametrize("database", ["postgresql"])


@pytest.fixture(autouse=True)
def _chunks_of_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying_out, "CHUNKS", {"sqlite": 3, "postgresql": 3})


def require_sold_once(store: Store, lender: Lender, *book_ids: Any, loans: int) -> None:
    """Each loan has one policy, each line that says so its own, and the store's check holds."""
    with store.reading(Scope.system()) as session:
        policies = sa.select(sa.func.count(), sa.func.count(sa.distinct(col(Policy.risk_hash)))).select_from(Policy)
        assert tuple(session.execute(policies).one()) == (loans, loans)
        covered = (col(LoanBookRow.outcome) == "covered", col(LoanBookRow.policy_id).is_not(None))
        lines = sa.select(sa.func.count(sa.distinct(col(LoanBookRow.policy_id)))).where(*covered)
        assert session.execute(lines).scalar_one() == loans
        assert store_check.list_faults(session) == []
    done = [lender.get(book_id) for book_id in book_ids]
    assert [book.state for book in done] == ["done"] * len(done)
    assert sum(book.done_rows for book in done) == loans


def confirmed(lender: Lender, count: int, **changed: Any) -> LoanBook:
    """A book of so many loans that waits for its selling."""
    book = lender.read(as_csv([loan(number, **changed) for number in range(count)]))
    lender.confirm(book)
    return book


class Deadlock(Exception):
    """As the driver of PostgreSQL tells whoever gives way."""

    sqlstate = "40P01"


def give_way_second(until: Event | None = None) -> Callable[[int], None]:
    """Return what fails in the second chunk as PostgreSQL ends whoever gives way, once an event has come about."""

    def fail(number: int) -> None:
        if number == 2:
            assert until is None or until.wait(30)
            raise sa.exc.OperationalError("COPY", None, Deadlock())

    return fail


def follow(monkeypatch: pytest.MonkeyPatch, name: str, before: Callable[[int], None] = lambda _: None) -> list[int]:
    """Let a function be called before a stage of each chunk, with its number; returns the lines that they begin after.

    The stages are `write`, `account_for` and, within that, `_hold`.
    """
    done, after = getattr(carrying_out, name), list[int]()

    def stage(session: ScopedSession, of: Any, chunk: Any, *rest: Any) -> Any:
        after.append(getattr(chunk, "chunk", chunk).after)
        before(len(after))
        return done(session, of, chunk, *rest)

    monkeypatch.setattr(carrying_out, name, stage)
    return after


@pytest.mark.both_databases
@ON_POSTGRESQL
@pytest.mark.parametrize("line", [0, 4], ids=["of the earlier chunk", "of the later chunk"])
def test_after_a_deadlock_both_chunks_begin_anew(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch, line: int
) -> None:
    """A rival holds the ends of the log, for which the earlier chunk waits, and wants a loan of one of both."""
    lender = Lender(store, partner)
    book = confirmed(lender, 8)
    risk = lender.rows(book)[line].risk_hash
    holds, are_written = Event(), Event()
    begun = follow(monkeypatch, "write")
    write = carrying_out.write

    def tell_when_two_are_written(*given: Any) -> Any:
        written = write(*given)
        if len(begun) == 2:
            are_written.set()
        return written

    def rival() -> None:
        with store.writing(Scope.system()) as session:
            # It is a chunk that notices, and gives way.
            session.execute(sa.text("SET LOCAL deadlock_timeout = '5min'"))
            session.execute(sa.select(AuditHead).order_by(col(AuditHead.chain)).with_for_update()).all()
            holds.set()
            assert are_written.wait(30)
            row = InsuredRisk.to_insert(product_id=book.product_id, risk_hash=risk, sold_at=shipped.STILL)
            assert session.insert_if_absent(row), "the chunk that held it was rolled back"

    monkeypatch.setattr(carrying_out, "write", tell_when_two_are_written)
    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(rival)
        assert holds.wait(30)
        worker.work(store)
        going.result()
    assert begun[:2] == [0, 4]
    # Where the later one gives way once the earlier one is committed, a third has begun beside it and is rolled back.
    assert begun[2:] in ([0, 4, 7], [4, 7], [7, 4, 7])
    require_sold_once(store, lender, book.id, loans=8)


@pytest.mark.both_databases
@ON_POSTGRESQL
def test_where_the_later_chunk_gives_way_the_earlier_one_is_kept(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    lender = Lender(store, partner)
    book = confirmed(lender, 8)
    begun = follow(monkeypatch, "write", give_way_second())
    worker.work(store)
    assert begun == [0, 4, 4, 7]
    require_sold_once(store, lender, book.id, loans=8)


@pytest.mark.both_databases
@ON_POSTGRESQL
def test_a_third_chunk_that_began_beside_one_that_gives_way_in_its_turn_is_rolled_back(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    lender = Lender(store, partner)
    book = confirmed(lender, 8)
    third_begins = Event()
    begun = follow(monkeypatch, "write", lambda number: third_begins.set() if number == 3 else None)
    follow(monkeypatch, "account_for", give_way_second(third_begins))
    worker.work(store)
    assert begun == [0, 4, 7, 4, 7]
    require_sold_once(store, lender, book.id, loans=8)


@pytest.mark.both_databases
@ON_POSTGRESQL
def test_an_error_that_is_no_deadlock_ends_the_worker_and_the_next_one_goes_on(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    book = confirmed(lender, 8)

    def fail(number: int) -> None:
        if number == 1:
            raise RuntimeError("a defect")

    with pytest.MonkeyPatch.context() as patch:
        follow(patch, "account_for", fail)
        with pytest.raises(RuntimeError, match="a defect"):
            worker.work(store)
    with store.writing(Scope.system()) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(Policy)).scalar_one() == 0
        session.execute(sa.update(LoanBook).values(leased_until=None))
    worker.work(store)
    require_sold_once(store, lender, book.id, loans=8)


@pytest.mark.both_databases
@ON_POSTGRESQL
def test_a_book_that_is_paused_or_taken_between_two_chunks_keeps_the_first(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    book = confirmed(lender, 8)

    def pause(number: int) -> None:
        if number == 2:
            store.transact(lender.scope, lambda session: books.pause(session, book.id, actor="tests", reason="look"))

    def take(number: int) -> None:
        if number == 1:
            let_it_be_leased(clock.now() + timedelta(hours=1))

    def let_it_be_leased(until: datetime | None) -> None:
        with store.writing(Scope.system()) as session:
            session.execute(sa.update(LoanBook).values(leased_until=until))

    for happens in (pause, take):
        with pytest.MonkeyPatch.context() as patch:
            follow(patch, "_hold", happens)
            worker.work(store)
        assert lender.get(book.id).done_rows == 3
        if happens is pause:
            store.transact(lender.scope, lambda session: books.resume(session, book.id, actor="tests"))
    let_it_be_leased(None)
    worker.work(store)
    require_sold_once(store, lender, book.id, loans=8)


def test_a_refusal_of_a_later_chunk_pauses_behind_the_earlier_ones(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    book = confirmed(lender, 8)
    get, calls = for_sale.get_product, iter(range(100))

    def get_for_sale(*given: Any) -> Any:
        if next(calls) == 2:
            raise books.InvalidInput.for_field("product_id", "is closed")
        return get(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(for_sale, "get_product", get_for_sale)
        worker.work(store)
    paused = lender.get(book.id)
    assert (paused.state, paused.done_rows, paused.refusal) == ("paused", 6, "The product was taken off sale")
    store.transact(lender.scope, lambda session: books.resume(session, book.id, actor="tests"))
    worker.work(store)
    require_sold_once(store, lender, book.id, loans=8)


@pytest.mark.both_databases
def test_two_workers_at_two_books_of_the_same_loans_sell_each_once(store: Store, partner: Partner) -> None:
    """The books have the loans and the borrowers in opposite orders, and each borrower in several chunks."""
    lender = Lender(store, partner)
    rows = [loan(number, email=f"borrower{number % 5}@example.com") for number in range(24)]
    both = [lender.read(as_csv(each)) for each in (rows, [*reversed(rows), loan(24)])]
    for book in both:
        lender.confirm(book)
    assert run_at_once(lambda: worker.work(store), lambda: worker.work(store)) == [None, None]
    require_sold_once(store, lender, *(book.id for book in both), loans=25)
    with store.reading(lender.scope) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(Customer)).scalar_one() == 6


def test_the_lines_of_the_report_and_the_numbers_of_their_policies_are_in_one_order(
    store: Store, partner: Partner
) -> None:
    lender = Lender(store, partner)
    book = lender.carry_out(lender.read(as_csv([loan(number) for number in range(20)])))
    with store.reading(lender.scope) as session:
        text = b"".join(records.csv_chunks(session, books.get(session, book.id))).decode()
        numbers = [session.get_one(Policy, row.policy_id).policy_number for row in lender.rows(book)]
    assert [line.split(",")[0] for line in text.splitlines()[1:]] == [f"LN-{number:06d}" for number in range(20)]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 20
