"""File permissions: the database file holds personal data and is readable by its own account only."""

import contextlib
import os
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
