"""Webhook endpoints over the API: register, change, try, and what was delivered to them (contract W3)."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import anyio.to_thread
import orjson
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, WithJsonSchema

from core import clock
from core.api.http import envelope, openapi
from core.api.http.auth import Signed
from core.api.http.envelope import list_response, success
from core.api.http.posts import StrictRoute, answer_once_async
from core.api.http.queries import Id, PageQuery
from core.covers.fields import one_of
from core.dispatch import webhooks as webhook_dispatch
from core.services.catalogue.keys import Caller
from core.services.events.webhooks import endpoints, log
from core.services.events.webhooks.endpoints import (
    FORMATS,
    EnableRequest,
    Endpoint,
    EndpointChange,
    EndpointRequest,
    NewSecret,
    ReplayRequest,
)
from core.services.events.webhooks.log import Delivery, DeliveryDetail
from core.services.events.webhooks.sending import DeliveryJob
from core.services.lists.records import Mode, Moment
from core.store.access import ScopedSession, reading, reading_autocommit, store, transact


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


OneEndpoint = openapi.build_one("OneEndpoint", "One endpoint.", endpoint=EndpointRecord)
EndpointList = openapi.build_page("EndpointList", "Every endpoint of the mode.", endpoints=EndpointRecord)
DeliveryPage = openapi.build_page("DeliveryPage", "A page of deliveries.", deliveries=DeliveryRecord)
OneDelivery = openapi.build_one("OneDelivery", "One delivery.", delivery=DeliveryRecord)


class PingResult(openapi.Shape):
    """The receiver's answer, its first 512 bytes, and the endpoint as it is now."""

    delivery: DeliveryRecord
    answer: str
    endpoint: EndpointRecord


class EventCount(openapi.Shape):
    """A number of events; `queued` is False for a dry run."""

    events: int
    queued: bool


DeletedEndpoint = openapi.build_one("DeletedEndpoint", "The endpoint that was deleted.", id=UUID)


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
    values = {name: getattr(row, name) for name in shape.model_fields if name != leave}
    return {name: clock.to_wire(value) if isinstance(value, datetime) else value for name, value in values.items()}


router = APIRouter(route_class=StrictRoute, prefix="/webhooks", tags=["Webhooks"])
_REGISTERED, _LISTED, _ONE = "Endpoint registered", "Endpoints retrieved", "Endpoint retrieved"
_CHANGED, _DELETED, _PINGED, _ROTATED = "Endpoint changed", "Endpoint deleted", "Ping sent", "Secret rotated"
_ENABLED, _DELIVERIES, _QUEUED = "Endpoint enabled", "Deliveries retrieved", "Delivery queued again"
_REPLAYED = "Replay counted or queued"
_SEND_HELD = EnableRequest()


@router.post(
    "",
    status_code=201,
    summary="Register an endpoint",
    responses=openapi.answers(RegisteredEndpoint, _REGISTERED, status=201),
    openapi_extra=openapi.body_example(EndpointRequest),
)
async def register_endpoint(request: Request, caller: Signed, body: EndpointRequest) -> Response:
    """Register an endpoint for events of this mode. Give its receiver the secret, then ping it: a 2xx activates it."""

    def register(session: ScopedSession) -> NewSecret:
        return endpoints.register(session, body, caller, actor=caller.actor, key_id=caller.key_id)

    return await _show_secret(request, caller, register, _REGISTERED)


@router.get("", responses=openapi.answers(EndpointList, _LISTED), summary="List endpoints")
def list_endpoints(caller: Signed) -> Response:
    """Every endpoint of this mode, newest first, without its secret."""
    with reading(caller.scope) as session:
        found = [build_endpoint(each) for each in endpoints.list_endpoints(session)]
    return list_response("endpoints", found, len(found), _LISTED)


@router.get("/{endpoint_id}", responses=openapi.answers(OneEndpoint, _ONE, found=True), summary="One endpoint")
def get_endpoint(caller: Signed, endpoint_id: Id) -> Response:
    """One endpoint without its secret."""
    with reading_autocommit(caller.scope) as session:
        return success({"endpoint": build_endpoint(endpoints.get_endpoint(session, endpoint_id))}, _ONE)


@router.patch(
    "/{endpoint_id}",
    summary="Change an endpoint",
    responses=openapi.answers(OneEndpoint, _CHANGED, found=True, posted=True),
    openapi_extra={"requestBody": {"content": {"application/json": {"example": {"events": ["policy.*"]}}}}},
)
async def change_endpoint(request: Request, caller: Signed, endpoint_id: Id, body: EndpointChange) -> Response:
    """Change what is named; another address is unverified until a ping to it got a 2xx."""

    def work() -> Endpoint:
        return transact(caller.scope, lambda session: endpoints.change(session, endpoint_id, body, actor=caller.actor))

    return success({"endpoint": build_endpoint(await anyio.to_thread.run_sync(work))}, _CHANGED)


@router.delete(
    "/{endpoint_id}", responses=openapi.answers(DeletedEndpoint, _DELETED, found=True), summary="Delete an endpoint"
)
def delete_endpoint(caller: Signed, endpoint_id: Id) -> Response:
    """Delete an endpoint; what waits for it is withdrawn."""
    transact(caller.scope, lambda session: endpoints.delete(session, endpoint_id, actor=caller.actor))
    return success({"id": str(endpoint_id)}, _DELETED)


