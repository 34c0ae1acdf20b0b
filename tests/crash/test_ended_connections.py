"""PostgreSQL ends connections at any moment of a transaction: whoever reads or writes is told to try again."""

import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Event
from typing import Any

import pytest
import sqlalchemy as sa

from core import clock
from core.errors import StoreUnavailable
from core.store.access import Scope, ScopedSession, Store, write_only_at
from core.store.access.compiled_query import read_batches
from core.store.access.statements import driver_connection
from core.store.schema import versions
from core.store.schema.tables import OneTimeTicket
from tests.crash.sizes import CRASHES

SYSTEM = Scope.system()
ROUNDS = 400 * CRASHES
_END_SOME = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5
"""

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)]),
]


def write(session: ScopedSession) -> None:
    for _ in range(random.randrange(1, 4)):
        session.insert(OneTimeTicket(ticket_hash=uuid.uuid4().hex, used_at=clock.now()))
    if random.random() < 0.5:
        session.count_rows(OneTimeTicket)


def write_in_block(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        write(session)


def read(store: Store) -> None:
    with store.reading(SYSTEM) as session:
        session.count_rows(OneTimeTicket)


def read_apart(store: Store) -> None:
    with store.reading_autocommit(SYSTEM) as session:
        session.count_rows(OneTimeTicket)


def stream(store: Store) -> None:
    with store.reading(SYSTEM) as session:
        for _ in read_batches(session, sa.select(OneTimeTicket.ticket_hash), size=100):  # type: ignore[call-overload]
            pass


ACTS: list[Callable[[Store], object]] = [
    lambda store: store.transact(SYSTEM, write),
    lambda store: store.submit(SYSTEM, write).result(),
    write_in_block,
    read,
    read_apart,
    stream,
]


@pytest.fixture
def serving(store: Store) -> Iterator[Store]:
    write_only_at(versions.newest())
    yield store
    write_only_at(None)


@pytest.mark.parametrize("is_write", [True, False])
def test_a_connection_on_which_nothing_can_be_rolled_back_is_missing_in_no_pool(store: Store, is_write: bool) -> None:
    with pytest.raises(NotImplementedError) as caught:
        refuse(store.writing if is_write else store.reading)
    pool: Any = store.engine.pool
    # The error is held, and with it what it has seen: nothing of that is garbage yet.
    assert pool.checkedout() == 0, caught
    store.transact(SYSTEM, write)


def refuse(opened: Callable[[Scope], AbstractContextManager[ScopedSession]]) -> None:
    with opened(SYSTEM) as session:
        session.count_rows(OneTimeTicket)
        # As where the server has ended it and this side has not yet noticed: busy, and not closed.
        driver_connection(session.connection()).pgconn.send_query(b"SELECT 1")
        raise NotImplementedError


def test_every_ended_connection_is_not_available_and_nothing_else(serving: Store) -> None:
    seen: Counter[str] = Counter()
    stopping, acted = Event(), Event()

    def act() -> None:
        while not stopping.is_set():
            try:
                random.choice(ACTS)(serving)
                seen["done"] += 1
            except StoreUnavailable:
                seen["not available"] += 1
            except Exception as error:
                seen[repr(error)] += 1
            acted.set()

    engine = sa.create_engine(serving.engine.url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with ThreadPoolExecutor(4) as threads, engine.connect() as ending:
        for _ in range(4):
            threads.submit(act)
        for _ in range(ROUNDS):
            acted.clear()
            acted.wait(10)
            ending.exec_driver_sql(_END_SOME)
        stopping.set()
    print(dict(seen))
    assert set(seen) == {"done", "not available"}
    serving.transact(SYSTEM, write)
