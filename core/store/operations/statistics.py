"""Planner statistics for SQLite and PostgreSQL, so that queries use the right index."""

import json
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


def _measure(connection: sa.Connection) -> None:
    # A million sales on a busy machine take longer than a request may. Tables by name leave the server's own lists
    # alone, in which two stores of one server would meet; a table that is locked is being measured already.
    connection.exec_driver_sql("SET LOCAL statement_timeout = '5min'")
    tables = sa.inspect(connection).get_table_names()
    connection.exec_driver_sql(f"ANALYZE (SKIP_LOCKED) {', '.join(tables)}")


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
