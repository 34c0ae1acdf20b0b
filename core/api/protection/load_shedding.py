"""Who gets in: so many requests an address, and no more at once than can be answered soon (contract E7)."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import Final
from weakref import WeakKeyDictionary

import structlog
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core.api.http.envelope import failure
from core.api.protection.rate_limits import Allowance, place
from core.errors import CoverdeskError, Overloaded
from core.settings import settings

log = structlog.get_logger("coverdesk.api")
Answer = Callable[[CoverdeskError], Response]
# Bodies that are still arriving do no work, but each may hold a mebibyte.
_ARRIVING_FOR_EACH_AT_WORK: Final = 4
_CONNECTIONS_FOR_EACH_SCREEN: Final = 4
# More, and who comes in between waits for all of them; fewer, and looking for others takes the time of the work.
_BEGUN_TOGETHER: Final = 4


class Load:
    """What the process has on its hands: requests at work, and requests whose body is still arriving."""

    def __init__(self) -> None:
        self.at_work = 0
        self.arriving = 0

    def refuse_beyond(self, most: int) -> None:
        """Overloaded when there is no room for one more; 0 is any number."""
        if most and (self.at_work >= most or self.arriving >= most * _ARRIVING_FOR_EACH_AT_WORK):
            raise Overloaded


class Pace:
    """Lets the requests of a loop begin a few at a time, in the order of their coming, and looks for others in between.

    Who is refused does not wait for a whole crowd that is not, and nobody is overtaken by who comes back sooner.
    """

    def __init__(self) -> None:
        self._is_taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> None:
        """Wait for a turn."""
        loop = asyncio.get_running_loop()
        if self._is_taken:
            self._waiting.append(loop.create_future())
            await self._waiting[-1]
        else:
            self._is_taken = True
            loop.call_soon(self._pass_on, loop)

    def _pass_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Once those whose turn it was have begun: the next few who still wait."""
        few = [self._waiting.popleft() for _ in range(min(_BEGUN_TOGETHER, len(self._waiting)))]
        for following in few:
            if not following.done():
                following.set_result(None)
        self._is_taken = bool(few)
        if few:
            loop.call_soon(self._pass_on, loop)


_load = Load()
_paces: WeakKeyDictionary[asyncio.AbstractEventLoop, Pace] = WeakKeyDictionary()


def _turn() -> Awaitable[None]:
    loop = asyncio.get_running_loop()
    if (pace := _paces.get(loop)) is None:
        pace = _paces[loop] = Pace()
    return pace.turn()


_requests = Allowance()


class Refusals:
    """How many were refused since it was last said: a line for each would make a flood dearer."""

    def __init__(self) -> None:
        self.count = 0
        self.said_at = 0.0


_refusals = Refusals()


def _say_how_many(error: CoverdeskError) -> None:
    """One line a second at most in the log."""
    _refusals.count += 1
    now = time.monotonic()
    if now - _refusals.said_at >= 1:
        log.warning("refused", status=error.status, rows=_refusals.count)
        _refusals.count, _refusals.said_at = 0, now


def plainly(error: CoverdeskError) -> Response:
    """A refusal outside /v1, where there is no envelope."""
    return PlainTextResponse(str(error), error.status, {"Retry-After": str(getattr(error, "retry_after", 1))})


class Turnstile:
    """Refuses at once what would only wait: the queue behind it never grows beyond its bound.

    A request counts as work except while it waits for its sender, so that slow senders keep nobody out.
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
            _requests.take(address(scope), per_minute=settings().rate_limit_address)
            _load.refuse_beyond(settings().concurrency)
        except CoverdeskError as error:
            _say_how_many(error)
            await self.answer(error)(scope, receive, send)
            return
        _load.at_work += 1
        try:
            await _turn()
            await self.app(scope, _uncounted(receive), send)
        finally:
            _load.at_work -= 1


class Sockets:
    """Bounds the screens that one address has open: each is a session of the framework, also before a sign-in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass a connection on; close a socket that is one too many."""
        if scope["type"] != "websocket" or not settings().connections:
            await self.app(scope, receive, send)
            return
        name = address(scope)
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
    """Waiting for the sender is no work; once all is there, waiting is for the sender to leave."""
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


def address(scope: Connection) -> str:
    """Whom a request is counted under: its sender, or what a proxy that we were told of says of it."""
    return place(scope["client"][0]) if scope.get("client") else "unknown"
