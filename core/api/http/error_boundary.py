"""The outermost error handler: unexpected exceptions become an envelope without internals."""

import errno

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core.api.http.envelope import failure
from core.api.http.request_log import redact_path
from core.errors import CoverdeskError, InvalidInput, StoreUnavailable

# A disk that is full, failing or locked: it is not the request, and may be over in a moment.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
log = structlog.get_logger("coverdesk.api")


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
