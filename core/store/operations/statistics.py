"""Planner statistics for SQLite and PostgreSQL, so that queries use the right index."""

import json
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from core.store.access import Store

# As SQLite measured them on a portfolio of 20,000 purchases; `ANALYZE` writes the same three columns. Those of
# adjustments, calls and uploaded files, of which the portfolio has too few, are as of 2,000 rows.
_MEASURED = Path(__file__).with_suffix(".json")
_TELLING = 20_000


def refresh(store: Store) -> None:
    """Run ANALYZE on a store of some size; a small one gets the statistics of a store in use.

    Without statistics SQLite uses the distributor's index to find one policy by number or risk and reads all of them,
    and a store that grows from empty slows down with every sale. A mix of measured and default figures makes it think
    policies rarer than their purchases and start with them.
    """
    with store.writers.begin() as connection:
        if not store.is_sqlite:
            _measure(connection)
            return
        connection.exec_driver_sql("PRAGMA analysis_limit=2000")
        connection.exec_driver_sql("ANALYZE")
        _lend(connection)
    # A connection reads the figures when it is opened.
    store.drop_idle_connections()


def refresh_grown(store: Store) -> None:
    """Run ANALYZE on the tables of PostgreSQL that hold four times as much as when they were measured.

    Its own measuring looks once a minute. Until then it thinks that one of two hundred rows has a given value: it reads
    a whole table to find the loans of a chunk, and to check what a row refers to. SQLite was lent figures at its start.
    A table that was measured while all of its rows were still to be committed counts as never measured.
    """
    if store.is_sqlite:
        return
    with store.writers.begin() as connection:
        grown = connection.exec_driver_sql(_GROWN).scalars().all()
        if grown:
            _measure(connection, grown)


_GROWN = (
    "SELECT c.relname FROM pg_class c"
    " WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r'"
    " AND pg_relation_size(c.oid) > 4 * current_setting('block_size')::int"
    " * greatest(CASE WHEN c.reltuples > 0 THEN c.relpages END, 4) ORDER BY c.relname"
)


def _measure(connection: sa.Connection, tables: Sequence[str] = ()) -> None:
    # A million sales on a busy machine take longer than a request may. Tables by name leave the server's own lists
    # alone, in which two stores of one server would meet; a table that is locked is being measured already.
    connection.exec_driver_sql("SET LOCAL statement_timeout = '5min'")
    named = ", ".join(tables or sa.inspect(connection).get_table_names())
    connection.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {named}")


def _lend(connection: sa.Connection) -> None:
    """Replace all statistics, or those of empty tables, by figures measured on a store in use."""
    measured: dict[str, list[tuple[str, str]]] = {}
    for table, index, figures in json.loads(_MEASURED.read_text()):
        measured.setdefault(table, []).append((index, figures))
    is_large = _has_row(connection, "purchase", after=_TELLING)
    for table, rows in measured.items():
        if is_large and _has_row(connection, table):
            continue
        connection.exec_driver_sql("DELETE FROM sqlite_stat1 WHERE tbl = ?", (table,))
        for index, figures in rows:
            connection.exec_driver_sql("INSERT INTO sqlite_stat1 VALUES (?, ?, ?)", (table, index, figures))


def _has_row(connection: sa.Connection, table: str, *, after: int = 0) -> bool:
    return (
        connection.execute(sa.select(sa.literal(1)).select_from(sa.table(table)).limit(1).offset(after)).first()
        is not None
    )
