"""Files of this machine: permissions of a store, which its own account alone reads, and files that are not finished."""

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.store.access import Store

_OTHERS = 0o007
PRIVATE = 0o077


def restrict(store: "Store") -> None:
    """Restrict a SQLite file and its journals to its owner; files of other accounts are left alone."""
    if not store.is_sqlite or not store.url.database:
        return
    for ending in ("", "-wal", "-shm", "-journal"):
        path = Path(store.url.database + ending)
        if path.exists() and path.stat().st_mode & _OTHERS:
            with contextlib.suppress(PermissionError):
                path.chmod(path.stat().st_mode & ~_OTHERS)


def begin_private() -> None:
    """Files that this process makes from now on are for its own account."""
    os.umask(PRIVATE)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a temporary file or folder for the duration of the block."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # On a file system without locks nothing is ever cleared.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def clear(folder: Path, pattern: str) -> None:
    """Delete unlocked temporary files that match the pattern; empty ones may just have been created."""
    for path in folder.glob(pattern):
        if _is_started(path) and not _is_held(path):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _is_started(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.stat().st_size > 0


def _is_held(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
