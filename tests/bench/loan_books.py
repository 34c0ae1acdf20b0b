"""`python -m tests.bench.loan_books`: a loan book read, previewed, confirmed and sold while single sales go on.

COVERDESK_LOANS is the size of the book (20,000), COVERDESK_BENCH_STORE the store: `sqlite`, `postgres`, or both, which
is usual.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console
from rich.table import Table

from core import clock
from tests.bench.sales import OURS, SECRET, Figure, Server, build, database, partner, sell, serving
from tests.services.loan_books import FORM, as_csv, loan

LOANS: Final = int(os.environ.get("COVERDESK_LOANS", "20000"))
STORES: Final = os.environ.get("COVERDESK_BENCH_STORE", "sqlite,postgres").split(",")
CLIENTS: Final = 4
_ALONE_SECONDS: Final = 10.0
# Each client rests after a sale, as a counter does: without that they measure how much of the machine they can take.
_REST: Final = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One stage of a book: its rows and times, and the times of single sales meanwhile."""

    name: str
    rows: int
    seconds: float
    busy: float
    memory_mb: float
    sales: Figure


def work(environment: dict[str, str]) -> tuple[float, float, float]:
    """Let a worker work until nothing waits; returns its seconds, those of processors, and its most memory in MB."""
    command = [sys.executable, "-m", "core.dispatch.loan_books", str(os.getpid())]
    began = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **environment}, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError("the worker failed")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@contextmanager
def selling(server: Server) -> Iterator[Figure]:
    """Let clients sell during the block."""
    figure, is_over = Figure(OURS, CLIENTS), False

    async def load() -> None:
        clients = (sell(server, lambda: not is_over, figure.took, _REST) for _ in range(CLIENTS))
        await asyncio.gather(*clients)

    with ThreadPoolExecutor(1) as thread:
        began, under_way = time.perf_counter(), thread.submit(asyncio.run, load())
        try:
            yield figure
        finally:
            figure.seconds, is_over = time.perf_counter() - began, True
        under_way.result()


def _alone(server: Server) -> Stage:
    with selling(server) as figure:
        time.sleep(_ALONE_SECONDS)
    return Stage(name="single sales alone", rows=0, seconds=0, busy=0, memory_mb=0, sales=figure)


def _stage(name: str, server: Server, run: Callable[[], tuple[float, float, float]]) -> Stage:
    with selling(server) as figure:
        seconds, busy, memory = run()
    return Stage(name=name, rows=LOANS, seconds=seconds, busy=busy, memory_mb=memory, sales=figure)


def _answer(response: httpx.Response) -> dict[str, Any]:
    book: dict[str, Any] = response.raise_for_status().json()["data"]["loan_book"]
    return book


def measure(kind: str, folder: Path) -> list[Stage]:
    """Sell one book on a new store of a kind."""
    content = as_csv([loan(number, loan_start_date=str(clock.today())) for number in range(LOANS)])
    form = {**FORM, "month": f"{clock.today():%Y-%m}", "attested_on": str(clock.today())}
    with database(kind, folder) as url:
        build(url, 0)
        _, key = partner(url, is_live=False)
        environment = {
            "COVERDESK_DATABASE_URL": url,
            "COVERDESK_SECRET_KEY": SECRET,
            "COVERDESK_FILES_URL": str(folder),
        }
        unlimited = {"COVERDESK_RATE_LIMIT": "0", "COVERDESK_RATE_LIMIT_ADDRESS": "0", "COVERDESK_WORKER": "false"}
        command = [str(Path(sys.executable).with_name("coverdesk")), "api"]
        with (
            serving(OURS, command, key, {**environment, **unlimited}) as server,
            httpx.Client(
                base_url=f"http://127.0.0.1:{server.port}/v1/loan-books",
                headers={"Authorization": f"Bearer {key}", "Idempotency-Key": "bench-upload"},
                timeout=120,
                trust_env=False,
            ) as http,
        ):
            stages = [_alone(server)]
            book = _answer(http.post("", data=form, files={"file": ("loans.csv", content)}))
            stages.append(_stage("read and previewed", server, lambda: work(environment)))
            preview = _answer(http.get(f"/{book['id']}"))
            expected = {"rows": preview["preview"]["valid"], "premium": preview["preview"]["premium"]}
            confirmation = {"accept": "valid", "expected": {**expected, "preview_hash": preview["preview_hash"]}}
            _answer(
                http.post(f"/{book['id']}/confirm", json=confirmation, headers={"Idempotency-Key": "bench-confirm"})
            )
            stages.append(_stage("sold", server, lambda: work(environment)))
            done = _answer(http.get(f"/{book['id']}"))
    if (done["status"], done["done_rows"]) != ("done", LOANS):
        raise RuntimeError(f"{done['status']}: {done['done_rows']:,} of {LOANS:,}")
    return stages


def table_of(stages: list[Stage], title: str) -> Table:
    """The stages as a person reads them."""
    table = Table("", "rows/s", "rows/processor s", "MB", "single sales/s", "p50 ms", "p99 ms", title=title)
    for one in stages:
        figures = ("", "", "")
        if one.rows:
            figures = (f"{one.rows / one.seconds:,.0f}", f"{one.rows / one.busy:,.0f}", f"{one.memory_mb:,.0f}")
        sales = (f"{one.sales.per_second:,.0f}", f"{one.sales.slowest(0.5):.1f}", f"{one.sales.slowest(0.99):.1f}")
        table.add_row(one.name, *figures, *sales)
    return table


def main() -> None:
    """Measure on each store, and print."""
    os.environ["COVERDESK_SECRET_KEY"] = SECRET
    for kind in STORES:
        with tempfile.TemporaryDirectory(prefix="cd-") as folder:
            stages = measure(kind, Path(folder))
        Console(width=130).print(table_of(stages, f"{LOANS:,} loans on {kind}, {CLIENTS} clients that sell besides"))


if __name__ == "__main__":
    main()
