"""Opening a SQLite file: durability at a power cut, and safety of two writers."""

import pytest

from core.store.access import Store, wal_is_safe
from core.store.access.sqlite import sqlite
from tests.every_case import every_case

pytestmark = pytest.mark.both_databases

only_sqlite = pytest.mark.parametrize("database", ["sqlite"])
# As SQLite numbers them.
FULL, ON, TEN_SECONDS = 2, 1, 10_000


@pytest.mark.usefixtures("waits_for_disk")
@only_sqlite
def test_every_connection_keeps_what_it_acknowledged_and_checks_what_refers(store: Store) -> None:
    journal = "wal" if wal_is_safe() else "delete"
    for engine in (store.engine, store.writers):
        with engine.connect() as connection:
            values = [
                connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            ]
        assert values == [journal, FULL, ON, TEN_SECONDS]


@only_sqlite
def test_readers_wait_for_nobody_where_the_log_is_safe(store: Store) -> None:
    assert store.reads_never_block is wal_is_safe()
    with store.writers.begin(), store.engine.connect() as reader:
        assert reader.exec_driver_sql("SELECT count(*) FROM product").scalar_one() > 0


@only_sqlite
def test_a_writer_of_another_process_waits_from_its_first_statement(store: Store) -> None:
    other = sqlite.connect(str(store.url.database), timeout=0, isolation_level=None)
    try:
        with store.writers.begin(), pytest.raises(sqlite.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    finally:
        other.close()


@every_case(
    ("version", "safe"),
    [
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((4, 0, 0), True),
    ],
)
def test_only_releases_with_the_cure_keep_a_write_ahead_log(version: tuple[int, ...], *, safe: bool) -> None:
    assert wal_is_safe(version) is safe
