"""Processes that write one SQLite file take turns, however busy one of them is."""

import fcntl
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event

import pytest

from core.errors import StoreUnavailable
from core.store.access import Scope, Store
from core.store.access import sqlite as write_queue
from core.store.access.sqlite import sqlite
from core.store.schema.tables import NumberCounter

SYSTEM = Scope.system()
PATIENCE = 180
TURNS = 5
# The file is locked for so long by each transaction, and free for microseconds until the next one.
LOCKED_SECONDS = 0.05
# The one that is under way, and some for a machine that is slow to notice; hundreds where there is no order.
MOST_BEFORE_US = 4
_PROCESSES = multiprocessing.get_context("spawn")
pytestmark = pytest.mark.parametrize("database", ["sqlite"])


def write_without_pause(url: str, running: Event, stopping: Event) -> None:
    store = Store(url)
    while not stopping.is_set():
        with store.writing(SYSTEM) as session:
            session.next_in_transaction("busy")
            stopping.wait(LOCKED_SECONDS)
        running.set()
    store.close()


@contextmanager
def beside_a_busy_writer(store: Store) -> Iterator[None]:
    running, stopping = _PROCESSES.Event(), _PROCESSES.Event()
    process = _PROCESSES.Process(target=write_without_pause, args=(str(store.url), running, stopping))
    process.start()
    try:
        assert running.wait(PATIENCE)
        yield
    finally:
        stopping.set()
        process.join(PATIENCE)
    assert process.exitcode == 0


def turns_of_the_busy_writer(store: Store) -> int:
    with store.reading(SYSTEM) as session:
        return session.get_one(NumberCounter, "busy").last


def test_a_writer_gets_its_turn_beside_one_that_writes_without_pause(store: Store) -> None:
    passed = []
    with beside_a_busy_writer(store):
        for _ in range(TURNS):
            before = turns_of_the_busy_writer(store)
            with store.writing(SYSTEM) as session:
                passed.append(session.get_one(NumberCounter, "busy").last - before)
                session.next_in_transaction("ours")
    assert sum(passed) <= TURNS * MOST_BEFORE_US, passed
    with store.reading(SYSTEM) as session:
        assert session.get_one(NumberCounter, "ours").last == TURNS


def test_who_waits_in_vain_is_told_and_waits_again_as_before(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = write_queue.WAIT_SECONDS
    monkeypatch.setattr(write_queue, "WAIT_SECONDS", 0.05)
    other = sqlite.connect(str(store.url.database), isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable), store.writing(SYSTEM) as session:
            session.next_in_transaction("ours")
    finally:
        other.close()
    monkeypatch.setattr(write_queue, "WAIT_SECONDS", usual)
    with store.writing(SYSTEM) as session:
        assert session.connection().exec_driver_sql("PRAGMA busy_timeout").scalar_one() == usual * 1000
        session.next_in_transaction("ours")


def test_a_place_in_the_queue_that_is_never_left_keeps_nobody_from_writing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "WAIT_SECONDS", 0.05)
    with write_queue.file_of(str(store.url.database)).open("w") as standing:
        fcntl.flock(standing, fcntl.LOCK_EX)
        with store.writing(SYSTEM) as session:
            assert session.next_in_transaction("ours") == 1


def test_the_file_of_the_queue_is_its_owners_alone(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        session.next_in_transaction("ours")
    queue = write_queue.file_of(str(store.url.database))
    assert queue.stat().st_mode & 0o777 == 0o600
    assert queue.stat().st_size == 0
