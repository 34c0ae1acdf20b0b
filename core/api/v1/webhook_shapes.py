"""Shapes of endpoints and deliveries on the wire."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, WithJsonSchema

from core import clock
from core.api.http import openapi
from core.api.http.queries import PageQuery
from core.covers import request
from core.covers.fields import one_of
from core.services.events.webhooks import endpoints, log
from core.services.events.webhooks.endpoints import Endpoint
from core.services.events.webhooks.log import Delivery
from core.services.events.webhooks.requests import FORMATS
from core.services.lists.shapes import Mode, Moment


class EndpointRecord(openapi.Shape):
    """An endpoint; `held` deliveries wait for it to be enabled."""

    id: UUID
    url: str
    description: str
    events: list[str]
    format: Annotated[str, WithJsonSchema({"type": "string", "enum": list(FORMATS)})]
    signature_header: str
    state: Annotated[str, WithJsonSchema({"type": "string", "enum": list(endpoints.STATES)})]
    mode: Mode
    last_error: str | None
    last_success_at: Moment | None
    last_failure_at: Moment | None
    failing_since: Moment | None
    disabled_at: Moment | None
    old_secret_until: Moment | None
    created_at: Moment
    held: int


class DeliveryRecord(openapi.Shape):
    """One event for one endpoint, with what became of it."""

    id: UUID
    endpoint_id: UUID
    event_id: UUID
    event_type: str
    state: Annotated[str, WithJsonSchema({"type": "string", "enum": list(log.STATES)})]
    attempts: int
    status: int | None = Field(description="The last HTTP status that was answered.")
    last_error: str | None
    is_replay: bool
    next_try_at: Moment | None
    delivered_at: Moment | None
    created_at: Moment


class RegisteredEndpoint(openapi.Shape):
    """A new endpoint, and its secret for the only time: a repetition of the request shows null."""

    endpoint: EndpointRecord
    secret: str | None


class OneEndpoint(openapi.Shape):
    """One endpoint."""

    endpoint: EndpointRecord


class EndpointList(openapi.Listed):
    """Every endpoint of the mode."""

    endpoints: list[EndpointRecord]


class DeliveryPage(openapi.Listed):
    """A page of deliveries."""

    deliveries: list[DeliveryRecord]


class OneDelivery(openapi.Shape):
    """One delivery."""

    delivery: DeliveryRecord


class PingResult(openapi.Shape):
    """The receiver's answer, its first 512 bytes, and the endpoint as it is now."""

    delivery: DeliveryRecord
    answer: str
    endpoint: EndpointRecord


class EventCount(openapi.Shape):
    """A number of events; `queued` is False for a dry run."""

    events: int
    queued: bool


class DeletedEndpoint(openapi.Shape):
    """The endpoint that was deleted."""

    id: UUID


class NoBody(request.Request):
    """A request that says nothing more than its address."""


class DeliveryQuery(PageQuery):
    """Parameters of the log of deliveries."""

    state: Annotated[str, one_of(*log.STATES)] | None = None


def build_endpoint(row: Endpoint) -> dict[str, Any]:
    """Return an endpoint as it is answered."""
    return {**_plain(row, EndpointRecord, leave="mode"), "mode": "live" if row.is_live else "test"}


def build_delivery(row: Delivery) -> dict[str, Any]:
    """Return a delivery as it is answered."""
    return _plain(row, DeliveryRecord)


def _plain(row: object, shape: type[openapi.Shape], *, leave: str = "") -> dict[str, Any]:
    return {name: _wire(getattr(row, name)) for name in shape.model_fields if name != leave}


def _wire(value: object) -> object:
    return clock.to_wire(value) if isinstance(value, datetime) else value
