"""The real server and real commands as processes: started, asked, killed, stopped."""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol
from unittest import mock

from core.api import preloading
from core.cli import COMMANDS
from core.settings import ROOT
from tests.ports import free_port, get_status

_COVERDESK = (sys.executable, "-c", "from core.cli import main; main()")
_PATIENCE = 180
# A process of this kind has loaded our code already, so that a kill meets work and not the loading of modules.
_LOADED = multiprocessing.get_context("forkserver")
_LOADED.set_forkserver_preload(
    [
        "core.api.app",
        *sorted({f"core.commands.{module}" for module, _ in COMMANDS.values()} - {"core.commands.verify"}),
        *preloading.PAPERS,
        "tests.crash.serving",
    ]
)


class Process(Protocol):
    """A process of ours."""

    pid: int

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...


class _Forked:
    """A process that began with our code loaded."""

    def __init__(
        self, does: Callable[..., None], given: Sequence[Any], environment: Mapping[str, str], log: Path
    ) -> None:
        self._process = _LOADED.Process(target=_run, args=(does, tuple(given), dict(environment), str(log)))
        # A new process runs its parent's main module again; after a test of a screen that is the screen.
        with mock.patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
            self._process.start()
        assert self._process.pid
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("coverdesk", timeout or 0)
        return self._process.exitcode


def _run(does: Callable[..., None], given: Sequence[Any], environment: Mapping[str, str], log: str) -> None:
    """Call a function in a process that has loaded everything, which begins as one that a shell starts."""
    os.setsid()
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ.update(environment)
    os.chdir(ROOT)
    warnings.resetwarnings()
    does(*given)


def _command(*words: str) -> None:
    """Run a command as it would be typed."""
    sys.argv = ["coverdesk", *words]
    from core.cli import main

    main()


def loaded(*words: str, environment: Mapping[str, str], log: Path) -> Process:
    """A command in a process that needs no time to load our code."""
    return _Forked(_command, words, environment, log)


def loaded_with(does: Callable[..., None], *given: Any, environment: Mapping[str, str], log: Path) -> Process:
    """A function of a module in such a process."""
    return _Forked(does, given, environment, log)


def executed(*words: str, environment: Mapping[str, str], log: Path) -> Process:
    """A command as an operator types it, whose Python keeps what it has compiled once."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with log.open("ab") as out:
        return subprocess.Popen(
            [*_COVERDESK, *words],
            cwd=ROOT,
            env={**usual, **environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


def kill(process: Process) -> None:
    """End a process and its children where they are."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        # It has ended by itself, or has not come as far as to lead a group.
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
    process.wait(30)


class Server:
    """One server on a port that stays the same, whatever happens to its process."""

    def __init__(self, environment: Mapping[str, str], folder: Path, *words: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.words = (*(words or ("api",)), "--port", str(self.port))
        self.log = folder / "server.log"
        self.environment = {**environment, "COVERDESK_BASE_URL": self.url}
        self.process: Process | None = None

    def start(self, begin: Callable[..., Process] = loaded) -> float:
        """Start it; the seconds until it was ready."""
        began = time.monotonic()
        self.process = begin(*self.words, environment=self.environment, log=self.log)
        while self.ready() != 200:
            assert self.process.poll() is None, f"the server ended:\n{self.log.read_text()[-3000:]}"
            assert time.monotonic() - began < _PATIENCE, "the server does not get ready"
            time.sleep(0.02)
        return time.monotonic() - began

    def ready(self) -> int | None:
        """The status of `/readyz`; none while nobody answers."""
        return get_status(f"{self.url}/readyz", timeout=15)

    def healed(self, within: float) -> float:
        """The seconds until it is ready, without a new start."""
        began = time.monotonic()
        while self.ready() != 200:
            assert time.monotonic() - began < within, "the server does not heal"
            time.sleep(0.02)
        return time.monotonic() - began

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """kill -9, whatever it is doing."""
        assert self.process
        kill(self.process)

    def terminated(self, within: float) -> float:
        """Ask it to end, as a service manager does; the seconds that it took."""
        assert self.process
        began = time.monotonic()
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.wait(within)
        return time.monotonic() - began

    def limit_files(self, most: int) -> None:
        """No file may be written beyond so many bytes, as on a full disk; RLIM_INFINITY lifts that."""
        assert self.process
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
