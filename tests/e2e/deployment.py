"""A desk of several machines on one: two API processes, two of screens, a worker, an insurer, a proxy."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.e2e.round_robin import RoundRobin
from tests.ports import free_port, get_status

_STARTS_WITHIN_SECONDS = 300
_COVERDESK = (sys.executable, "-c", "from core.cli import main; main()")


@dataclass(frozen=True)
class Deployment:
    """The address of all, the proxy, and where each process listens."""

    url: str
    proxy: RoundRobin
    api: tuple[int, int]
    screens: tuple[int, int]
    log: Path
    serve_screens: Callable[[], None]
    """Start the processes of screens; a test that looks at none of them does without."""


@contextmanager
def deployed(folder: Path, database_url: str) -> Iterator[Deployment]:
    """Every process of it but those of screens, ready; they end with the block."""
    port, insurer, *ports = (free_port() for _ in range(6))
    api, screens = (ports[0], ports[1]), (ports[2], ports[3])
    url, log = f"http://127.0.0.1:{port}", folder / "processes.log"
    environment = {
        **os.environ,
        "COVERDESK_DATABASE_URL": database_url,
        "COVERDESK_FILES_URL": str(folder / "files"),
        "COVERDESK_BASE_URL": url,
        "COVERDESK_PROXIES": "127.0.0.1",
        "COVERDESK_WORKER": "false",
        **{f"COVERDESK_INSURER_{letter}_URL": f"http://127.0.0.1:{insurer}" for letter in "ABCDEFG"},
    }
    with ExitStack() as open_:
        open_.enter_context(
            _running(environment, log, "sandbox-insurer", "--port", str(insurer), "--always", "approves")
        )
        open_.enter_context(_running(environment, log, "worker"))
        for each in api:
            open_.enter_context(_running(environment, log, "api", "--port", str(each)))
        for each in api:
            _wait_until_ready(each, log)

        def serve_screens() -> None:
            for each in screens:
                open_.enter_context(_running(environment, log, "serve", "--port", str(each)))
            for each in screens:
                _wait_until_ready(each, log)

        proxy = open_.enter_context(RoundRobin(port, api=api, screens=screens))
        yield Deployment(url, proxy, api, screens, log, serve_screens)


@contextmanager
def _running(environment: Mapping[str, str], log: Path, *words: str) -> Iterator[None]:
    with log.open("ab") as out:
        process = subprocess.Popen([*_COVERDESK, *words], cwd=ROOT, env=environment, stdout=out, stderr=out)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(port: int, log: Path) -> None:
    until = time.monotonic() + _STARTS_WITHIN_SECONDS
    while get_status(f"http://127.0.0.1:{port}/readyz") != 200:
        if time.monotonic() > until:
            pytest.fail(f"a process did not start:\n{log.read_text()[-3000:]}")
        time.sleep(0.2)
