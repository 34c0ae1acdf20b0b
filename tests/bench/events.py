"""`python -m tests.bench.events [postgres]`: what events cost a sale, and how soon a receiver is told.

Sales are made one after the other in one process. Their cost is processor time, with and without what a sale notes
for its events, by turns; delivery is measured from the commit to the first byte at a real receiver on loopback, while
one endpoint of fifty hangs, and without it.
"""

import argparse
import asyncio
import os
import secrets
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from rich.console import Console
from rich.table import Table

from tests.bench.sales import SECRET, build, database

ENDPOINTS, SALES = 50, 2_000
# The load of a busy day on one endpoint that wants every event, four of which a sale makes.
STEADY_RATE, STEADY_SECONDS = 33, 20
SLOW_ANSWER = 0.1


def cost(store: Any, sell: Callable[[], object]) -> tuple[float, float, float]:
    """Processor milliseconds of a sale as it is, of one without its facts for events, and of making its events.

    Every second sale goes without, and the medians are compared: what else the machine does falls on both alike.
    """
    from core.dispatch import webhooks
    from core.services.audit import log as audit

    write, with_facts = audit.write, True
    times: dict[bool, list[float]] = {True: [], False: []}

    def switched(*given: Any, **options: Any) -> None:
        left_out = () if with_facts else ("activated", "customer")
        options["after"] = {k: v for k, v in options["after"].items() if k not in left_out}
        write(*given, **options)

    with mock.patch.object(audit, "write", switched):
        for number in range(2 * SALES):
            with_facts = number % 2 == 0
            began = time.process_time()
            sell()
            times[with_facts].append(time.process_time() - began)
    began = time.process_time()
    webhooks.catch_up(store)
    made = (time.process_time() - began) / (2 * SALES)
    return statistics.median(times[True]) * 1000, statistics.median(times[False]) * 1000, made * 1000


@contextmanager
def delivering(store: Any) -> Iterator[None]:
    """The lines of a worker in a thread of their own."""
    from core.dispatch.lines import DispatchLines, Wakeups

    stopped, stopping, wakeups = asyncio.Event(), threading.Event(), Wakeups()
    lines = DispatchLines(store, wakeups=wakeups)

    async def run() -> None:
        await asyncio.gather(lines.run(stopped, until_idle=False), wakeups.follow(store, stopping))

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stopped.set)
        stopping.set()
        thread.join()
        loop.close()


def steady(
    store: Any, sell: Callable[[], str], register: Callable[[str], object], *, answer_seconds: float
) -> tuple[list[float], float]:
    """Seconds from each commit to the first try at the one endpoint, and deliveries a second while sales went on."""
    from tests.events.receivers import answers, receiving

    committed: dict[str, float] = {}
    arrived: list[tuple[str, float]] = []
    with receiving() as receiver, delivering(store):
        register(receiver.url)
        take = answers(204, b"")

        def behave(handler: Any) -> None:
            event = receiver.received[-1].event
            arrived.append((event["object"]["id"], time.monotonic()))
            time.sleep(answer_seconds)
            take(handler)

        receiver.behave = behave
        began = time.monotonic()
        for number in range(STEADY_RATE * STEADY_SECONDS):
            time.sleep(max(0.0, began + number / STEADY_RATE - time.monotonic()))
            committed[sell()] = time.monotonic()
        rate, until = len(arrived) / (time.monotonic() - began), time.monotonic() + 120
        while len({key for key, _ in arrived} & committed.keys()) < len(committed) and time.monotonic() < until:
            time.sleep(0.1)
    return sorted(at - committed[key] for key, at in arrived if key in committed), rate


def delays(store: Any, sell: Callable[[], str], register: Callable[[str], object], *, dead: bool) -> list[float]:
    """Seconds from each commit to its first try, for every endpoint that answers."""
    from tests.events.receivers import answers, hangs, receiving

    committed: dict[str, float] = {}
    arrived: list[tuple[str, float]] = []
    with receiving() as good, receiving() as bad:
        for number in range(ENDPOINTS):
            register(bad.url if dead and number == 0 else good.url)
        take = answers(204, b"")

        def behave(handler: Any) -> None:
            arrived.append((good.received[-1].event["object"]["id"], time.monotonic()))
            take(handler)

        good.behave, bad.behave = behave, hangs
        with delivering(store):
            for _ in range(10):
                committed[sell()] = time.monotonic()
                time.sleep(0.5)
            wanted, until = 10 * (ENDPOINTS - dead), time.monotonic() + 60
            while len(arrived) < wanted and time.monotonic() < until:
                time.sleep(0.1)
            bad.closing.set()
    return sorted(at - committed[key] for key, at in arrived if key in committed)


