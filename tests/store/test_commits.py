"""Commits are noticed by whoever waits, also those of another process, and nothing is read while nobody writes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa

from core.store.access import Scope, Store
from core.store.schema.tables import Provider

SYSTEM = Scope.system()


def write(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        provider = session.execute(sa.select(Provider).limit(1)).scalar_one()
        provider.company_name = f"{provider.company_name}."


def test_a_commit_of_another_process_ends_the_wait(store: Store) -> None:
    stopping, other = threading.Event(), Store(store.url.render_as_string(hide_password=False))
    with closing(other), closing(store.watch_commits()) as watch, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(lambda: any(watch.wait(stopping) for _ in iter(stopping.is_set, True)))
        # The first try may be before it looks; on PostgreSQL the wait ends then as it begins to listen.
        while not waiting.done():
            write(other)
            stopping.wait(0.05)
        assert waiting.result()


def test_a_commit_soon_after_another_is_told_too(store: Store) -> None:
    stopping = threading.Event()
    with closing(store.watch_commits()) as watch:
        watch.wait(stopped()) if store.is_sqlite else watch.wait(stopping)
        write(store)
        assert watch.wait(stopping)
        write(store)
        assert watch.wait(stopping)


@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])
def test_what_was_committed_while_nobody_listened_is_told(store: Store) -> None:
    stopping = threading.Event()
    with closing(store.watch_commits()) as watch:
        while watch.wait(stopping):
            pass
        watch.close()  # as when the server was away
        write(store)
        assert watch.wait(stopping)
        assert not watch.wait(stopping)


def test_whoever_waits_is_let_go_at_the_end(store: Store) -> None:
    with closing(store.watch_commits()) as watch:
        assert not watch.wait(stopped())


def stopped() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_refused_transaction_and_one_that_reads_tell_nobody(store: Store) -> None:
    stopping = threading.Event()
    with closing(store.watch_commits()) as watch:
        watch.wait(stopping)
        with store.reading(SYSTEM) as session:
            session.execute(sa.select(Provider).limit(1)).scalar_one()
        with pytest.raises(ZeroDivisionError), store.writing(SYSTEM) as session:
            raise ZeroDivisionError
        assert not watch.wait(stopping)
