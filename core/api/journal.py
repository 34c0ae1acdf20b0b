"""One line in the log for each request: who, what, how it ended, how long it took."""

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core import ids

log = structlog.get_logger("coverdesk.api")


class Journal:
    """Gives each request an id, which is also in the answer's `X-Request-Id`, and writes its line."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on and note how it ended."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id, began, status = ids.code(), time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self.app(scope, receive, noted)
        caller = scope.get("state", {}).get("caller")
        log.info(
            "request",
            request_id=request_id,
            method=scope["method"],
            path=scope["path"],
            status=status,
            milliseconds=round((time.perf_counter() - began) * 1000, 1),
            caller=str(caller.key_id) if caller else None,
        )