def share(found: Sequence[float], of: float) -> str:
    """A quantile in milliseconds."""
    return f"{found[min(int(len(found) * of), len(found) - 1)] * 1000:,.0f} ms" if found else "–"


def measure() -> Table:  # noqa: PLR0915 - one story from top to bottom
    """All figures of one store."""
    from core.covers.fields import build_example
    from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
    from core.covers.request import validate
    from core.services.catalogue import keys
    from core.services.events.webhooks import endpoints
    from core.services.events.webhooks.endpoints import EndpointRequest
    from core.services.selling import buying
    from core.services.selling.buying import Seller
    from core.store.access import Owner, Scope
    from core.store.access import store as opened
    from core.store.schema.tables import WebhookEndpoint

    store = opened()
    with store.writing(Scope.system()) as session:
        owners = [keys.get_or_create_distributor(session, f"Bench {number}") for number in range(ENDPOINTS // 10)]
    seller = Seller(Owner(distributor_id=owners[0], is_live=False), actor="bench")

    def sell() -> str:
        request = validate(
            PERSONAL_ACCIDENT.request,
            {**build_example(PERSONAL_ACCIDENT.request), "email": f"{secrets.token_hex(8)}@example.com"},
        )
        sale = store.transact(
            Scope.of(seller.distributor_id, is_live=False), lambda s: buying.sell(s, PERSONAL_ACCIDENT, request, seller)
        )
        return str(sale.purchase_id)

    def register(address: str, events: str = "purchase.*") -> None:
        request = validate(EndpointRequest, {"url": address, "events": [events]})
        with store.writing(Scope.system()) as session, mock.patch.object(endpoints, "MAX_ENDPOINTS", 1_000):
            made = endpoints.register(session, request, Owner(distributor_id=owners[0], is_live=False), actor="bench")
            session.get_one(WebhookEndpoint, made.endpoint.id).state = "active"

    def forget() -> None:
        with store.writing(Scope.system()) as session:
            for each in endpoints.list_endpoints(session):
                endpoints.delete(session, each.id, actor="bench")

    for _ in range(20):
        sell()
    whole, without, made = cost(store, sell)
    table = Table("figure", "measured", title=f"Events, {store.url.get_backend_name()}")
    table.add_row("processor time of a sale", f"{whole:.3f} ms")
    table.add_row("... without its facts for events", f"{without:.3f} ms ({(whole / without - 1) * 100:+.1f} %)")
    table.add_row("making its events, by the worker", f"{made:.3f} ms")
    for dead in (False, True):
        found = delays(store, sell, register, dead=dead)
        forget()
        name = f"commit to first try, {ENDPOINTS} endpoints" + (", one of them hanging" if dead else "")
        table.add_row(name, f"p50 {share(found, 0.5)}, p99 {share(found, 0.99)} of {len(found)}")
    for seconds in (0.0, SLOW_ANSWER):
        found, rate = steady(store, sell, lambda address: register(address, "*"), answer_seconds=seconds)
        forget()
        name = f"{STEADY_RATE} sales a second, every event to one endpoint that answers in {seconds * 1000:.0f} ms"
        table.add_row(name, f"p50 {share(found, 0.5)}, p99 {share(found, 0.99)}, {rate:.0f} deliveries a second")
    store.close()
    return table


def main() -> None:
    """Build, measure, print."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("kind", nargs="?", choices=("sqlite", "postgres"), default="sqlite")
    options = read.parse_args()
    os.environ |= {"COVERDESK_SECRET_KEY": SECRET, "COVERDESK_DEMO": "true"}
    with tempfile.TemporaryDirectory(prefix="cd-") as folder, database(options.kind, Path(folder)) as url:
        os.environ |= {"COVERDESK_DATABASE_URL": url, "COVERDESK_FILES_URL": f"{folder}/files"}
        build(url, 0)
        Console().print(measure())


if __name__ == "__main__":
    main()
