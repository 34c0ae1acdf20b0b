"""A lean HTTP client for load: prepared bytes over kept connections, and nothing slower than the server."""

import asyncio
import contextlib
import itertools
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer: when it was asked for, how long it took, and its status (0: the connection broke)."""

    at: float
    seconds: float
    status: int


Ask = Callable[[], bytes]


def request(method: str, path: str, key: str, body: bytes = b"", *, media: str = "application/json") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
    if method == "POST":
        head += f"Content-Type: {media}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def sale(key: str) -> bytes:
    """A sale to somebody new."""
    body = {
        "product_id": "01900000-0000-7000-8000-000000080101",
        "loan_amount": 100000,
        "loan_tenure": 12,
        "benefit_coverage": ["death", "loss_of_job"],
        "loan_start_date": time.strftime("%Y-%m-%d"),
        "first_name": "Ngozi",
        "last_name": "Okafor",
        "gender": "Female",
        "email": f"load{next(_numbers)}@example.com",
        "phone_number": "08031234567",
        "date_of_birth": "1990-04-12",
        "id_image_url": "https://files.example.com/id.jpg",
    }
    return request("POST", "/v1/products/buy-credit-life", key, json.dumps(body).encode())


class Connections:
    """Kept connections to one port; a request takes an idle one, or opens another."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: deque[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = deque()
        self.seen: list[Seen] = []

    async def ask(self, sent: bytes) -> int:
        """Send one request, note how it went, and answer with its status."""
        began, status = time.perf_counter(), 0
        if self._idle:
            status = await self._over(*self._idle.pop(), sent)
        # The server closes what is idle for long; another client would open a connection again, and so do we.
        if not status:
            with contextlib.suppress(OSError):
                status = await self._over(*await asyncio.open_connection("127.0.0.1", self._port), sent)
        self.seen.append(Seen(began, time.perf_counter() - began, status))
        return status

    async def _over(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sent: bytes) -> int:
        """The status of an answer over one connection; 0 when it broke."""
        try:
            writer.write(sent)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0]))
        except (OSError, asyncio.IncompleteReadError):
            writer.close()
            return 0
        if b"connection: close" in head:
            writer.close()
        else:
            self._idle.append((reader, writer))
        return int(head[9:12])

    async def closed(self, make: Ask, *, clients: int, seconds: float) -> list[Seen]:
        """So many clients, each of which asks again as soon as it is answered."""
        self.seen, until = [], time.perf_counter() + seconds

        async def one() -> None:
            while time.perf_counter() < until:
                await self.ask(make())

        await asyncio.gather(*(one() for _ in range(clients)))
        return self.seen

    async def opened(self, make: Ask, *, rate: float, seconds: float) -> list[Seen]:
        """So many requests a second, whether or not the ones before were answered."""
        self.seen, began, sent = [], time.perf_counter(), 0
        under_way: set[asyncio.Task[int]] = set()
        while (now := time.perf_counter() - began) < seconds:
            while sent < now * rate:
                task = asyncio.ensure_future(self.ask(make()))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                sent += 1
            await asyncio.sleep(0.002)
        await asyncio.gather(*under_way)
        return self.seen

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0
