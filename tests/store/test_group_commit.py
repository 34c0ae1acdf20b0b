"""Many works, one commit: each stands or falls alone, and nobody hears "done" before it is on the disk."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from core.errors import NotFound, StoreUnavailable
from core.store.access import Scope, ScopedSession, ScopeViolation, Store
from core.store.access import group_commit as one_writer_module
from core.store.schema.tables import NumberCounter

pytestmark = pytest.mark.both_databases

SYSTEM = Scope.system()
THREADS = 12


class Stopped(BaseException):
    """The end of a screen in the middle of a run."""


def _put(session: ScopedSession, name: str) -> str:
    session.insert(NumberCounter(series=name, last=1))
    return name


def _kept(store: Store) -> set[str]:
    with store.reading(SYSTEM) as session:
        return set(session.execute(sa.select(col(NumberCounter.series))).scalars())


Start = Callable[[Callable[[ScopedSession], Any]], "Future[Any]"]


@contextmanager
def _crowd(store: Store) -> Iterator[Start]:
    """A way to let works wait behind each other, so that they share a commit; they go when the block ends."""
    works: list[Future[Any]] = []

    def start(work: Callable[[ScopedSession], Any]) -> "Future[Any]":
        works.append(pool.submit(store.transact, SYSTEM, work))
        if store._writer:
            _until(lambda: _waiting(store) >= len(works))
        return works[-1]

    with ThreadPoolExecutor(THREADS) as pool, store.writing(SYSTEM):
        yield start


def _waiting(store: Store) -> int:
    """Return the number of works that wait: the first for the turn that the crowd's block has, the others behind it."""
    assert store._writer
    return len(store._writer._lock._waiting) + store._writer._queue.qsize()


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not holds() and time.monotonic() < until:
        threading.Event().wait(0.001)


def test_every_work_is_there_when_its_call_returns(store: Store) -> None:
    def write(number: int) -> bool:
        return store.transact(SYSTEM, lambda session: _put(session, f"work {number}")) in _kept(store)

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(write, range(60)))


def test_counting_in_many_threads_counts_each_once(store: Store) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        counted = list(
            pool.map(lambda _: store.transact(SYSTEM, lambda s: s.next_in_transaction("printed")), range(60))
        )

    assert sorted(counted) == list(range(1, 61))


@pytest.mark.parametrize("error", [NotFound("no"), ValueError("a defect"), Stopped()], ids=lambda e: type(e).__name__)
def test_work_that_fails_among_others_takes_nobody_along(store: Store, error: BaseException) -> None:
    def fail(session: ScopedSession) -> None:
        _put(session, "failed")
        raise error

    with _crowd(store) as start:
        before, failing, after = (
            start(lambda s: _put(s, "before")),
            start(fail),
            start(lambda s: _put(s, "after")),
        )

    assert (before.result(), after.result()) == ("before", "after")
    assert failing.exception() is error
    assert {"before", "after"} <= _kept(store)
    assert "failed" not in _kept(store)


def test_broken_constraint_among_others_takes_nobody_along(store: Store) -> None:
    def twice(session: ScopedSession) -> None:
        _put(session, "twice")
        _put(session, "twice")

    with _crowd(store) as start:
        broken, well = start(twice), start(lambda s: _put(s, "well"))

    assert isinstance(broken.exception(), IntegrityError)
    assert well.result() in _kept(store)
    assert "twice" not in _kept(store)


def test_work_cannot_roll_back_what_others_share(store: Store) -> None:
    def undecided(session: ScopedSession) -> None:
        _put(session, "first thought")
        session.rollback()

    with _crowd(store) as start:
        first, second = start(lambda s: _put(s, "earlier")), start(undecided)

    first.result()
    with pytest.raises(ScopeViolation):
        second.result()
    assert "earlier" in _kept(store)
    assert "first thought" not in _kept(store)


def test_work_may_read_the_store_meanwhile_and_sees_what_is_committed(store: Store) -> None:
    def look(session: ScopedSession) -> set[str]:
        _put(session, "mine")
        return _kept(store)

    with _crowd(store) as start:
        start(lambda s: _put(s, "earlier"))
        looking = start(look)

    assert "mine" not in looking.result()


@pytest.fixture
def one_writer(sqlite_template: Path, tmp_path: Path) -> Iterator[Store]:
    """A store on SQLite, where works share a commit."""
    (tmp_path / "store.db").write_bytes(sqlite_template.read_bytes())
    store = Store(f"sqlite:///{tmp_path / 'store.db'}")
    yield store
    store.close()


def _commits(store: Store) -> list[int]:
    """The times that the store commits from now on."""
    found: list[int] = []
    sa.event.listen(store.writers, "commit", lambda _: found.append(1))
    return found


def test_works_that_wait_share_one_commit(one_writer: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_writer_module, "_LONGEST_SECONDS", 60)
    with _crowd(one_writer) as start:
        commits = _commits(one_writer)
        works = [start(lambda s, n=n: _put(s, f"work {n}")) for n in range(THREADS)]

    assert {work.result() for work in works} <= _kept(one_writer)
    assert len(commits) == 1


