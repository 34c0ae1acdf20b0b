"""Temporary files in the making, cleaned up after killed commands.

The writer holds a lock that ends with its process, so that the next command can tell abandoned files from live ones.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
