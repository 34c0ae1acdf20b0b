"""`python -m tests.load.overload`: four times the peak rate of sales, what still gets done, and how soon it is over."""

import asyncio
import os
import sys
from collections import Counter

from tests.load.clients import Connections, Seen, quantile, sale
from tests.load.serving import Server, serving

SECONDS = float(os.environ.get("COVERDESK_OVERLOAD_SECONDS", "12"))
CLIENTS = 32


def done(seen: list[Seen]) -> list[Seen]:
    return [each for each in seen if each.status == 201]


def report(name: str, seen: list[Seen], seconds: float) -> float:
    """Print one phase; answer with its sales a second."""
    good, refused = done(seen), [each for each in seen if each.status in (429, 503)]
    rate = len(good) / seconds
    print(
        f"{name:28} {rate:7.0f} sales/s  asked {len(seen) / seconds:6.0f}/s  {dict(Counter(s.status for s in seen))}  "
        f"sale p50/p99 {quantile([s.seconds for s in good], 0.5) * 1000:.0f}/"
        f"{quantile([s.seconds for s in good], 0.99) * 1000:.0f} ms  "
        f"refusal p50/p99/max {quantile([s.seconds for s in refused], 0.5) * 1000:.0f}/"
        f"{quantile([s.seconds for s in refused], 0.99) * 1000:.0f}/"
        f"{max((s.seconds for s in refused), default=0) * 1000:.0f} ms"
    )
    return rate


async def half(server: Server, sent: bytes) -> list[asyncio.StreamWriter]:
    """Two hundred connections that send so much of a request and no more."""
    opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(200)]
    for _, writer in opened:
        writer.write(sent)
    return [writer for _, writer in opened]


async def beside_half_requests(server: Server, clients: Connections, seconds: float) -> None:
    """Measure other clients beside 200 half heads and 200 half bodies."""

    def one() -> bytes:
        return sale(server.key)

    report("8 clients alone", await clients.closed(one, clients=8, seconds=seconds), seconds)
    held = [*await half(server, b"POST /v1/products/buy-credit-life HTTP/1.1\r\nHost: x\r\nAuthor")]
    held += await half(server, one()[:-100])
    report("beside 400 half requests", await clients.closed(one, clients=8, seconds=seconds), seconds)
    for writer in held:
        writer.close()


async def measure(server: Server) -> None:
    clients = Connections(server.port)

    def one() -> bytes:
        return sale(server.key)

    await clients.closed(one, clients=CLIENTS, seconds=3)
    await beside_half_requests(server, clients, SECONDS / 2)
    peak = report("peak, 32 clients", await clients.closed(one, clients=CLIENTS, seconds=SECONDS), SECONDS)
    before = report("half of it, open", await clients.opened(one, rate=peak / 2, seconds=SECONDS / 2), SECONDS / 2)
    over = report("four times the peak, open", await clients.opened(one, rate=peak * 4, seconds=SECONDS), SECONDS)
    seen = await clients.opened(one, rate=peak / 2, seconds=10)
    report("half of it again, open", seen, 10)
    start = min(each.at for each in seen)
    late = [s.at - start for s in seen if s.status != 201 or s.seconds > 0.5]
    print(f"goodput at 4x: {over / peak:.0%} of the peak; last slow or refused sale {max(late, default=0):.1f} s after")
    print(f"half of the peak: {before:.0f}/s; memory {server.memory_mib:.0f} MiB; {server.descriptors} descriptors")
    clients.close()


if __name__ == "__main__":
    with serving(sys.argv[1] if len(sys.argv) > 1 else "api", COVERDESK_LOG_LEVEL="WARNING") as running:
        asyncio.run(measure(running))
