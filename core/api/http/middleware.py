"""Middleware of the API: the request log, the handlers that turn errors into answers, and security headers.

The log has one line with request id, caller, status and duration; the handlers answer every failure with an envelope
and never repeat what was sent; the security headers are those of every response of the process, screens too.
"""

import errno
import re
import time

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core import ids, telemetry
from core.api.http.envelope import conflict, failure
from core.api.http.routing import allowed_methods
from core.covers.request import build_faults
from core.errors import (
    CoverdeskError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    StoreUnavailable,
    TooLarge,
    WrongMediaType,
)
from core.store.access import ConstraintRefused

log = structlog.get_logger("coverdesk.api")
# What no route took, which may be any path at all.
_NO_ROUTE = "none"


# A word of our own paths, or an id of ours. What else stands in a path may be anything that somebody put there.
_OURS = re.compile(r"[a-z][a-z.-]{0,39}|v1|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|")


def redact_path(path: str) -> str:
    """A path for the log, without numbers or keys that were put into it by mistake (contract A3)."""
    return "/".join(part if _OURS.fullmatch(part) else "*" for part in path.split("/"))


def _caller_of(scope: Connection) -> telemetry.Caller | None:
    given = [value for name, value in scope["headers"] if name == b"traceparent"]
    # Two of them are none: nobody could say which one counts.
    return telemetry.parse_caller(given[0].decode("latin-1")) if len(given) == 1 else None


def _note(method: str, route: str, status: int, request_id: str) -> None:
    """Name the request's span by its route; an address may hold what is somebody's."""
    facts: dict[str, str | int] = {
        "http.request.method": method,
        "http.route": route,
        "http.response.status_code": status,
    }
    telemetry.note_span({**facts, "coverdesk.request_id": request_id}, name=f"{method} {route}")
    if status >= 500:
        telemetry.fail_span(str(status))


class RequestLog:
    """ASGI middleware that assigns `X-Request-Id` and logs each request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on and log its outcome."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, began, status = ids.new_request_id(), time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        bound = structlog.contextvars.bound_contextvars(request_id=request_id)
        with bound, telemetry.open_span(scope["method"], "server", _caller_of(scope)):
            trace_id = telemetry.current_trace()
            await self.app(scope, receive, noted)
            # Where no route took it, the mount of the API stands there, which has no methods.
            route = scope["route"].path if getattr(scope.get("route"), "methods", None) else _NO_ROUTE
            _note(scope["method"], route, status, request_id)
        seconds = time.perf_counter() - began
        telemetry.count("requests", route, str(status))
        telemetry.observe("request_seconds", seconds, route)
        caller = scope.get("state", {}).get("caller")
        log.info(
            "request",
            request_id=request_id,
            method=scope["method"],
            path=redact_path(scope["path"]),
            status=status,
            milliseconds=round(seconds * 1000, 1),
            caller=str(caller.key_id) if caller else None,
            **({"trace_id": trace_id} if trace_id else {}),
        )
        structlog.contextvars.unbind_contextvars("reason")


# A disk that is full, failing or locked: it is not the request, and may be over in a moment.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


class ErrorBoundary:
    """ASGI middleware that turns an unhandled exception into a 500, or a refusal into its own status."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on; answer for it when it fails before a response started."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            if scope["type"] != "http" or started:
                raise
            if isinstance(error, ClientDisconnect):
                error = InvalidInput.for_field("body", "stopped arriving")
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                log.error("no room", path=redact_path(scope["path"]), error=errno.errorcode[error.errno])
                error = StoreUnavailable()
            if not isinstance(error, CoverdeskError):
                log.exception("unhandled", path=redact_path(scope["path"]), error=type(error).__name__)
                error = CoverdeskError()
            await failure(error)(scope, receive, send)


_BY_STATUS: dict[int, type[CoverdeskError]] = {413: TooLarge, 415: WrongMediaType}
_METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}


def answer_errors(app: FastAPI) -> None:
    """Register the handlers on an application."""
    app.exception_handler(CoverdeskError)(_refusal)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(AnyHTTPException)(_http)
    app.exception_handler(ConstraintRefused)(_conflict)


async def _refusal(_: Request, error: CoverdeskError) -> Response:
    return failure(error)


async def _invalid(_: Request, error: RequestValidationError) -> Response:
    return failure(InvalidInput(build_faults(error.errors(), skip=1)))


async def _http(request: Request, error: AnyHTTPException) -> Response:
    path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
    if error.status_code == 405 and (methods := allowed_methods(request.app, path)):
        return failure(MethodNotAllowed(allow=", ".join(methods)))
    if error.status_code in {404, 405}:
        method = request.method if request.method in _METHODS else "*"
        return failure(NotFound(f"No such endpoint: {method} {redact_path(request.url.path)}"))
    known = _BY_STATUS.get(error.status_code)
    answer = failure(known() if known else InvalidInput.for_field("body", "could not be read"))
    answer.headers.update(error.headers or {})
    return answer


async def _conflict(_: Request, error: ConstraintRefused) -> Response:
    return conflict(error)


# The screens' framework compiles code for charts and tables, styles elements in place, makes workers and
# images from blobs, and is handed to the sign-in route by a script of its page; nothing comes from elsewhere.
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "media-src 'self' blob:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
# `same-origin`, not `no-referrer`: under the latter a browser posts our own sign-out form with Origin "null".
_EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
}


class SecurityHeaders:
    """ASGI middleware that adds missing security headers; responses of /v1 are never cached."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        wanted = dict(_EVERYWHERE)
        if scope["path"] == "/v1" or scope["path"].startswith("/v1/"):
            wanted["Cache-Control"] = "no-store"
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in wanted.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, with_headers)
        except Exception:
            # The framework answers for a defect outside of us, where no header would be added.
            if not started:
                await PlainTextResponse("Something went wrong", 500)(scope, receive, with_headers)
            raise
