"""`python -m tests.load.soak`: a mixed load for long, and what it leaves in memory, descriptors and on the disk.

COVERDESK_SOAK_REQUESTS says how many requests (172,800 is two a second for a day), COVERDESK_SOAK_SECONDS when to stop
at the latest. Of a hundred requests 30 sell, 5 sell again with the same key, 60 read, 1 uploads a file, 4 are wrong.
"""

import asyncio
import os
import sys
import time
from collections import Counter
from itertools import count

from tests.load.clients import Connections, quantile, request, sale
from tests.load.serving import Server, serving

REQUESTS = int(os.environ.get("COVERDESK_SOAK_REQUESTS", "5000"))
SECONDS = float(os.environ.get("COVERDESK_SOAK_SECONDS", "86400"))
PURCHASES = int(os.environ.get("COVERDESK_SOAK_PURCHASES", "2000"))
CLIENTS = 8
# Shares of the way: the first is after the process has grown to its size.
LOOKS_AT = (0.1, 0.5)
LISTS = (
    "purchase?limit=20",
    "policies?limit=20&status=true",
    "customers?search=okafor&limit=20",
    "renewals?limit=20",
    "claims?limit=20",
    "products/get-all-products?search=credit",
    "policies?page=3&limit=20",
    "purchase?limit=20&start_date=2026-01-01",
)
PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n"
)


def upload(key: str) -> bytes:
    body = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n' + PDF + b"\r\n--b--\r\n"
    return request("POST", "/v1/upload-file", key, body, media="multipart/form-data; boundary=b")


def mixed(number: int, key: str) -> bytes:
    """The request that is due."""
    kind = number % 100
    if kind < 30:
        return sale(key)
    if kind < 35:
        again = sale(key).replace(b"\r\n\r\n", f"\r\nIdempotency-Key: soak-{number // 500}\r\n\r\n".encode(), 1)
        return again.replace(again[again.index(b"load") : again.index(b"@example")], b"soak%d" % (number // 500), 1)
    if kind < 95:
        return request("GET", f"/v1/{LISTS[number % len(LISTS)]}", key)
    return upload(key) if kind == 95 else request("GET", "/v1/policies/nobody", key[:-1] if kind % 2 else key)


def look(server: Server, name: str) -> tuple[float, int, float]:
    found = server.memory_mib, server.descriptors, server.wal_mib
    print(f"{name:10} {found[0]:7.1f} MiB  {found[1]:4} descriptors  WAL {found[2]:6.1f} MiB", flush=True)
    return found


async def measure(server: Server) -> None:
    clients, numbers, began = Connections(server.port), count(), time.monotonic()
    looks, statuses, waits = [], Counter[int](), list[float]()

    async def one() -> None:
        while (number := next(numbers)) < REQUESTS and time.monotonic() - began < SECONDS:
            sent = mixed(number, server.key)
            if b"Idempotency-Key" in sent:
                sent = _measured(sent)
            statuses[await clients.ask(sent)] += 1
            waits.append(clients.seen.pop().seconds)
            done = max(len(waits) / REQUESTS, (time.monotonic() - began) / SECONDS)
            if len(looks) < len(LOOKS_AT) and done >= LOOKS_AT[len(looks)]:
                looks.append(look(server, f"at {len(waits):,}"))

    look(server, "start")
    await asyncio.gather(*(one() for _ in range(CLIENTS)))
    looks.append(look(server, "end"))
    seconds = time.monotonic() - began
    print(f"{sum(statuses.values()):,} requests in {seconds:.0f} s ({len(waits) / seconds:.0f}/s)  {dict(statuses)}")
    print(f"p50 {quantile(waits, 0.5) * 1000:.0f} ms, p99 {quantile(waits, 0.99) * 1000:.0f} ms")
    print(
        f"memory after the first look {looks[-1][0] - looks[0][0]:+.1f} MiB, {looks[-1][1] - looks[0][1]:+} descriptors"
    )
    clients.close()


def _measured(sent: bytes) -> bytes:
    """The same request with the length that its body has now."""
    head, body = sent.split(b"\r\n\r\n", 1)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body)]) + b"\r\n\r\n" + body


if __name__ == "__main__":
    with serving(
        sys.argv[1] if len(sys.argv) > 1 else "api", purchases=PURCHASES, COVERDESK_LOG_LEVEL="WARNING"
    ) as running:
        asyncio.run(measure(running))
