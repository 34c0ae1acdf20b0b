"""Events over the API: the feed, and every type with its schema (contract W2, W6)."""

import asyncio
import time
from functools import cache
from typing import Annotated, Any
from uuid import UUID

import anyio.to_thread
import orjson
from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator, Field

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import list_response, success
from core.api.http.queries import Id, QueryString, whole_number
from core.api.http.reads import ReadRoute
from core.desk import examples
from core.dispatch import webhooks
from core.services.events import catalogue, feed
from core.services.events.feed import FeedFilter, FeedPage
from core.services.lists.records import Mode, Moment
from core.store.access import Scope, read_in, store

router = APIRouter(route_class=ReadRoute, tags=["Events"])
_LISTED, _TYPES = "Events retrieved", "Event types retrieved"
_LOOK_SECONDS = 0.25
# Whoever waits holds no thread, but does hold a place among the requests that are served at once.
_MAX_WAITING = 64
_waiting: set[object] = set()


class EventQuery(QueryString):
    """Parameters of the feed."""

    after: Id | None = Field(
        default=None, description="The `cursor` of the answer before; without it, from the oldest."
    )
    limit: Annotated[int, Field(ge=1, le=500), BeforeValidator(whole_number)] = Field(
        default=100, description="How many events an answer has at the most."
    )
    types: Annotated[str, Field(max_length=1000)] = Field(
        default="", description="Types with commas between them; `claim.*` are all of claims.", examples=["claim.*"]
    )
    object_id: Id | None = Field(default=None, description="Only the events of one object.")
    wait: Annotated[int, Field(ge=0, le=20), BeforeValidator(whole_number)] = Field(
        default=0, description="Seconds to wait for an event while there is none."
    )

    def criteria(self) -> FeedFilter:
        """The criteria as the service takes them; InvalidInput names a pattern that no type fits."""
        return FeedFilter(types=feed.parse_types(self.types), object_id=self.object_id)


class EventObject(openapi.Shape):
    """The record that an event is about, and where it is read."""

    type: str = Field(examples=["policy"])
    id: UUID
    url: str


class EventRecord(openapi.Shape):
    """An event as webhooks bring it, field by field."""

    id: UUID
    type: str = Field(examples=["policy.activated"], description="One of `/v1/event-types`, which may grow.")
    timestamp: Moment
    mode: Mode
    version: str = Field(examples=["1"])
    sequence: int = Field(description="Counts the events of the object: of two, the higher is the later.")
    object: EventObject
    data: dict[str, Any]
    previous: dict[str, Any]


class EventPage(openapi.Shape):
    """Events, oldest first, and where to go on."""

    events: list[EventRecord]
    cursor: str | None = Field(description="For `after` of the next request; null while there is no event at all.")
    has_more: bool


class EventTypeRecord(openapi.Shape):
    """One type of event."""

    type: str
    object: str
    when: str
    schema_: dict[str, Any] = Field(alias="schema", description="The JSON schema of the event's whole body.")
    sample: EventRecord


EventTypeList = openapi.build_page("EventTypeList", "Every type of event.", event_types=EventTypeRecord)


@router.get("/events", responses=openapi.answers(EventPage, _LISTED), summary="Follow events")
async def list_events(caller: Signed, query: Annotated[EventQuery, Query()]) -> Response:
    """Your events since a cursor, oldest first. Whoever follows the cursor misses none and sees none twice."""
    criteria, until, me = query.criteria(), time.monotonic() + query.wait, object()
    while True:
        page = await anyio.to_thread.run_sync(_read, caller.scope, criteria, query.after, query.limit)
        if page.bodies or time.monotonic() >= until or (me not in _waiting and len(_waiting) >= _MAX_WAITING):
            break
        _waiting.add(me)
        try:
            await asyncio.sleep(_LOOK_SECONDS)
        except BaseException:
            _waiting.discard(me)
            raise
    _waiting.discard(me)
    fragments = [orjson.Fragment(body) for body in page.bodies]
    return success({"events": fragments, "cursor": page.cursor, "has_more": page.has_more}, _LISTED)


def _read(scope: Scope, criteria: FeedFilter, after: UUID | None, limit: int) -> FeedPage:
    # What was acknowledged before this request is in its answer, whether a worker runs or not.
    webhooks.catch_up(store())
    return read_in(scope, feed.read_page, criteria, after=after, limit=limit)


@router.get("/event-types", responses=openapi.answers(EventTypeList, _TYPES), summary="Types of events")
def list_event_types(caller: Signed) -> Response:
    """Every type of event with what makes it, the JSON schema of its body, and a sample."""
    return Response(_event_types(), media_type="application/json")


@cache
def _event_types() -> bytes:
    found = [examples.describe(each) for each in catalogue.EVENT_TYPES]
    return list_response("event_types", found, len(found), _TYPES).body  # type: ignore[return-value]
