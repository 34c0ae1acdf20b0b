"""The release: its version stands in pyproject.toml, its commit in the wheel or in the checkout."""

import contextlib
import re
from importlib.metadata import version
from pathlib import Path
from typing import Final

from core import paths

VERSION: Final = version("coverdesk")
_HASH = re.compile(r"[0-9a-f]{40}")


def get_commit(root: Path = paths.ROOT) -> str | None:
    """Return the commit of a wheel (`commit`, written by deploy/build_hook.py) or of a checkout; None if unknown."""
    with contextlib.suppress(OSError):
        return _read_hash(root / "commit")
    with contextlib.suppress(OSError):
        return _read_checkout(root / ".git")
    return None


def _read_checkout(git: Path) -> str | None:
    """Read HEAD without calling git, which a server does not have."""
    if git.is_file():  # a linked worktree
        git = (git.parent / git.read_text().removeprefix("gitdir:").strip()).resolve()
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head if _HASH.fullmatch(head) else None
    main = git / (git / "commondir").read_text().strip() if (git / "commondir").exists() else git
    reference = head.removeprefix("ref: ")
    for folder in (git, main):
        if (folder / reference).exists():
            return _read_hash(folder / reference)
    packed = re.search(rf"^([0-9a-f]{{40}}) {re.escape(reference)}$", (main / "packed-refs").read_text(), re.MULTILINE)
    return packed[1] if packed else None


def _read_hash(path: Path) -> str | None:
    text = path.read_text().strip()
    return text if _HASH.fullmatch(text) else None
