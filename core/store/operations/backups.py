"""Backup and restore: one tar with a database snapshot, the uploaded files it names, and a manifest.

The manifest comes last and holds the hash of every part, so that a broken backup is found before anything is
changed. The server secret is not included: whoever restores must have it.

The snapshot is consistent, and sales do not wait: SQLite copies its file page by page; PostgreSQL writes one CSV per
table within one snapshot. A snapshot of SQLite is restored into PostgreSQL too, which is how a business moves there.
"""

import csv
import errno
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, count
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput, StateForbids
from core.store.access import Scope, Store
from core.store.access.sqlite import reading_engine
from core.store.access.statements import driver_connection
from core.store.operations import blob_storage, local_files, secret_mark
from core.store.schema import migrating, versions
from core.store.schema.tables import UploadedFile

_CHUNK = 1 << 20
_NO_ROOM = ("database or disk is full", "disk I/O error")
SQLITE, POSTGRESQL = "sqlite", "postgresql"
_FILE, _ROWS = "store.db", ".csv"
_CSV = "(FORMAT csv, HEADER)"
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
FROM pg_constraint WHERE contype = 'f' AND connamespace = quote_ident(current_schema())::regnamespace ORDER BY conname
"""
_INDEXES = """
SELECT format('DROP INDEX %s', indexrelid::regclass) AS drop, pg_get_indexdef(indexrelid) AS make
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = quote_ident(current_schema())::regnamespace AND NOT indisunique ORDER BY indexrelid::regclass::text
"""


def database_kind(store: Store) -> str:
    """The kind of store; a snapshot is restored into the same kind, and one of SQLite into PostgreSQL."""
    return SQLITE if store.is_sqlite else POSTGRESQL


def is_move(store: Store, manifest: "Manifest") -> bool:
    """True where a backup of SQLite is restored into PostgreSQL."""
    return (manifest.kind, database_kind(store)) == (SQLITE, POSTGRESQL)


def take(store: Store, folder: Path) -> list[Path]:
    """Write a snapshot into a folder and return its files."""
    return [_of_sqlite(store, folder / _FILE)] if store.is_sqlite else list(_of_postgres(store, folder))


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
        except _driver(store).OperationalError as error:
            # The copy of pages has no code of its error, and all that it writes is the copy.
            if str(error) in _NO_ROOM:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            raise
        finally:
            copy.close()
    return target


def _into_sqlite(store: Store, source: Path) -> str | None:
    target = Path(store.url.database or "")
    target.parent.mkdir(parents=True, exist_ok=True)
    arriving = target.with_name(f".{target.name}.arriving")
    shutil.copyfile(source, arriving)
    arriving.chmod(0o600)
    local_files.sync(arriving)
    kept = None
    if target.exists():
        _settle(_driver(store), target)
        kept = _aside(target.name, lambda name: target.with_name(name).exists())
        os.link(target, target.with_name(kept))
    arriving.replace(target)
    local_files.sync(target.parent)
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


def _write_rows(source: Path, folder: Path) -> None:
    """Write the tables of a SQLite file as PostgreSQL copies them out; both have the same ones at one version."""
    engine = reading_engine(sa.URL.create("sqlite", database=str(source)), connections=1)
    with engine.connect() as connection:
        driver: Any = driver_connection(connection)
        for table in sa.inspect(connection).get_table_names():
            rows = driver.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - a name of the schema
            with (folder / f"{table}{_ROWS}").open("w", newline="") as file:
                file.write(_as_line(column[0] for column in rows.description))
                file.writelines(map(_as_line, rows))
    engine.dispose()


def _as_line(values: Iterable[Any]) -> str:
    """Return a line of a CSV file in which nothing, unlike an empty text, stands without quotes."""
    return ",".join("" if value is None else _quote(value) for value in values) + "\n"


def _quote(value: Any) -> str:
    text = f"\\x{value.hex()}" if isinstance(value, bytes) else str(value)
    return '"' + text.replace('"', '""') + '"'


def _into_postgres(store: Store, folder: Path, version: str) -> str | None:
    with store.writers.begin() as connection:
        _take_time(connection)
        # Instants of SQLite have no offset.
        connection.exec_driver_sql("SET LOCAL timezone = 'UTC'")
        _refuse_others(connection)
        kept = _set_aside_schema(connection)
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


def _set_aside_schema(connection: sa.Connection) -> str | None:
    """Rename the schema in which the store stands, and make an empty one; return the new name, None without tables."""
    inspector = sa.inspect(connection)
    if not inspector.get_table_names():
        return None
    # Another one than "public" where the address sets the search path.
    schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    kept = _aside(schema, inspector.has_schema)
    quote = connection.dialect.identifier_preparer.quote_identifier
    connection.exec_driver_sql(f"ALTER SCHEMA {quote(schema)} RENAME TO {quote(kept)}")
    connection.exec_driver_sql(f"CREATE SCHEMA {quote(schema)}")
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


def _aside(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return the name under which what stood there is kept; of several in one second the later ones are numbered."""
    first = f"{name}_before_{clock.now():%Y%m%d_%H%M%S}"
    return next(each for each in chain([first], (f"{first}_{n}" for n in count(2))) if not is_taken(each))


