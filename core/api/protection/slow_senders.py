"""Connection limits and deadlines: a client that never finishes sending or reading is cut off (contract E7)."""

import asyncio
import ipaddress
from collections import Counter
from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from core.api.http import envelope
from core.errors import CoverdeskError, Overloaded
from core.settings import settings

# How a server is told to speak this protocol.
NAME: Final = "core.api.protection.slow_senders:BoundedProtocol"
HEAD_SECONDS: Final = 15
# Longer than the longest form may take (core/api/http/forms.py).
MESSAGE_SECONDS: Final = 300
UNREAD_SECONDS: Final = 60
LARGEST_HEAD: Final = 64 * 1024
_EVERY_SECONDS: Final = 1.0


def _last(status: str, error: CoverdeskError, *headers: str) -> bytes:
    """An envelope written past the application as the last response of its connection (contract E1)."""
    body = envelope.failure(error).body
    header_lines = ("content-type: application/json", f"content-length: {len(body)}", "connection: close", *headers)
    return "\r\n".join([f"HTTP/1.1 {status}", *header_lines, "", ""]).encode() + body


_UNREADABLE: Final = _last("400 Bad Request", CoverdeskError("This is no HTTP request that can be read"))
_TOO_LATE: Final = _last("408 Request Timeout", CoverdeskError("The head of the request did not arrive in time"))
_TOO_LARGE: Final = _last("431 Request Header Fields Too Large", CoverdeskError("The head of the request is too large"))
_TOO_MANY: Final = _last(
    "503 Service Unavailable", Overloaded("Your address has too many connections"), "retry-after: 1"
)


class ConnectionTable:
    """The open connections of one server, and the timer that ends late ones."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.open: set[BoundedProtocol] = set()
        self.by_host: Counter[str] = Counter()
        self._loop = loop
        self._is_watched = False

    def add(self, connection: "BoundedProtocol") -> None:
        """Count a connection."""
        self.open.add(connection)
        self.by_host[connection.host] += 1
        if not self._is_watched:
            self._is_watched = True
            self._loop.call_later(_EVERY_SECONDS, self._close_late_connections)

    def remove(self, connection: "BoundedProtocol") -> None:
        """Stop counting a connection; safe to repeat."""
        if connection in self.open:
            self.open.discard(connection)
            self.by_host[connection.host] -= 1
            if not self.by_host[connection.host]:
                del self.by_host[connection.host]

    def _close_late_connections(self) -> None:
        """Check all connections once a second, so that a request needs no timer of its own."""
        now = self._loop.time()
        for each in list(self.open):
            each.close_if_late(now)
        self._is_watched = bool(self.open)
        if self._is_watched:
            self._loop.call_later(_EVERY_SECONDS, self._close_late_connections)


_ledgers: WeakKeyDictionary[ServerState, ConnectionTable] = WeakKeyDictionary()


class BoundedProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP protocol with the deadlines it lacks.

    A request head must arrive within 15 seconds and 64 KiB, a request within five minutes, and some of a response must
    be read every minute. Connections per address are limited.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and refuse one too many of its address."""
        super().connection_made(transport)
        self.host = self.client[0] if self.client else ""
        self._head_size = 0
        self._head_since: float | None = self.loop.time()
        self._message_since: float | None = None
        self._unread_since: float | None = None
        ledger = _ledgers.setdefault(self.server_state, ConnectionTable(self.loop))
        ledger.add(self)
        most = settings().connections
        if most and ledger.by_host[self.host] > most and not _is_proxy(self.host, settings().proxies):
            self._answer(_TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        _ledgers[self.server_state].remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received data; reject a head that is too large."""
        if self.transport.is_closing():
            return
        if self._message_since is None:
            self._head_size += len(data)
            self._head_since = self._head_since or self.loop.time()
        super().data_received(data)
        if self._head_since is not None and self._head_size > LARGEST_HEAD:
            self._answer(_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Start of the next request, perhaps within the same data."""
        self._head_since = self._head_since or self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """From here on the body is expected."""
        self._message_since, self._head_since, self._head_size = self.loop.time(), None, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._message_since = None
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        """The screens' sockets have their own ping and bound (core/api/protection/load_shedding.py)."""
        _ledgers[self.server_state].remove(self)
        super().handle_websocket_upgrade()

    def pause_writing(self) -> None:
        """The client reads more slowly than we write."""
        self._unread_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._unread_since = None
        super().resume_writing()

    def close_if_late(self, now: float) -> None:
        """Close the connection when its head, body or reader is too late."""
        is_answered = self.cycle is not None and self.cycle.response_complete
        patience = HEAD_SECONDS if is_answered else MESSAGE_SECONDS
        if self._unread_since is not None and now - self._unread_since > UNREAD_SECONDS:
            self.transport.abort()
        elif self._head_since is not None and now - self._head_since > HEAD_SECONDS:
            # A browser opens connections ahead, and would show our word on a page if it had not asked yet.
            self._answer(_TOO_LATE if self._head_size else b"")
        elif self._message_since is not None and now - self._message_since > patience:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what the parser cannot read, such as an unknown method."""
        self._answer(_UNREADABLE)

    def _answer(self, last: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(last)
            self.transport.close()


@lru_cache(maxsize=1024)
def _is_proxy(host: str, proxies: str) -> bool:
    try:
        return any(ipaddress.ip_address(host) in ipaddress.ip_network(each) for each in proxies.split(",") if each)
    except ValueError:
        return False
