"""`python -m tests.bench.metrics`: cost of counting for `/metrics`, and of a scrape every 15 seconds, under load.

A server of a portfolio of COVERDESK_BENCH_SIZES is asked for a list and scraped; what each answer adds to the counters
is timed by itself, into files that processes share as those of `coverdesk api` do: it is a few thousandths of the
answer, which no comparison of two servers tells apart. All of it is processor time.
"""

import os
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from core import telemetry
from tests.bench import portfolios, serving
from tests.bench.portfolios import LARGE, Portfolio
from tests.bench.processes import running

ROUNDS, SECONDS, SCRAPES, EVERY, TIMES = 5, 2.0, 40, 15.0, 20_000
TOKEN = "bench-abcdefghijklmnopqrstuvwxyz-0123456789"
PATHS = ["/v1/purchase?limit=10"]


class Server:
    """A server of ours and its process."""

    def __init__(self, port: int, pid: int) -> None:
        self.address, self.pid = f"http://127.0.0.1:{port}", pid

    def processor_ms(self) -> float:
        """Return the processor time that it has taken so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def ask(self, key: str) -> float:
        """Return the processor time of an answer under load."""
        before = self.processor_ms()
        found = serving.load(self.address, PATHS, key, SECONDS)
        return (self.processor_ms() - before) / (found.per_second * SECONDS)

    def scrape(self) -> float:
        """Return the processor time of one scrape."""
        before = self.processor_ms()
        for _ in range(SCRAPES):
            httpx.get(f"{self.address}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).raise_for_status()
        return (self.processor_ms() - before) / SCRAPES


@contextmanager
def _serving(portfolio: Portfolio, **more: str) -> Iterator[Server]:
    with running(serving.OURS, {**portfolio.environment, **more}) as (port, process):
        yield Server(port, process.pid)


def counting_ms() -> float:
    """Return the processor time of what is counted of one answer."""

    def count() -> None:
        telemetry.count("requests", "/purchase", "200")
        telemetry.observe("request_seconds", 0.001, "/purchase")

    with tempfile.TemporaryDirectory() as folder:
        os.environ[telemetry.SHARED_FOLDER] = folder
        telemetry.enable_metrics()
        count()
        return min(timeit.repeat(count, timer=time.process_time, number=TIMES, repeat=ROUNDS)) * 1000 / TIMES


def measure(portfolio: Portfolio, counting: float) -> str:
    """Return the figures of one portfolio as a sentence."""
    key = portfolio.seller(LARGE).key
    with _serving(portfolio, COVERDESK_METRICS="true", COVERDESK_METRICS_TOKEN=TOKEN) as server:
        server.ask(key)
        answer = min(server.ask(key) for _ in range(ROUNDS))
        scrape = server.scrape()
    # Of a core that is busy with nothing but answers.
    share = counting / answer + scrape / (EVERY * 1000)
    return (
        f"{portfolio.size:,} purchases: a list takes {answer:.2f} ms, of which counting it {counting * 1000:.1f} µs"
        f" ({counting / answer * 100:.2f} %); a scrape takes {scrape:.1f} ms, every {EVERY:.0f} s"
        f" {scrape / EVERY / 10:.2f} % of a core; together {share * 100:.2f} %"
    )


if __name__ == "__main__":
    counting = counting_ms()
    del os.environ[telemetry.SHARED_FOLDER]
    with portfolios.portfolios() as made:
        for each in made:
            sys.stdout.write(f"{measure(each, counting)}\n")
