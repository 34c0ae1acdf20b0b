"""Sends one delivery: guarded, without redirects and proxies, within 15 seconds and 512 bytes of answer (W4, W5)."""

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Final, Self
from urllib.parse import urlsplit

import httpcore
import httpx

from core.outbound.addresses import ForbiddenAddress, GuardedNetwork
from core.settings import settings

SHOWN_BYTES: Final = 512
MAX_RETRY_AFTER: Final = 86_400
_MAX_AT_ONCE: Final = 104


@dataclass(frozen=True, kw_only=True, slots=True)
class SendLimits:
    """Seconds to connect, between two signs of life, and in all."""

    connect: float = 5
    read: float = 15
    total: float = 15


@dataclass(frozen=True, kw_only=True, slots=True)
class SendResult:
    """Result of one delivery attempt; `error` is None for a success and never contains the address."""

    milliseconds: int
    status: int | None = None
    error: str | None = None
    answer: str = ""
    retry_after: int = 0

    @property
    def outcome(self) -> str:
        """The result in a word, for figures."""
        if self.status is None:
            return "no_answer"
        return "accepted" if self.error is None else f"answered_{self.status // 100}xx"

    @property
    def is_gone(self) -> bool:
        """True when the receiver says that it wants nothing any more."""
        return self.status == 410


class WebhookClient:
    """The connections of one sender: `async with WebhookClient() as client`."""

    def __init__(self, limits: SendLimits = SendLimits(), network: GuardedNetwork | None = None) -> None:
        self._limits = limits
        own = urlsplit(settings().base_url).hostname
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=_get_ssl_context(),
            max_connections=_MAX_AT_ONCE,
            # Each connection is judged when it is made, and serves one request: names may lead elsewhere by the next.
            max_keepalive_connections=0,
            network_backend=network or GuardedNetwork(own_host=own),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._pool.aclose()

    async def send(self, url: str, body: bytes, headers: Mapping[str, str]) -> SendResult:
        """Post a body; every failure is a result, none an error."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._limits.total):
                return await self._post(url, body, headers, began)
        except ForbiddenAddress as error:
            return _fail(str(error), began)
        except (TimeoutError, httpcore.TimeoutException):
            return _fail(f"The receiver did not answer within {self._limits.total:g} seconds", began)
        except httpcore.ConnectError as error:
            return _fail(_describe_connect_error(error), began)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol):
            return _fail("The receiver closed the connection without an answer", began)

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str], began: float) -> SendResult:
        limits = {"connect": self._limits.connect, "read": self._limits.read, "write": self._limits.read}
        given = [("Host", urlsplit(url).netloc), ("Content-Length", str(len(body))), *headers.items()]
        async with self._pool.stream(
            "POST", url, headers=given, content=body, extensions={"timeout": limits}
        ) as response:
            answer = await _read_start(response)
        status = response.status
        return SendResult(
            milliseconds=_since(began),
            status=status,
            error=None if 200 <= status < 300 else _describe_status(status),
            answer=answer.decode("utf-8", "replace").replace("\0", ""),
            retry_after=_get_retry_after(response),
        )


async def _read_start(response: httpcore.Response) -> bytes:
    """Read the first bytes of an answer; the rest, however long, is left with the connection."""
    found = b""
    async for chunk in response.aiter_stream():
        found += chunk
        if len(found) >= SHOWN_BYTES:
            break
    return found[:SHOWN_BYTES]


@cache
def _get_ssl_context() -> ssl.SSLContext:
    """The trusted certificates. Cached: loading takes a tenth of a second."""
    return httpx.create_ssl_context()


def _describe_status(status: int) -> str:
    if 300 <= status < 400:
        return f"The receiver answered {status} and pointed elsewhere: deliveries are not redirected"
    return f"The receiver answered {status}"


def _describe_connect_error(error: Exception) -> str:
    # The library's text may hold the address.
    if isinstance(error.__cause__, ssl.SSLError) or isinstance(error.__context__, ssl.SSLError):
        return "The receiver's certificate was not accepted"
    if str(error).startswith("The name of the receiver"):
        return str(error)
    return "The connection to the receiver could not be made"


def _get_retry_after(response: httpcore.Response) -> int:
    """Return the seconds that the receiver asks for; 0 for none and for a date, which nobody's clocks agree on."""
    values = [value.decode("latin-1") for name, value in response.headers if name.lower() == b"retry-after"]
    text = values[0].strip() if values else ""
    return min(int(text), MAX_RETRY_AFTER) if text.isdigit() and text.isascii() and len(text) < 10 else 0


def _fail(message: str, began: float) -> SendResult:
    return SendResult(milliseconds=_since(began), error=message)


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
