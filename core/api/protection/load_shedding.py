"""Load shedding: limits requests per address, per key and in progress, and refuses the rest at once (contract E7)."""

import asyncio
import ipaddress
import math
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Hashable
from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

import structlog
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core import telemetry
from core.api.http.envelope import failure
from core.errors import CoverdeskError, Overloaded, TooManyRequests
from core.settings import settings

_MINUTE: Final = 60.0
MAX_NAMES: Final = 20_000


class RateLimiter:
    """Counts requests by name with one number each (GCRA), so memory does not grow with their rate.

    The number is the time at which a name's requests are paid off at the allowed rate; a name more than a minute ahead
    has to wait. A name whose time has passed equals a new one and is dropped when room is needed.
    """

    def __init__(self) -> None:
        self._paid_at: dict[Hashable, float] = {}

    def consume(self, name: Hashable, *, per_minute: int) -> None:
        """Count one request; TooManyRequests (without counting) when the minute is used up. 0 means no limit."""
        if per_minute <= 0:
            return
        now = time.monotonic()
        paid_at = max(self._paid_at.get(name, now), now) + _MINUTE / per_minute
        if paid_at - now > _MINUTE:
            telemetry.count("requests_refused", "rate")
            raise TooManyRequests(math.ceil(paid_at - now - _MINUTE))
        if len(self._paid_at) >= MAX_NAMES:
            self._make_room(now)
        self._paid_at[name] = paid_at

    def check(self, name: Hashable, *, per_minute: int) -> None:
        """Raise TooManyRequests when another request would be refused; counts nothing."""
        ahead = self._paid_at.get(name, 0.0) - time.monotonic() + _MINUTE / max(per_minute, 1)
        if per_minute > 0 and ahead > _MINUTE:
            raise TooManyRequests(math.ceil(ahead - _MINUTE))

    def _make_room(self, now: float) -> None:
        """Drop names that are paid off; if that is not enough, the half that is least ahead."""
        recent = sorted(((at, name) for name, at in self._paid_at.items() if at > now), key=lambda each: each[0])
        self._paid_at = {name: at for at, name in recent[-MAX_NAMES // 2 :]}


@lru_cache(maxsize=4096)
def address_key(host: str) -> str:
    """The name under which an address is counted: an IPv6 address by its /64 network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))


log = structlog.get_logger("coverdesk.api")
Answer = Callable[[CoverdeskError], Response]
# Bodies that are still arriving do no work, but each may hold a mebibyte.
_ARRIVING_FOR_EACH_AT_WORK: Final = 4
_CONNECTIONS_FOR_EACH_SCREEN: Final = 4
# More, and who comes in between waits for all of them; fewer, and looking for others takes the time of the work.
_STARTED_TOGETHER: Final = 4


class Load:
    """The numbers of requests in progress and of bodies still arriving."""

    def __init__(self) -> None:
        self.at_work = 0
        self.arriving = 0

    def check_limit(self, most: int) -> None:
        """Raise Overloaded when `most` requests are in progress; 0 means no limit."""
        if most and (self.at_work >= most or self.arriving >= most * _ARRIVING_FOR_EACH_AT_WORK):
            telemetry.count("requests_refused", "busy")
            raise Overloaded


class AdmissionQueue:
    """Admits the requests of an event loop a few at a time, in order of arrival.

    Refusals are answered in between, and nobody is overtaken by a client that retries sooner.
    """

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def wait(self) -> None:
        """Wait for a turn."""
        loop = asyncio.get_running_loop()
        if self._is_taken:
            self._waiting.append(loop.create_future())
            await self._waiting[-1]
        else:
            self._is_taken = True
            loop.call_soon(self._admit_next, loop)

    def _admit_next(self, loop: asyncio.AbstractEventLoop) -> None:
        """Admit the next few waiting requests once the current ones have begun."""
        few = [self._waiting.popleft() for _ in range(min(_STARTED_TOGETHER, len(self._waiting)))]
        for following in few:
            if not following.done():
                following.set_result(None)
        self._is_taken = bool(few)
        if few:
            loop.call_soon(self._admit_next, loop)


_load = Load()
_paces: WeakKeyDictionary[asyncio.AbstractEventLoop, AdmissionQueue] = WeakKeyDictionary()


def _turn() -> Awaitable[None]:
    loop = asyncio.get_running_loop()
    if (pace := _paces.get(loop)) is None:
        pace = _paces[loop] = AdmissionQueue()
    return pace.wait()


_requests = RateLimiter()


class RefusalLog:
    """Logs refusals, at most one line a second: one for each would make a flood more expensive."""

    def __init__(self) -> None:
        self.count = 0
        self.logged_at = 0.0

    def add(self, error: CoverdeskError) -> None:
        """Count a refusal, and log how many there were since the last line."""
        self.count += 1
        now = time.monotonic()
        if now - self.logged_at >= 1:
            log.warning("refused", status=error.status, rows=self.count)
            self.count, self.logged_at = 0, now


_refusals = RefusalLog()


def plain_refusal(error: CoverdeskError) -> Response:
    """A refusal outside /v1, without an envelope."""
    return PlainTextResponse(str(error), error.status, {"Retry-After": str(getattr(error, "retry_after", 1))})


class LoadShedding:
    """ASGI middleware that refuses at once what would only wait, so that the queue stays bounded.

    A request does not count while it waits for its sender: slow senders keep nobody out.
    """

    def __init__(self, app: ASGIApp, answer: Answer = failure) -> None:
        self.app = app
        self.answer = answer

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with the refusal."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            _requests.consume(client_address(scope), per_minute=settings().rate_limit_address)
            _load.check_limit(settings().concurrency)
        except CoverdeskError as error:
            _refusals.add(error)
            await self.answer(error)(scope, receive, send)
            return
        _load.at_work += 1
        try:
            await _turn()
            await self.app(scope, _uncounted(receive), send)
        finally:
            _load.at_work -= 1


class WebSocketLimit:
    """Limits the WebSockets per address: each is a session of the framework, also before sign-in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass a connection on; close a socket beyond the limit."""
        if scope["type"] != "websocket" or not settings().connections:
            await self.app(scope, receive, send)
            return
        name = client_address(scope)
        if self._open[name] >= settings().connections // _CONNECTIONS_FOR_EACH_SCREEN:
            await send({"type": "websocket.close", "code": 1013})
            return
        self._open[name] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._open[name] -= 1
            if not self._open[name]:
                del self._open[name]


def _uncounted(receive: Receive) -> Receive:
    """Wrap `receive` so that waiting for the sender does not count as work."""
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        _load.at_work -= 1
        _load.arriving += 1
        try:
            message = await receive()
        finally:
            _load.at_work += 1
            _load.arriving -= 1
        is_whole = not message.get("more_body", False)
        return message

    return received


def client_address(scope: Connection) -> str:
    """The client address: the sender's, or the one a trusted proxy reports."""
    return address_key(scope["client"][0]) if scope.get("client") else "unknown"