@router.post(
    "/{endpoint_id}/ping",
    responses=openapi.answers(PingResult, _PINGED, found=True, posted=True),
    openapi_extra=openapi.WITH_KEY,
    summary="Try an endpoint",
)
async def ping_endpoint(request: Request, caller: Signed, endpoint_id: Id) -> Response:
    """Send an `endpoint.ping` now and tell what was answered; a 2xx activates an endpoint that was unverified.

    A repetition under the same key sends nothing, and tells what became of the first ping.
    """
    prepared: list[DeliveryJob] = []

    def ping(session: ScopedSession) -> dict[str, Any]:
        prepared.append(webhook_dispatch.prepare_ping(session, endpoint_id))
        return {"delivery_id": prepared[-1].id}

    kept = await answer_once_async(request, caller, ping, _PINGED)
    delivery_id = UUID(orjson.loads(kept.body)["data"]["delivery_id"])
    if prepared:
        await webhook_dispatch.send_ping(store(), caller.scope, prepared[-1])
    found, endpoint = await anyio.to_thread.run_sync(_get_ping, caller, delivery_id, endpoint_id)
    answer = found.tries[-1].answer if found.tries else ""
    result = {"delivery": build_delivery(found.delivery), "answer": answer, "endpoint": build_endpoint(endpoint)}
    return success(result, _PINGED)


@router.post(
    "/{endpoint_id}/rotate-secret",
    responses=openapi.answers(RegisteredEndpoint, _ROTATED, found=True, posted=True),
    openapi_extra=openapi.WITH_KEY,
    summary="Rotate the secret",
)
async def rotate_secret(request: Request, caller: Signed, endpoint_id: Id) -> Response:
    """Give an endpoint another secret; each secret signs for 24 hours more once it was replaced."""

    def rotate(session: ScopedSession) -> NewSecret:
        return endpoints.rotate_secret(session, endpoint_id, actor=caller.actor)

    return await _show_secret(request, caller, rotate, _ROTATED)


@router.post(
    "/{endpoint_id}/enable",
    summary="Enable an endpoint",
    responses=openapi.answers(EventCount, _ENABLED, found=True, posted=True),
    openapi_extra=openapi.body_example(EnableRequest),
)
async def enable_endpoint(
    request: Request, caller: Signed, endpoint_id: Id, body: EnableRequest = _SEND_HELD
) -> Response:
    """Enable a disabled endpoint; what was held meanwhile is sent, or withdrawn. Without a body it is sent."""

    def enable(session: ScopedSession) -> dict[str, Any]:
        count = endpoints.enable(session, endpoint_id, send_held=body.send_held, actor=caller.actor)
        return {"events": count, "queued": body.send_held}

    return await answer_once_async(request, caller, enable, _ENABLED)


@router.get(
    "/{endpoint_id}/deliveries",
    responses=openapi.answers(DeliveryPage, _DELIVERIES, found=True),
    summary="Deliveries of an endpoint",
)
def list_deliveries(caller: Signed, endpoint_id: Id, query: Annotated[DeliveryQuery, Query()]) -> Response:
    """List the deliveries of the last 90 days, those that wait or were given up included; newest first."""
    with reading(caller.scope) as session:
        endpoints.get_endpoint(session, endpoint_id)
        page = log.list_deliveries(session, endpoint_id, query.paging(), state=query.state)
        return list_response("deliveries", [build_delivery(each) for each in page.items], page.total_count, _DELIVERIES)


@router.post(
    "/{endpoint_id}/deliveries/{delivery_id}/redeliver",
    responses=openapi.answers(OneDelivery, _QUEUED, found=True, posted=True),
    openapi_extra=openapi.WITH_KEY,
    summary="Send a delivery again",
)
async def redeliver_event(request: Request, caller: Signed, endpoint_id: Id, delivery_id: Id) -> Response:
    """Queue one delivery again, under the same id."""

    def queue(session: ScopedSession) -> dict[str, Any]:
        found = log.redeliver(session, delivery_id, actor=caller.actor, endpoint_id=endpoint_id)
        return {"delivery": build_delivery(found)}

    return await answer_once_async(request, caller, queue, _QUEUED)


@router.post(
    "/{endpoint_id}/replay",
    summary="Replay events",
    responses=openapi.answers(EventCount, _REPLAYED, found=True, posted=True),
    openapi_extra=openapi.body_example(ReplayRequest),
)
async def replay_events(request: Request, caller: Signed, endpoint_id: Id, body: ReplayRequest) -> Response:
    """Send the events of a span again, under their old ids; with `dry_run` only count them."""

    def replay(session: ScopedSession) -> dict[str, Any]:
        if body.dry_run:
            count = log.count_replay(session, endpoint_id, body)
        else:
            count = log.replay(session, endpoint_id, body, actor=caller.actor)
        return {"events": count, "queued": not body.dry_run}

    return await answer_once_async(request, caller, replay, _REPLAYED)


async def _show_secret(
    request: Request,
    caller: Caller,
    make: Callable[[ScopedSession], NewSecret],
    text: str,
) -> Response:
    """Do the work once per Idempotency-Key; the secret is in no stored answer, and so a repetition has none."""
    made: list[NewSecret] = []

    def without_secret(session: ScopedSession) -> dict[str, Any]:
        made.append(make(session))
        return {"endpoint": build_endpoint(made[-1].endpoint), "secret": None}

    answer = await answer_once_async(request, caller, without_secret, text)
    if not made:
        return answer
    data = {"endpoint": build_endpoint(made[-1].endpoint), "secret": made[-1].secret}
    return Response(envelope.encode_success(data, text), answer.status_code, media_type=envelope.JSON)


def _get_ping(caller: Caller, delivery_id: UUID, endpoint_id: UUID) -> tuple[DeliveryDetail, Endpoint]:
    with reading(caller.scope) as session:
        return log.get_delivery(session, delivery_id), endpoints.get_endpoint(session, endpoint_id)
