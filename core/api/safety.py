"""The last resort: whatever went wrong, the answer is an envelope without internals."""

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core.api.envelope import failure
from core.errors import CoverdeskError, InvalidInput

log = structlog.get_logger("coverdesk.api")


class LastResort:
    """Turns an exception that nobody handled into a 500, or a refusal into its own answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Pass the request on; answer for it when that fails before an answer started."""
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
                error = InvalidInput.one("body", "stopped arriving")
            if not isinstance(error, CoverdeskError):
                log.exception("unhandled", path=scope["path"], error=type(error).__name__)
                error = CoverdeskError()
            await failure(error)(scope, receive, send)
