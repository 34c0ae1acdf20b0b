"""Backup and restore: one tar with a database snapshot, the uploaded files it names, and a manifest.

The manifest comes last and holds the hash of every part, so that a broken backup is found before anything is
changed. The server secret is not included: whoever restores must have it.
"""

import hashlib
import io
import json
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput, StateForbids
from core.store.access import Scope, Store
from core.store.operations import blob_storage, local_files, secret_mark, snapshots
from core.store.schema import migrating, versions
from core.store.schema.tables import UploadedFile


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
_CHUNK = 1 << 20
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
    if target.exists() and not overwrite:
        raise InvalidInput.for_field("FILE", "exists already: name another, or say --overwrite")
    if versions.version(store) is None:
        raise StateForbids("There is no store yet to back up: `coverdesk init` makes one")
    with _drafting(target.parent, _BACKING_UP) as folder:
        draft = folder / "whole.tar"
        hashes: dict[str, str] = {}
        lost: list[str] = []
        with tarfile.open(draft, "w") as tar:
            for part in snapshots.take(store, folder):
                hashes[_DATABASE + part.name] = _add(tar, _DATABASE + part.name, part, progress)
                part.unlink()
            # Files stand before their rows do and never change: those named now hold all that the snapshot names.
            for code in _codes(store):
                path = blob_storage.path_of(code)
                if path.is_file():
                    hashes[_FILES + code] = _add(tar, _FILES + code, path, progress)
                else:
                    lost.append(code)
            manifest = _manifest(store, hashes, lost)
            _add_bytes(tar, _MANIFEST, json.dumps(asdict(manifest)).encode())
        snapshots.sync(draft)
        draft.chmod(0o600)
        draft.replace(target)
    snapshots.sync(target.parent)
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
        kept = snapshots.put_back(store, folder, version=manifest.version)
    migrating.migrate(store)
    return kept


@contextmanager
def _drafting(where: Path, prefix: str) -> Iterator[Path]:
    """A temporary folder for a file in the making; leftovers of killed commands are removed first."""
    local_files.clear(where, f"{prefix}*")
    with tempfile.TemporaryDirectory(prefix=prefix, dir=where) as name, local_files.locked(Path(name)):
        yield Path(name)


def _refuse_misfit(store: Store, manifest: Manifest) -> None:
    here = snapshots.kind_of(store)
    if manifest.kind != here:
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
        kind=snapshots.kind_of(store),
        version=versions.version(store) or "",
        made_at=clock.to_wire(clock.now()) or "",
        secret=secret_mark.mark(),
        hashes=hashes,
        lost=lost,
    )


def _codes(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return list(session.execute(sa.select(col(UploadedFile.code)).order_by(col(UploadedFile.code))).scalars())


def _add(tar: tarfile.TarFile, name: str, path: Path, progress: Progress) -> str:
    with path.open("rb") as file:
        passing = _HashingReader(file, progress)
        tar.addfile(_entry(name, path.stat().st_size), passing)
    return passing.digest.hexdigest()


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    tar.addfile(_entry(name, len(content)), io.BytesIO(content))


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
