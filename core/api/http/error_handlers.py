"""Exception handlers that answer every failure with an envelope and never repeat what was sent."""

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.responses import Response

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
    TooLarge,
    WrongMediaType,
)
from core.store.access import ConstraintRefused

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