def test_group_is_ended_when_it_is_full(one_writer: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_writer_module, "_MAX_GROUP", 1)
    with _crowd(one_writer) as start:
        commits = _commits(one_writer)
        works = [start(lambda s, n=n: _put(s, f"work {n}")) for n in range(5)]

    assert {work.result() for work in works} <= _kept(one_writer)
    assert len(commits) == 5


def test_failed_commit_acknowledges_nobody(one_writer: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_writer_module, "_LONGEST_SECONDS", 60)

    def fail(_: sa.Connection) -> None:
        raise OSError("no space left on device")

    with _crowd(one_writer) as start:
        works = [start(lambda s, n=n: _put(s, f"lost {n}")) for n in range(4)]
        sa.event.listen(one_writer.writers, "commit", fail)
    ends = [work.exception() for work in works]
    sa.event.remove(one_writer.writers, "commit", fail)

    assert [type(end) for end in ends] == [StoreUnavailable] * 4
    assert not {name for name in _kept(one_writer) if name.startswith("lost")}
    assert one_writer.transact(SYSTEM, lambda s: _put(s, "healed")) in _kept(one_writer)


def test_why_a_commit_failed_is_told_and_nothing_that_a_defect_says(one_writer: Store) -> None:
    full = sa.exc.OperationalError("COMMIT", {"name": "Ada"}, sqlite3.OperationalError("database or disk is full"))
    for failure, reason in ((full, "database or disk is full"), (KeyError("Ada"), "")):

        def fail(_: sa.Connection, error: Exception = failure) -> None:
            raise error

        sa.event.listen(one_writer.writers, "commit", fail)
        with pytest.raises(StoreUnavailable) as refused:
            one_writer.transact(SYSTEM, lambda s: _put(s, "lost"))
        sa.event.remove(one_writer.writers, "commit", fail)
        assert refused.value.reason == reason


def test_transaction_that_ends_under_a_work_acknowledges_nobody(one_writer: Store) -> None:
    def lose(session: ScopedSession) -> None:
        _put(session, "lost")
        driver: Any = session.connection().connection.driver_connection
        driver.execute("ROLLBACK")  # as SQLite itself does when the disk is full

    with pytest.raises(StoreUnavailable) as refused:
        one_writer.transact(SYSTEM, lose)

    assert "its disk is full" in refused.value.reason
    assert "lost" not in _kept(one_writer)
    assert one_writer.transact(SYSTEM, lambda s: _put(s, "healed")) in _kept(one_writer)


def test_write_inside_a_write_is_refused_at_once(one_writer: Store) -> None:
    def nested(_: ScopedSession) -> None:
        one_writer.transact(SYSTEM, lambda s: _put(s, "inner"))

    with pytest.raises(RuntimeError, match="a write inside a write"):
        one_writer.transact(SYSTEM, nested)
    with one_writer.writing(SYSTEM), pytest.raises(RuntimeError, match="a write inside a write"):
        one_writer.transact(SYSTEM, lambda s: _put(s, "inner"))

    assert "inner" not in _kept(one_writer)
    assert one_writer.transact(SYSTEM, lambda s: _put(s, "healed")) in _kept(one_writer)


def test_who_waits_too_long_for_the_writer_is_told_and_wrote_nothing(
    one_writer: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_writer_module, "WAIT_SECONDS", 0.01)
    with ThreadPoolExecutor(1) as pool, one_writer.writing(SYSTEM):
        late = pool.submit(one_writer.transact, SYSTEM, lambda s: _put(s, "late"))
        assert isinstance(late.exception(), StoreUnavailable)

    assert "late" not in _kept(one_writer)
    assert one_writer.transact(SYSTEM, lambda s: _put(s, "healed")) in _kept(one_writer)


def test_stopping_finishes_what_was_asked_for_and_may_be_followed_by_more(one_writer: Store) -> None:
    submitted = [one_writer.submit(SYSTEM, lambda s, n=n: _put(s, f"asked {n}")) for n in range(20)]
    one_writer.close()

    assert {work.result(timeout=0) for work in submitted} <= _kept(one_writer)
    assert one_writer.transact(SYSTEM, lambda s: _put(s, "later")) in _kept(one_writer)


def test_work_that_nobody_waits_for_any_more_is_not_done(one_writer: Store) -> None:
    with _crowd(one_writer) as start:
        start(lambda s: _put(s, "before"))
        with ThreadPoolExecutor(1) as other:
            names = ("work 1", "work 2")
            first, second = (other.submit(one_writer.submit, SYSTEM, lambda s, n=n: _put(s, n)).result() for n in names)
        assert second.cancel()

    assert first.result() in _kept(one_writer)
    one_writer.transact(SYSTEM, lambda s: _put(s, "next"))
    assert "work 2" not in _kept(one_writer)


def test_turns_come_in_the_order_of_asking() -> None:
    line, came = one_writer_module.FairLock(), list[int]()

    def go(number: int) -> None:
        line.acquire(time.monotonic() + 10)
        came.append(number)
        line.release()

    line.acquire(time.monotonic() + 10)
    threads = [threading.Thread(target=go, args=(number,)) for number in range(8)]
    for number, thread in enumerate(threads, start=1):
        thread.start()
        _until(lambda: len(line._waiting) == number)  # noqa: B023 - it is asked before the number changes
    line.release()
    for thread in threads:
        thread.join()

    assert came == list(range(8))
