"""Routing under /v1: HEAD as GET, OPTIONS from the routes, one trailing slash left out."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from fastapi import FastAPI
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core import ids
from core.api.http import envelope
from core.api.http.envelope import failure
from core.errors import MethodNotAllowed

# The screens' framework answers such paths itself, outside of the envelope; to us they are paths like any other.
_REFUSED_BY_SCREENS: Final = ("..", "\\", "\0")
_WORD: Final = re.compile(r"[A-Za-z][\w.-]*")


def allowed_methods(app: FastAPI, path: str) -> tuple[str, ...]:
    """The methods that a path below /v1 takes, sorted; none when no route has it.

    A word in place of an id is no address of ours: `/products/buy-cerdit-life` is a misspelling, and no product.
    """
    found = _literal(app).get(path) or {method for route in _routes(app, path) for method in route.methods or ()}
    return tuple(sorted({*found, "OPTIONS", *(("HEAD",) if "GET" in found else ())})) if found else ()


def _routes(app: FastAPI, path: str) -> Iterator[Route]:
    for route in app.routes:
        if isinstance(route, Route) and (found := route.path_regex.match(path)) and not _has_word(found.groupdict()):
            yield route


def _has_word(parameters: Mapping[str, str]) -> bool:
    ids_given = [value for name, value in parameters.items() if name.endswith("id")]
    return any(_WORD.fullmatch(value) and ids.find(value) is None for value in ids_given)


@lru_cache(maxsize=1)
def _literal(app: FastAPI) -> dict[str, set[str]]:
    """The methods of each path without parameters: none of these paths is taken for an id of another route."""
    found: dict[str, set[str]] = {}
    for route in app.routes:
        if isinstance(route, Route) and not route.param_convertors:
            found.setdefault(route.path, set()).update(route.methods or ())
    return found


class Routing:
    """Puts a request into the words of its route, or answers that its method is none of them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on; the answer to HEAD has the headers of GET and no body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope = _without_trailing_slash(scope)
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        literal = _literal(scope["app"]).get(path)
        if scope["method"] == "OPTIONS" and (methods := allowed_methods(scope["app"], path)):
            answer = envelope.success({"methods": methods}, "Ok")
            answer.headers["Allow"] = ", ".join(methods)
            await answer(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self({**scope, "method": "GET"}, receive, _bodiless(send))
        elif literal and scope["method"] not in literal:
            error = MethodNotAllowed(allow=", ".join(allowed_methods(scope["app"], path)))
            await failure(error)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _without_trailing_slash(scope: Connection) -> Connection:
    """Strip one trailing slash; a redirect would lead to whatever host the request named."""
    path: str = scope["path"]
    bare = path.removesuffix("/")
    if bare == path or bare == scope.get("root_path", ""):
        return scope
    return {**scope, "path": bare, "raw_path": (scope.get("raw_path") or b"").removesuffix(b"/")}


def _bodiless(send: Send) -> Send:
    async def sent(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return sent


class EveryPath:
    """Hands paths under /v1 that the screens' framework would refuse to the API, whose answer has an envelope."""

    def __init__(self, app: ASGIApp, mount: Mount) -> None:
        self.app = app
        self.mount = mount

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on, past the framework where that would refuse its path."""
        if scope["type"] == "http" and any(part in scope["path"] for part in _REFUSED_BY_SCREENS):
            match, child = self.mount.matches(scope)
            if match.value:
                await self.mount.handle({**scope, **child}, receive, send)
                return
        await self.app(scope, receive, send)
