"""The request log: one line with request id, caller, status and duration."""

import re
import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core import ids, telemetry

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


def _route_of(scope: Connection) -> str:
    # Where no route took it, the mount of the API stands there, which has no methods.
    return scope["route"].path if getattr(scope.get("route"), "methods", None) else _NO_ROUTE


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
            route = _route_of(scope)
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
