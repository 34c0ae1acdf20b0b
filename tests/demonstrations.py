"""The demonstration in the stores of many tests: written once in a process, copied afterwards."""

import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from core import demo
from core.settings import settings
from core.store.access import Store
from core.store.access.statements import driver_connection

_COPIES = tempfile.TemporaryDirectory(prefix="coverdesk-demonstrations-")
_written: dict[tuple[bool, int, int, datetime], tuple[demo.Summary, Path]] = {}


def write(store: Store, *, purchases: int, seed: int, until: datetime) -> demo.Summary:
    """Like `demo.write` into a store that is as new, but a second one of the same arguments is a copy of the first."""
    wanted = (store.is_sqlite, purchases, seed, until)
    if wanted not in _written:
        summary = demo.write(store, purchases=purchases, seed=seed, until=until)
        _written[wanted] = (summary, _keep(store, Path(tempfile.mkdtemp(dir=_COPIES.name))))
        return summary
    summary, copy = _written[wanted]
    _load(store, copy)
    return summary


def _keep(store: Store, folder: Path) -> Path:
    """Copy the rows and files of a store."""
    if store.is_sqlite:
        with store.engine.connect() as connection:
            ours = driver_connection(connection)
            kept = type(ours)(str(folder / "store.db"))
            ours.backup(kept)
            kept.close()
    else:
        with _connected(store) as connection:
            for table in _tables(connection):
                if connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
                    with (
                        (folder / f"{table}.rows").open("wb") as file,
                        connection.cursor().copy(f"COPY {table} TO STDOUT") as rows,
                    ):
                        file.writelines(rows)
    files = Path(settings().files_url)
    if files.exists():
        shutil.copytree(files, folder / "files")
    return folder


def _load(store: Store, folder: Path) -> None:
    """Give a store these rows and files, in place of its own."""
    if store.is_sqlite:
        with store.writers.connect() as connection:
            ours = driver_connection(connection)
            kept = type(ours)(str(folder / "store.db"))
            kept.backup(ours)
            kept.close()
    else:
        with _connected(store) as connection:
            emptied = "; ".join(f"DELETE FROM {table}" for table in _tables(connection))
            connection.execute(f"SET session_replication_role = replica; {emptied}")  # past the append-only triggers
            for path in folder.glob("*.rows"):
                with connection.cursor().copy(f"COPY {path.stem} FROM STDIN") as rows:
                    rows.write(path.read_bytes())
    if (folder / "files").exists():
        shutil.copytree(folder / "files", Path(settings().files_url), dirs_exist_ok=True)


def _connected(store: Store) -> psycopg.Connection[Any]:
    """A connection of our own, in one transaction that its block commits."""
    return psycopg.connect(store.url.set(drivername="postgresql").render_as_string(hide_password=False))


def _tables(connection: psycopg.Connection[Any]) -> list[str]:
    return [name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
