"""Stores that begin with the same rows: filled once in a process of tests, copied for every later test."""

import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from core import demo
from core.settings import settings
from core.store.access import Store
from core.store.access.statements import driver_connection

_COPIES = tempfile.TemporaryDirectory(prefix="coverdesk-prefilled-")
_filled: dict[tuple[bool, object], tuple[Any, Path]] = {}
T = TypeVar("T")


def prefilled(store: Store, key: object, fill: Callable[[Store], T]) -> T:
    """Like `fill(store)` on a store that is as new, but a second one of the same key is a copy of the first.

    The answer is shared by all of them, so that it may not change.
    """
    wanted = (store.is_sqlite, key)
    if wanted not in _filled:
        answer = fill(store)
        _filled[wanted] = (answer, _keep(store, Path(tempfile.mkdtemp(dir=_COPIES.name))))
        return answer
    answer, copy = _filled[wanted]
    _load(store, copy)
    return answer  # type: ignore[no-any-return]


def demonstration_copy(store: Store, *, purchases: int, seed: int, until: datetime) -> demo.Summary:
    """Like `demo.write`, for a test of what it is and not of how it gets there."""
    fill = partial(demo.write, purchases=purchases, seed=seed, until=until)
    return prefilled(store, ("demonstration", purchases, seed, until), fill)


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
        # In place of the file: through a connection all of it would be written to the log of writes first.
        store.drop_idle_connections()
        assert not Path(f"{store.url.database}-wal").exists(), "somebody else has the store open"
        shutil.copy(folder / "store.db", str(store.url.database))
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
