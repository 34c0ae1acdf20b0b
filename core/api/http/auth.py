"""API key authentication, before routing: without a key even an unknown path is 401 (contract E3, M2)."""

import asyncio
import time
from functools import partial
from typing import Annotated, Final

import anyio
from anyio.to_thread import run_sync
from fastapi import Depends, Request
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from core.api.http.envelope import failure
from core.api.http.run_inline import run_inline
from core.api.protection import load_shedding
from core.api.protection.load_shedding import RateLimiter
from core.errors import CoverdeskError, Unauthorized
from core.services.catalogue import keys
from core.services.catalogue.keys import Caller
from core.settings import settings
from core.store.access import Scope, reading_autocommit, writing

OPEN = ("/openapi.json", "/docs", "/docs/")
# A revoked key must stop working within a second, so a judged key is trusted for less than one.
_TRUSTED_SECONDS = 0.8
_MOST_TRUSTED = 10_000
# Judging must not queue behind the work of requests that are already in.
_JUDGES: Final = anyio.CapacityLimiter(4)


class KeyGate:
    """ASGI middleware that authenticates the API key and sets `state.caller`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._trusted: dict[str, tuple[float, Caller]] = {}
        self._judging: dict[str, asyncio.Future[Caller]] = {}
        self._by_key, self._refused = RateLimiter(), RateLimiter()

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer with the failure."""
        if scope["type"] != "http" or _is_open(scope):
            await self.app(scope, receive, send)
            return
        try:
            caller = await self._authenticate(scope)
            self._by_key.consume(caller.key_id, per_minute=settings().rate_limit)
        except CoverdeskError as error:
            await failure(error)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self.app(scope, receive, send)

    async def _authenticate(self, scope: Connection) -> Caller:
        """Return the caller of the request's key; a refusal is counted against the client address.

        An address with too many refusals is rejected without a database look-up, except for keys that were valid
        before: guessing costs the store nothing and does not lock out others behind the address.
        """
        place, most = load_shedding.client_address(scope), settings().rate_limit_failures
        try:
            key = _bearer(scope)
            if key not in self._trusted:
                self._refused.check(place, per_minute=most)
            return await self._caller(key)
        except Unauthorized:
            self._refused.consume(place, per_minute=most)
            raise

    async def _caller(self, key: str) -> Caller:
        until, caller = self._trusted.get(key, (0.0, None))
        if caller is None or until < time.monotonic():
            return await asyncio.shield(self._pending_lookup(key))
        return caller

    def _pending_lookup(self, key: str) -> "asyncio.Future[Caller]":
        """A future with the key's owner, shared by concurrent requests with the same key."""
        if key not in self._judging:
            under_way = self._judging[key] = asyncio.ensure_future(_lookup(key))
            under_way.add_done_callback(partial(self._remember, key, time.monotonic() + _TRUSTED_SECONDS))
        return self._judging[key]

    def _remember(self, key: str, until: float, judged: "asyncio.Future[Caller]") -> None:
        del self._judging[key]
        if judged.cancelled() or judged.exception() is not None:
            if not judged.cancelled() and isinstance(judged.exception(), Unauthorized):
                self._trusted.pop(key, None)
            return
        if len(self._trusted) > _MOST_TRUSTED:
            self._trusted.clear()
        self._trusted[key] = (until, judged.result())


def _is_open(scope: Connection) -> bool:
    path: str = scope["path"].removeprefix(scope.get("root_path", ""))
    return path.removesuffix("/") in OPEN[:2] or path.startswith(OPEN[2])


def _bearer(scope: Connection) -> str:
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, key = given[0].decode("latin-1").partition(" ") if len(given) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized
    return key.strip()


async def _lookup(key: str) -> Caller:
    caller = await run_inline(partial(_find_caller, key), limiter=_JUDGES)
    if caller.needs_use_recorded:
        await run_sync(_note_use, caller, limiter=_JUDGES)
    return caller


def _find_caller(key: str) -> Caller:
    with reading_autocommit(Scope.system()) as session:
        return keys.authenticate(session, key)


def _note_use(caller: Caller) -> None:
    with writing(Scope.system()) as session:
        keys.record_use(session, caller.key_id)


async def caller_of(request: Request) -> Caller:
    """Return the caller that the gate authenticated for this request."""
    caller: Caller = request.state.caller
    return caller


Signed = Annotated[Caller, Depends(caller_of)]
