"""One set of handlers that makes every failure an envelope; none repeats what was sent."""

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.responses import Response

from core.api.envelope import failure
from core.covers.request import faults_of
from core.errors import (
    CoverdeskError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    StateForbids,
    TooLarge,
    WrongMediaType,
)
from core.store.outages import ConstraintRefused

log = structlog.get_logger("coverdesk.api")
_BY_STATUS: dict[int, type[CoverdeskError]] = {
    404: NotFound,
    405: MethodNotAllowed,
    413: TooLarge,
    415: WrongMediaType,
}


def install(app: FastAPI) -> None:
    """Answer every exception of an application with an envelope."""
    app.exception_handler(CoverdeskError)(_refusal)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(AnyHTTPException)(_http)
    app.exception_handler(ConstraintRefused)(_conflict)


async def _refusal(_: Request, error: CoverdeskError) -> Response:
    answer = failure(error)
    if isinstance(error, MethodNotAllowed) and error.allow:
        answer.headers["Allow"] = error.allow
    return answer


async def _invalid(_: Request, error: RequestValidationError) -> Response:
    return failure(InvalidInput(faults_of(error.errors(), skip=1)))


async def _http(_: Request, error: AnyHTTPException) -> Response:
    known = _BY_STATUS.get(error.status_code)
    answer = failure(known() if known else InvalidInput.one("body", "could not be read"))
    answer.headers.update(error.headers or {})
    return answer


async def _conflict(_: Request, error: ConstraintRefused) -> Response:
    log.warning("conflict", error=type(error).__name__)
    return failure(StateForbids("This conflicts with a record that already exists"))
