"""Consistent snapshots of a whole database as files, and restoring them.

SQLite copies its file page by page; PostgreSQL writes one CSV per table within one snapshot. Sales do not wait.
"""

import csv
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from core import clock
from core.errors import StateForbids
from core.store.access import Store
from core.store.access.statements import driver_connection
from core.store.schema import migrating

SQLITE, POSTGRESQL = "sqlite", "postgresql"
_FILE, _ROWS = "store.db", ".csv"
_CSV = "(FORMAT csv, HEADER)"
_CHUNK = 1 << 20
_IN_USE = "The store is in use: stop every server and worker first"
_ERASED = "SELECT 1 FROM erasure WHERE state = 'erased' LIMIT 1"
_OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)
# What sorting takes while indexes are made; the server's default would sort on its disk.
_SORTING = "256MB"
_FOREIGN_KEYS = """
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS make
FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace ORDER BY conname
"""
_INDEXES = """
SELECT format('DROP INDEX %s', indexrelid::regclass) AS drop, pg_get_indexdef(indexrelid) AS make
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = 'public'::regnamespace AND NOT indisunique ORDER BY indexrelid::regclass::text
"""


def kind_of(store: Store) -> str:
    """The kind of store; a snapshot restores only to the same kind."""
    return SQLITE if store.is_sqlite else POSTGRESQL


def take(store: Store, folder: Path) -> list[Path]:
    """Write a snapshot into a folder and return its files."""
    return [_of_sqlite(store, folder / _FILE)] if store.is_sqlite else list(_of_postgres(store, folder))


def put_back(store: Store, folder: Path, *, version: str) -> str | None:
    """Restore a snapshot, wholly or not at all; returns the name of the previous store's copy, if any.

    StateForbids while another process has the store open.
    """
    store.close()
    return _into_sqlite(store, folder / _FILE) if store.is_sqlite else _into_postgres(store, folder, version)


def _of_sqlite(store: Store, target: Path) -> Path:
    copy = _driver(store).connect(str(target))
    with store.engine.connect() as connection:
        source: Any = driver_connection(connection)
        try:
            # All pages in one step: a copy in several begins anew whenever somebody writes.
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            if copy.execute(_ERASED).fetchone():
                # Pages that nothing uses any more are copied as well: an erased person would be in them.
                copy.execute("VACUUM")
        finally:
            copy.close()
    return target


def _into_sqlite(store: Store, source: Path) -> str | None:
    target = Path(store.url.database or "")
    target.parent.mkdir(parents=True, exist_ok=True)
    arriving = target.with_name(f".{target.name}.arriving")
    shutil.copyfile(source, arriving)
    arriving.chmod(0o600)
    sync(arriving)
    kept = None
    if target.exists():
        _settle(_driver(store), target)
        kept = _aside(target.name)
        os.link(target, target.with_name(kept))
    arriving.replace(target)
    sync(target.parent)
    return kept


def _driver(store: Store) -> Any:
    return store.engine.dialect.loaded_dbapi


def _settle(sqlite: Any, target: Path) -> None:
    """Checkpoint the log and make sure that no other process has the file open."""
    alone = sqlite.connect(str(target), timeout=1, isolation_level=None)
    try:
        alone.execute("PRAGMA locking_mode = EXCLUSIVE")
        # A log can be left behind only by who is alone.
        if alone.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
            raise StateForbids(_IN_USE)
        alone.execute("BEGIN EXCLUSIVE")
        alone.execute("ROLLBACK")
    except sqlite.OperationalError:
        raise StateForbids(_IN_USE) from None
    finally:
        alone.close()


def _of_postgres(store: Store, folder: Path) -> Iterator[Path]:
    with store.engine.connect() as connection:
        _take_time(connection)
        for table in sa.inspect(connection).get_table_names():
            path = folder / f"{table}{_ROWS}"
            with path.open("wb") as file, _copying(connection, f'"{table}" TO STDOUT') as rows:
                for chunk in rows:
                    file.write(chunk)
            yield path


def _into_postgres(store: Store, folder: Path, version: str) -> str | None:
    with store.writers.begin() as connection:
        _take_time(connection)
        _refuse_others(connection)
        kept = _aside("public") if sa.inspect(connection).get_table_names() else None
        if kept:
            connection.exec_driver_sql(f'ALTER SCHEMA public RENAME TO "{kept}"')
            connection.exec_driver_sql("CREATE SCHEMA public")
        migrating.upgrade(connection, version)
        # Parents first: what a refund may be is looked up in its term.
        tables = [table for table, _ in sa.inspect(connection).get_sorted_table_and_fkc_names() if table]
        with _bare(connection):
            for table in tables:
                path = folder / f"{table}{_ROWS}"
                if path.is_file():
                    _empty(connection, table)
                    _load(connection, table, path)
    return kept


def _empty(connection: sa.Connection, table: str) -> None:
    """Delete what the migrations wrote, also from a table whose triggers allow rows to be added alone."""
    connection.exec_driver_sql(f'ALTER TABLE "{table}" DISABLE TRIGGER USER')
    connection.execute(sa.delete(sa.table(table)))
    connection.exec_driver_sql(f'ALTER TABLE "{table}" ENABLE TRIGGER USER')


@contextmanager
def _bare(connection: sa.Connection) -> Iterator[None]:
    """Drop foreign keys and indexes during the copy and recreate them at once, which is faster.

    A row that violates a foreign key fails the restore, and nothing is restored.
    """
    # A percent sign in these statements is one, and no place for a parameter.
    as_it_stands = {"no_parameters": True}
    made_again = [
        row for query in (_INDEXES, _FOREIGN_KEYS) for row in connection.exec_driver_sql(query, None, as_it_stands)
    ]
    for row in reversed(made_again):
        connection.exec_driver_sql(row.drop, None, as_it_stands)
    yield
    connection.exec_driver_sql(f"SET LOCAL maintenance_work_mem = '{_SORTING}'")
    for row in made_again:
        connection.exec_driver_sql(row.make, None, as_it_stands)


def _refuse_others(connection: sa.Connection) -> None:
    """Refuse while other connections are open; a connection just closed is still listed for a moment."""
    for wait in (0.0, 0.1, 0.2, 0.4, 0.8):
        time.sleep(wait)
        connection.exec_driver_sql("SELECT pg_stat_clear_snapshot()")
        if not connection.exec_driver_sql(_OTHERS).scalar_one():
            return
    raise StateForbids(_IN_USE)


def _load(connection: sa.Connection, table: str, path: Path) -> None:
    with path.open(newline="") as file:
        columns = ", ".join(f'"{name}"' for name in next(csv.reader(file)))
    with path.open("rb") as file, _copying(connection, f'"{table}" ({columns}) FROM STDIN') as rows:
        while chunk := file.read(_CHUNK):
            rows.write(chunk)


@contextmanager
def _copying(connection: sa.Connection, what: str) -> Iterator[Any]:
    raw: Any = driver_connection(connection)
    with raw.cursor() as cursor, cursor.copy(f"COPY {what} {_CSV}") as rows:
        yield rows


def _take_time(connection: sa.Connection) -> None:
    for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
        connection.exec_driver_sql(f"SET LOCAL {setting} = 0")


def _aside(name: str) -> str:
    return f"{name}_before_{clock.now():%Y%m%d_%H%M%S}"


def sync(path: Path) -> None:
    """Flush a file or directory to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
