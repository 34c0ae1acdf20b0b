"""Uploaded files on disk: private, atomic, and under random names."""

import os
import unicodedata
from collections.abc import Iterator, Set
from pathlib import Path, PurePosixPath
from typing import Final

from core import clock
from core.settings import settings
from core.store.operations import local_files

_LONGEST_NAME: Final = 150


def path_of(code: str) -> Path:
    """The path of a file; spread over folders to keep each small."""
    return _shelf() / code[:2] / code


def put(code: str, content: bytes) -> None:
    """Write a file atomically: whole or absent, also after a crash."""
    path = path_of(code)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    arriving = path.with_suffix(".arriving")
    try:
        with os.fdopen(os.open(arriving, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        arriving.rename(path)
    except BaseException:
        arriving.unlink(missing_ok=True)
        raise
    local_files.sync(path.parent)


def remove(code: str) -> None:
    """Delete a file if it exists."""
    path_of(code).unlink(missing_ok=True)


def strays(known: Set[str], *, minutes: int) -> Iterator[Path]:
    """Files older than a while that match none of these codes: left behind by interrupted uploads."""
    latest = clock.now().timestamp() - minutes * 60
    for path in _shelf().glob("*/*"):
        if path.name not in known and path.is_file() and path.stat().st_mtime < latest:
            yield path


def _shelf() -> Path:
    return settings().files_folder


def shown_name(sent: str, suffixes: tuple[str, ...]) -> str:
    """The uploaded name for display: no folders, no invisible characters, the suffix of the real type."""
    last = unicodedata.normalize("NFC", sent).replace("\\", "/").rsplit("/", 1)[-1]
    visible = "".join(character if character.isprintable() else " " for character in last)
    bare = PurePosixPath(" ".join(visible.split()).strip(". ") or "file")
    fits = bare.suffix.lower() in suffixes
    stem, suffix = (bare.stem, bare.suffix) if fits else (bare.name, suffixes[0])
    return f"{stem[:_LONGEST_NAME]}{suffix}"
