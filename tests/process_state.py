"""No test leaves the process other than it found it: the next one in it would meet what this one left."""

import locale
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import structlog

from core.store.access import statements

# Written by pytest itself in each phase of a test.
_OF_PYTEST = "PYTEST_CURRENT_TEST"


class ProcessState(NamedTuple):
    """State that all tests of a process share and none may change."""

    umask: int
    environment: dict[str, str]
    folder: str
    signals: dict[int, Any]
    locale: str
    logging: tuple[Any, ...]
    structlog: dict[str, Any]
    writes_only_at: str | None


def state() -> ProcessState:
    """The state of this process now."""
    root = logging.getLogger()
    return ProcessState(
        umask=_umask(),
        environment={name: value for name, value in os.environ.items() if name != _OF_PYTEST},
        folder=str(Path.cwd()),
        signals={each: signal.getsignal(each) for each in signal.valid_signals()},
        locale=locale.setlocale(locale.LC_ALL),
        logging=(root.level, tuple(root.handlers), root.manager.disable, logging.lastResort),
        structlog=structlog.get_config(),
        writes_only_at=statements._wanted.version,
    )


def restore(before: ProcessState) -> None:
    """Put the process back, so that only the test that changed it fails."""
    os.umask(before.umask)
    for name in os.environ.keys() - before.environment.keys() - {_OF_PYTEST}:
        del os.environ[name]
    os.environ.update(before.environment)
    os.chdir(before.folder)
    for number, handler in before.signals.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)
    locale.setlocale(locale.LC_ALL, before.locale)
    level, handlers, disabled, logging.lastResort = before.logging
    logging.root.setLevel(level)
    logging.root.handlers[:] = handlers
    logging.disable(disabled)
    structlog.configure(**before.structlog)
    statements.write_only_at(before.writes_only_at)


def changes(before: ProcessState, after: ProcessState) -> dict[str, tuple[Any, Any]]:
    """Return the differences by name, as (before, after); of the environment only the variables that differ."""
    found = {name: (then, now) for name, then, now in zip(ProcessState._fields, before, after, strict=True)}
    for name in ("environment", "signals"):
        then, now = found[name]
        other = {key for key in then.keys() | now.keys() if then.get(key) != now.get(key)}
        found[name] = tuple({key: each[key] for key in other if key in each} for each in (then, now))
    return {name: (then, now) for name, (then, now) in found.items() if then != now}


def _umask() -> int:
    """Read where the system tells it: to ask by `os.umask` sets it for a moment, for every thread."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1], 8) for line in status.read_text().splitlines() if line.startswith("Umask:"))
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


@pytest.fixture(autouse=True)
def unchanged_process() -> Iterator[None]:
    """Fails a test that leaves the process changed. It is set up before other fixtures, so their patches are undone."""
    before, main = state(), sys.modules["__main__"]
    yield
    # A screen's script runs as this module, which is the first thing that a spawned process runs again.
    sys.modules["__main__"] = main
    if changed := changes(before, state()):
        restore(before)
        pytest.fail(f"this test left the process changed: {changed}")
