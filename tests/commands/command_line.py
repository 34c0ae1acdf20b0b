"""Commands as an operator types them, run in this process."""

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from core import seal
from core.cli import run
from core.settings import settings
from core.store.access import engine


@dataclass(frozen=True)
class Ended:
    """The end of a command: its return code and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def _forget() -> None:
    """Let the next look at settings and store be a fresh one, as in another process."""
    if engine.store.cache_info().currsize:
        engine.store().close()
    for cached in (engine.store, settings, seal._get_cipher, seal._hash_key):
        cached.cache_clear()


class _Typed(io.StringIO):
    """The text that a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def coverdesk(*words: str, stdin: str = "", typed: str | None = None, **environment: str) -> Ended:
    """One command, as `coverdesk` runs it; the store is the one that the environment names.

    `typed` is what a person at a terminal answers, in the place of `stdin`.
    """
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        # A bare `coverdesk demo` sets it for its process, which is this one.
        before = os.environ.get("COVERDESK_DEMO")
        patch.setenv("COVERDESK_DEMO", before or "")
        if before is None:
            patch.delenv("COVERDESK_DEMO")
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr("sys.argv", ["coverdesk", *words])
        patch.setattr("sys.stdin", io.StringIO(stdin) if typed is None else _Typed(typed))
        _forget()
        try:
            run()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            _forget()
    return Ended(code, out.getvalue(), err.getvalue())
