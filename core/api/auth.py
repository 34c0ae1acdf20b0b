"""The key is judged first: without one, even an unknown path is 401 (contract E3, M2)."""

import time
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import Depends, Request
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from core.api.envelope import failure
from core.errors import CoverdeskError, TooManyRequests, Unauthorized
from core.services.distributors import keys
from core.services.distributors.keys import Caller
from core.settings import settings
from core.store.engine import reading, writing
from core.store.scope import Scope

OPEN = ("/openapi.json", "/docs", "/docs/")
# A revoked key must stop working within a second, so a judged key is trusted for less than one.
_TRUSTED_SECONDS = 0.8
_MOST_TRUSTED = 10_000


class KeyGate:
    """Lets a request through when its key is good; puts the caller at `state.caller`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._trusted: dict[str, tuple[float, Caller]] = {}
        self._limiter = FixedWindowRateLimiter(MemoryStorage())

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with the failure."""
        if scope["type"] != "http" or _is_open(scope):
            await self.app(scope, receive, send)
            return
        try:
            caller = await self._caller(_bearer(scope))
            self._count(caller)
        except CoverdeskError as error:
            await failure(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self.app(scope, receive, send)

    async def _caller(self, key: str) -> Caller:
        until, caller = self._trusted.get(key, (0.0, None))
        if caller is None or until < time.monotonic():
            caller = await run_sync(_judge, key)
            if len(self._trusted) > _MOST_TRUSTED:
                self._trusted.clear()
            self._trusted[key] = (time.monotonic() + _TRUSTED_SECONDS, caller)
        return caller

    def _count(self, caller: Caller) -> None:
        most = settings().rate_limit
        if most and not self._limiter.hit(RateLimitItemPerMinute(most), str(caller.key_id)):
            reset = self._limiter.get_window_stats(RateLimitItemPerMinute(most), str(caller.key_id)).reset_time
            raise TooManyRequests(max(1, int(reset - time.time()) + 1))


def _is_open(scope: Connection) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path == OPEN[0] or path == OPEN[1] or path.startswith(OPEN[2])


def _bearer(scope: Connection) -> str:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, key = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized
    return key.strip()


def _judge(key: str) -> Caller:
    with reading(Scope.system()) as session:
        caller = keys.authenticate(session, key)
    if caller.use_is_news:
        with writing(Scope.system()) as session:
            keys.note_use(session, caller.key_id)
    return caller


def _from_state(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


Signed = Annotated[Caller, Depends(_from_state)]
