"""Files that have no name yet, because they are still being written: a command that is killed leaves its draft behind.

Who writes a draft holds a lock on it, which ends with the process, however that ends. So the next command can tell what
nobody works on any more, and clears it away.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a draft, a file or a folder, while the block lasts."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # On a file system without locks nothing is ever cleared.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def clear(folder: Path, pattern: str) -> None:
    """Remove the drafts of this pattern that nobody holds; one without content may be just beginning."""
    for path in folder.glob(pattern):
        if _is_begun(path) and not _is_held(path):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def _is_begun(path: Path) -> bool:
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
