"""The response envelope of /v1 (contract E1, E2)."""

from collections.abc import Mapping
from typing import Any, Literal

import orjson
import structlog
from pydantic import BaseModel, Field, create_model
from starlette.responses import Response

from core.errors import (
    CoverdeskError,
    MethodNotAllowed,
    Overloaded,
    StateForbids,
    StoreUnavailable,
    TooManyRequests,
    TooSlow,
)
from core.services.audit.idempotency import WireResponse
from core.services.lists.paging import Page
from core.store.access import ConstraintRefused

JSON = "application/json"
log = structlog.get_logger("coverdesk.api")


def encode_success(data: object, text: str) -> bytes:
    """The encoded body of a success."""
    return orjson.dumps({"responseCode": 1, "responseText": text, "data": data})


def success(data: object, text: str) -> Response:
    """The response of a successful read."""
    return Response(encode_success(data, text), media_type=JSON)


def list_response(key: str, rows: object, total: int, text: str) -> Response:
    """A page of a list under its key; the exact count under each name that clients read it by (contract P2)."""
    return success({key: rows, **counts(total)}, text)


def page_response(key: str, page: Page[Any], text: str) -> Response:
    """One page of a list under its key."""
    return list_response(key, page.items, page.total_count, text)


def counts(total: int) -> dict[str, int]:
    """Return the total number of records under its three names."""
    return {"total_count": total, "total": total, "total_result": total}


def answer(data: object, text: str, *, status: int = 201, headers: Mapping[str, str] | None = None) -> WireResponse:
    """A success that can be stored and replayed for an idempotency key."""
    return WireResponse(status, encode_success(data, text), dict(headers or {}))


def response(kept: WireResponse) -> Response:
    """Turn a stored answer into a response."""
    return Response(kept.body, kept.status, kept.headers, media_type=JSON)


def failure(error: CoverdeskError) -> Response:
    """The response of a refusal: `data` is empty, `errorData` is null or detail.

    Why the store is not available is no caller's business; the log's line of the request has it.
    """
    if isinstance(error, StoreUnavailable) and error.reason:
        structlog.contextvars.bind_contextvars(reason=error.reason)
    body = {"responseCode": 0, "responseText": str(error), "data": {}, "errorData": error.detail}
    headers = {}
    if isinstance(error, TooManyRequests | Overloaded | StoreUnavailable):
        body["errorData"] = {"retry_after": error.retry_after}
        headers["Retry-After"] = str(error.retry_after)
    if error.status in {401}:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed) and error.allow:
        headers["Allow"] = error.allow
    # What else of the body is still to come must not be read as another request.
    if error.status == 413 or isinstance(error, TooSlow):
        headers["Connection"] = "close"
    return Response(orjson.dumps(body), error.status, headers, media_type=JSON)


def conflict(error: ConstraintRefused) -> Response:
    """The response when a constraint of the store refused a row, as it conflicts with another record."""
    log.warning("conflict", error=type(error).__name__)
    return failure(StateForbids("This conflicts with a record that already exists"))


def envelope_model(name: str, data: Any) -> type[BaseModel]:
    """The OpenAPI model of a success envelope around `data`."""
    return create_model(
        name,
        responseCode=(Literal[1], Field(examples=[1])),
        responseText=(str, Field(examples=["Ok"])),
        data=(data, ...),
    )


class Nothing(BaseModel):
    """The empty `data` of a failure."""


class FieldFaultRecord(BaseModel):
    """One invalid field."""

    field: str = Field(examples=["loan_tenure"])
    message: str = Field(examples=["must be at least 3"])


class Failure(BaseModel):
    """The envelope of every failure; `errorData` lists invalid fields, has facts of a refusal, or is null."""

    responseCode: Literal[0] = Field(examples=[0])  # noqa: N815 - the names of the specification
    responseText: str = Field(examples=["Unauthorized"])  # noqa: N815
    data: Nothing
    errorData: list[FieldFaultRecord] | dict[str, Any] | None  # noqa: N815
