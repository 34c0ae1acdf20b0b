"""Exception handlers that answer every failure with an envelope and never repeat what was sent."""

import errno

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from core.api.http.envelope import failure
from core.api.http.request_log import redact_path
from core.api.http.routing import allowed_methods
from core.covers.request import build_faults
from core.errors import (
    CoverdeskError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    StateForbids,
    StoreUnavailable,
    TooLarge,
    WrongMediaType,
)
from core.store.access import ConstraintRefused

# A disk that is full, failing or locked: it is not the request, and may be over in a moment.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
boundary_log = structlog.get_logger("coverdesk.api")


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
                boundary_log.error("no room", path=redact_path(scope["path"]), error=errno.errorcode[error.errno])
                error = StoreUnavailable()
            if not isinstance(error, CoverdeskError):
                boundary_log.exception("unhandled", path=redact_path(scope["path"]), error=type(error).__name__)
                error = CoverdeskError()
            await failure(error)(scope, receive, send)


log = structlog.get_logger("coverdesk.api")
_BY_STATUS: dict[int, type[CoverdeskError]] = {413: TooLarge, 415: WrongMediaType}
_METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE"}


def install(app: FastAPI) -> None:
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
    if error.status_code == 404:
        method = request.method if request.method in _METHODS else "*"
        return failure(NotFound(f"No such endpoint: {method} {redact_path(request.url.path)}"))
    if error.status_code == 405:
        path = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
        return failure(MethodNotAllowed(allow=", ".join(allowed_methods(request.app, path))))
    known = _BY_STATUS.get(error.status_code)
    answer = failure(known() if known else InvalidInput.for_field("body", "could not be read"))
    answer.headers.update(error.headers or {})
    return answer


async def _conflict(_: Request, error: ConstraintRefused) -> Response:
    log.warning("conflict", error=type(error).__name__)
    return failure(StateForbids("This conflicts with a record that already exists"))