def rewrite(store: Store) -> None:
    """Rewrite every table: on SQLite the file and its log, on PostgreSQL each table under an exclusive lock.

    Connections of its own: neither works inside a transaction, and those of a store always are in one.
    """
    store.close()
    if store.is_sqlite:
        driver: Any = store.engine.dialect.loaded_dbapi
        with closing(driver.connect(str(store.url.database), isolation_level=None)) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    engine = sa.create_engine(store.url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as postgres:
        postgres.exec_driver_sql("VACUUM FULL")


FORMAT = 1
_MANIFEST, _DATABASE, _FILES = "manifest.json", "database/", "files/"
_PART = re.compile(r"database/[a-z_]+\.(db|csv)|files/[a-z0-9]+")
_BACKING_UP, _RESTORING = ".coverdesk-backup-", ".coverdesk-restore-"
Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """Description of a backup: `hashes` are SHA-256 by part name, `lost` are files that were missing."""

    id: str
    format: int
    kind: str
    version: str
    made_at: str
    secret: str
    hashes: Mapping[str, str]
    lost: list[str]

    @property
    def files(self) -> int:
        """The number of uploaded files."""
        return sum(name.startswith(_FILES) for name in self.hashes)


def make(store: Store, target: Path, *, progress: Progress, overwrite: bool = False) -> Manifest:
    """Write a backup, whole or not at all, while sales go on; `progress` receives the size of each chunk."""
    if not target.parent.is_dir():
        raise InvalidInput.for_field("FILE", "must lie in a folder that exists")
    if target.exists() and not target.is_file():
        raise InvalidInput.for_field("FILE", "must be a file, and no folder or device stands in its place")
    if target.exists() and not overwrite:
        raise InvalidInput.for_field("FILE", "exists already: name another, or say --overwrite")
    if versions.version(store) is None:
        raise StateForbids("There is no store yet to back up: `coverdesk init` makes one")
    with _drafting(target.parent, _BACKING_UP) as folder:
        draft = folder / "whole.tar"
        hashes: dict[str, str] = {}
        lost: list[str] = []
        with tarfile.open(draft, "w") as tar:
            for part in take(store, folder):
                hashes[_DATABASE + part.name] = _add(tar, _DATABASE + part.name, part, progress)
                part.unlink()
            # Files stand before their rows do and never change: those named now hold all that the snapshot names.
            with store.reading(Scope.system()) as session:
                codes = (
                    session.execute(sa.select(col(UploadedFile.code)).order_by(col(UploadedFile.code))).scalars().all()
                )
            for code in codes:
                path = blob_storage.path_of(code)
                if path.is_file():
                    hashes[_FILES + code] = _add(tar, _FILES + code, path, progress)
                else:
                    lost.append(code)
            manifest = _manifest(store, hashes, lost)
            stated = json.dumps(asdict(manifest)).encode()
            tar.addfile(_entry(_MANIFEST, len(stated)), io.BytesIO(stated))
        local_files.sync(draft)
        draft.chmod(0o600)
        draft.replace(target)
    local_files.sync(target.parent)
    return manifest


def read(source: Path, *, progress: Progress) -> Manifest:
    """Return the manifest of a backup after checking every part; InvalidInput for a broken one."""
    found: dict[str, str] = {}
    stated: Manifest | None = None
    try:
        for name, content in _parts(source):
            if name == _MANIFEST:
                stated = Manifest(**json.loads(content.read()))
            else:
                found[name] = _hash_of(content, progress)
    except (tarfile.TarError, EOFError, ValueError, TypeError):
        raise _broken() from None
    if stated is None or found != stated.hashes or not all(map(_PART.fullmatch, found)):
        raise _broken()
    return stated


def put_back(store: Store, source: Path, manifest: Manifest, *, progress: Progress) -> str | None:
    """Restore a checked backup; returns the name under which the previous store was kept, if any.

    StateForbids when it does not fit this kind of store, secret or release, or while the store is in use.
    """
    _refuse_misfit(store, manifest)
    with _drafting(source.parent, _RESTORING) as folder:
        for part, content in _parts(source):
            if part.startswith(_DATABASE):
                _write(folder / part.removeprefix(_DATABASE), content, progress)
            elif part.startswith(_FILES):
                _put_file(part.removeprefix(_FILES), content.read(), progress)
        store.close()
        if is_move(store, manifest):
            _write_rows(folder / _FILE, folder)
        kept = (
            _into_sqlite(store, folder / _FILE) if store.is_sqlite else _into_postgres(store, folder, manifest.version)
        )
    migrating.migrate(store)
    return kept


@contextmanager
def _drafting(where: Path, prefix: str) -> Iterator[Path]:
    """A temporary folder for a file in the making; leftovers of killed commands are removed first."""
    local_files.clear(where, f"{prefix}*")
    with tempfile.TemporaryDirectory(prefix=prefix, dir=where) as name, local_files.locked(Path(name)):
        yield Path(name)


def _refuse_misfit(store: Store, manifest: Manifest) -> None:
    here = database_kind(store)
    if manifest.kind not in {here, SQLITE}:
        raise StateForbids(f"This backup is of a {manifest.kind} store, COVERDESK_DATABASE_URL names a {here} one")
    if manifest.secret != secret_mark.mark():
        raise StateForbids("This backup was made under another COVERDESK_SECRET_KEY: restore it under that one")
    if manifest.format != FORMAT:
        raise StateForbids("This backup was made by a newer release: restore it with that one")
    versions.refuse_unknown(manifest.version, "backup")


def _manifest(store: Store, hashes: Mapping[str, str], lost: list[str]) -> Manifest:
    return Manifest(
        id=str(ids.new()),
        format=FORMAT,
        kind=database_kind(store),
        version=versions.version(store) or "",
        made_at=clock.to_wire(clock.now()) or "",
        secret=secret_mark.mark(),
        hashes=hashes,
        lost=lost,
    )


def _add(tar: tarfile.TarFile, name: str, path: Path, progress: Progress) -> str:
    with path.open("rb") as file:
        passing = _HashingReader(file, progress)
        tar.addfile(_entry(name, path.stat().st_size), passing)
    return passing.digest.hexdigest()


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, int(clock.now().timestamp())
    return entry


class _HashingReader:
    """A file object that hashes and counts what is read from it."""

    def __init__(self, file: IO[bytes], progress: Progress) -> None:
        self._file, self._progress, self.digest = file, progress, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        self._progress(len(chunk))
        return chunk


def _parts(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with tarfile.open(source, "r:") as tar:
        for entry in tar:
            if content := tar.extractfile(entry):
                yield entry.name, content


def _broken() -> InvalidInput:
    return InvalidInput.for_field("FILE", "must be a whole backup: this one is broken, or is none")


def _hash_of(content: IO[bytes], progress: Progress) -> str:
    passing = _HashingReader(content, progress)
    while passing.read(_CHUNK):
        pass
    return passing.digest.hexdigest()


def _write(path: Path, content: IO[bytes], progress: Progress) -> None:
    with path.open("wb") as file:
        while chunk := content.read(_CHUNK):
            file.write(chunk)
            progress(len(chunk))


def _put_file(code: str, content: bytes, progress: Progress) -> None:
    if not blob_storage.path_of(code).is_file():
        blob_storage.put(code, content)
    progress(len(content))
