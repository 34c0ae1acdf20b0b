"""Servers under load: ours and the bare one, each in a process of its own, and what drives them."""

import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.portfolios import Portfolio
from tests.bench.processes import running

CONNECTIONS = 16
OURS = [str(Path(sys.executable).with_name("coverdesk")), "api"]
_UVICORN = [sys.executable, "-m", "uvicorn", "--no-access-log", "--log-level", "warning", "--lifespan", "off"]
BARE = [*_UVICORN, "tests.bench.raw_reads:app"]
_SCRIPT = """
local paths, at = {%s}, 0
request = function() at = at %% #paths + 1; return wrk.format("GET", paths[at]) end
"""


@dataclass(frozen=True)
class Load:
    """Result under load: answers a second, and the 99th percentile in milliseconds."""

    per_second: float
    p99: float


def middle(loads: Sequence[Load]) -> Load:
    """The medians of several rounds."""
    return Load(median(load.per_second for load in loads), median(load.p99 for load in loads))


@contextmanager
def serving(command: Sequence[str], portfolio: Portfolio, **more: str) -> Iterator[str]:
    """A server on a portfolio; its address."""
    with running(command, {**portfolio.environment, **more}) as (port, _):
        yield f"http://127.0.0.1:{port}"


def load(address: str, paths: Sequence[str], key: str, seconds: float) -> Load:
    """Ask for the paths in turn on all connections at once; RuntimeError when an answer is no success."""
    if shutil.which("wrk"):
        return _by_wrk(address, paths, key, seconds)
    return asyncio.run(_by_hand(address, paths, key, seconds))


def _by_wrk(address: str, paths: Sequence[str], key: str, seconds: float) -> Load:
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_SCRIPT % ", ".join(f'"{path}"' for path in paths))
        script.flush()
        wrk = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--timeout", "30s", "--latency", "-s", script.name]
        wrk += ["-H", f"Authorization: Bearer {key}", address]
        output = subprocess.run(wrk, capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in output:
        raise RuntimeError(output)
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", output).groups()  # type: ignore[union-attr]
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    assert rate
    return Load(float(rate[1]), float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit])


async def _by_hand(address: str, paths: Sequence[str], key: str, seconds: float) -> Load:
    took: list[float] = []
    until, port = time.perf_counter() + seconds, int(address.rsplit(":", 1)[1])
    await asyncio.gather(*(_ask(port, paths[n:] + paths[:n], key, until, took) for n in range(CONNECTIONS)))  # type: ignore[operator]
    return Load(len(took) / seconds, sorted(took)[int(len(took) * 0.99)])


async def _ask(port: int, paths: Sequence[str], key: str, until: float, took: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
    with closing(writer):
        while True:
            for path in paths:
                began = time.perf_counter()
                if began > until:
                    return
                writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = re.search(rb"content-length: (\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                if not head.startswith(b"http/1.1 200"):
                    raise RuntimeError(body[:300])
                took.append((time.perf_counter() - began) * 1000)
