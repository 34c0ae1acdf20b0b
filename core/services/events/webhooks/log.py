"""Deliveries: made with the events they carry, their log, and sending again, one or a span (contract W1, W3, W4)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.events import catalogue
from core.services.events.webhooks import endpoints
from core.services.events.webhooks.endpoints import ReplayRequest
from core.services.lists.paging import Page, Paging
from core.store import outbox
from core.store.access import AnySelect, ScopedSession
from core.store.schema.events import DELIVERY_STATES
from core.store.schema.tables import Event, WebhookDelivery, WebhookEndpoint, WebhookTry

# An endpoint that never got a 2xx gets nothing; one that is disabled has its events held.
_STATES = {"active": "queued", "failing": "queued", "disabled": "held"}


def queue_deliveries(session: ScopedSession, events: Sequence[Event]) -> int:
    """Queue each event for every endpoint that wants it; returns how many deliveries there are."""
    owners = {event.distributor_id for event in events}
    if not owners:
        return 0
    query = sa.select(WebhookEndpoint).where(
        col(WebhookEndpoint.distributor_id).in_(owners),
        col(WebhookEndpoint.deleted_at).is_(None),
        col(WebhookEndpoint.state).in_(tuple(_STATES)),
    )
    endpoints = list(session.execute(query).scalars())
    rows = [build_delivery(event, each) for event in events for each in _list_wanting(event, endpoints)]
    session.insert(*rows)
    return len(rows)


def build_delivery(event: Event, endpoint: WebhookEndpoint) -> WebhookDelivery:
    """Build the row of one event for one endpoint."""
    state = _STATES.get(endpoint.state, "queued")
    return WebhookDelivery(
        distributor_id=event.distributor_id,
        is_live=event.is_live,
        endpoint_id=endpoint.id,
        event_id=event.id,
        event_type=event.type,
        state=state,
        next_try_at=None if state == "held" else clock.now(),
    )


def _list_wanting(event: Event, endpoints: Iterable[WebhookEndpoint]) -> Iterator[WebhookEndpoint]:
    for each in endpoints:
        is_owner = (each.distributor_id, each.is_live) == (event.distributor_id, event.is_live)
        # Nobody is told over a line of which the event says that it does not work.
        if is_owner and each.id != event.object_id and wants(each.events, event.type):
            yield each


def wants(patterns: Iterable[str], name: str) -> bool:
    """Return True when a type of event fits one of the patterns."""
    return any(catalogue.fits(pattern, name) for pattern in patterns)


# As long as the log is kept for reading; events are kept for longer, for the feed.
LOG_DAYS, EVENT_DAYS = 90, 396
STATES: Final = DELIVERY_STATES
_MAX_REPLAYED = 50_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """One delivery as the log shows it."""

    id: UUID
    endpoint_id: UUID
    event_id: UUID
    event_type: str
    state: str
    attempts: int
    status: int | None
    last_error: str | None
    is_replay: bool
    next_try_at: datetime | None
    delivered_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Try:
    """One try: the answer's first 512 bytes are text of others."""

    attempt: int
    started_at: datetime
    milliseconds: int
    status: int | None
    error: str | None
    answer: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryDetail:
    """One delivery with the bytes of its event and every try, oldest first."""

    delivery: Delivery
    body: bytes
    tries: Sequence[Try]


def list_deliveries(
    session: ScopedSession, endpoint_id: UUID, paging: Paging = Paging(), *, state: str | None = None
) -> Page[Delivery]:
    """Return a page of an endpoint's deliveries, newest first."""
    conditions = [col(WebhookDelivery.endpoint_id) == endpoint_id]
    if state is not None:
        conditions.append(col(WebhookDelivery.state) == state)
    total = session.count_rows(WebhookDelivery, *conditions)
    newest = (col(WebhookDelivery.created_at).desc(), col(WebhookDelivery.id).desc())
    query = _select().where(*conditions).order_by(*newest).limit(paging.limit).offset(paging.offset)
    return Page([Delivery(**row._mapping) for row in session.execute(query)], total)


def get_delivery(session: ScopedSession, delivery_id: UUID) -> DeliveryDetail:
    """Return one delivery with its tries; NotFound if it is unknown in this scope."""
    row = session.find_row(_select().where(col(WebhookDelivery.id) == delivery_id), otherwise="Delivery not found")
    delivery = Delivery(**row._mapping)
    body = session.execute(sa.select(col(Event.body)).where(col(Event.id) == delivery.event_id)).scalar_one()
    names = Try.__dataclass_fields__
    tries = session.execute(
        sa.select(*(col(getattr(WebhookTry, name)) for name in names))
        .where(col(WebhookTry.delivery_id) == delivery_id)
        .order_by(col(WebhookTry.started_at))
    )
    return DeliveryDetail(delivery=delivery, body=body, tries=[Try(**each._mapping) for each in tries])


def redeliver(session: ScopedSession, delivery_id: UUID, *, actor: str, endpoint_id: UUID | None = None) -> Delivery:
    """Send a delivery again, under the same id; StateForbids while it is being sent or its endpoint takes none."""
    query = sa.select(WebhookDelivery).where(col(WebhookDelivery.id) == delivery_id)
    found = session.execute(query.with_for_update().execution_options(populate_existing=True))
    row: WebhookDelivery | None = found.scalar_one_or_none()
    if row is None or endpoint_id not in (None, row.endpoint_id):
        raise NotFound("Delivery not found")
    _require_open(session, row.endpoint_id)
    if row.leased_until is not None and row.leased_until > clock.now():
        raise StateForbids("This delivery is being sent right now")
    row.is_replay = True
    outbox.requeue(row)
    session.flush()
    audit.note(session, "endpoint", row.endpoint_id, "delivery sent again", actor=actor, delivery_id=str(row.id))
    return get_delivery(session, delivery_id).delivery


def count_replay(session: ScopedSession, endpoint_id: UUID, request: ReplayRequest) -> int:
    """Return how many events a replay would send now."""
    request = _choose_types(request, endpoints.get_endpoint(session, endpoint_id).events)
    found = _build_replay_query(endpoint_id, request).with_only_columns(sa.func.count(col(Event.id)))
    return int(session.execute(found).scalar_one())


def replay(session: ScopedSession, endpoint_id: UUID, request: ReplayRequest, *, actor: str) -> int:
    """Queue every event of a span again for an endpoint, under their old ids; returns how many there are."""
    endpoint = _require_open(session, endpoint_id)
    request = _choose_types(request, endpoint.events)
    count = count_replay(session, endpoint_id, request)
    if count > _MAX_REPLAYED:
        raise StateForbids(f"These are {count:,} events, and at most {_MAX_REPLAYED:,} are sent at once: choose less")
    known = {row.event_id: row for row in _list_known(session, endpoint_id, request)}
    events = session.execute(_build_replay_query(endpoint_id, request).order_by(col(Event.position))).scalars()
    for event in events:
        row = known.get(event.id)
        if row is None:
            row = build_delivery(event, endpoint)
            row.is_replay = True
            session.insert(row)
        elif row.leased_until is None or row.leased_until <= clock.now():
            row.is_replay = True
            outbox.requeue(row)
    session.flush()
    facts = {**{name: str(value) for name, value in request.model_dump().items()}, "count": count}
    audit.note(session, "endpoint", endpoint_id, "endpoint replayed", actor=actor, **facts)
    return count


def _choose_types(request: ReplayRequest, own: Sequence[str]) -> ReplayRequest:
    """Return the request with the types of its endpoint where it names none."""
    return request if request.events else request.model_copy(update={"events": list(own)})


def _require_open(session: ScopedSession, endpoint_id: UUID) -> Any:
    endpoint = endpoints.get_for_update(session, endpoint_id)
    if endpoint.state not in {"active", "failing"}:
        raise StateForbids(f"This endpoint is {endpoint.state} and takes no deliveries: enable it, or ping it, first")
    return endpoint


def _select() -> AnySelect:
    return sa.select(*(col(getattr(WebhookDelivery, name)) for name in Delivery.__dataclass_fields__))


def _build_replay_query(endpoint_id: UUID, request: ReplayRequest) -> AnySelect:
    """Build the query for the events of a span that an endpoint is to get again."""
    types = catalogue.BY_NAME.keys() - {catalogue.PING}
    names = sorted(name for name in types if any(catalogue.fits(each, name) for each in request.events or ()))
    query: AnySelect = (
        sa.select(Event)
        .join(
            WebhookEndpoint,
            sa.and_(
                col(WebhookEndpoint.distributor_id) == col(Event.distributor_id),
                col(WebhookEndpoint.is_live) == col(Event.is_live),
            ),
        )
        .where(
            col(WebhookEndpoint.id) == endpoint_id,
            col(Event.occurred_at) >= request.from_,
            col(Event.occurred_at) <= request.to,
            col(Event.type).in_(names),
            col(Event.object_id) != endpoint_id,
        )
    )
    if request.only_failed:
        failed = sa.select(col(WebhookDelivery.event_id)).where(
            col(WebhookDelivery.endpoint_id) == endpoint_id, col(WebhookDelivery.state).in_(("dead", "queued"))
        )
        query = query.where(col(Event.id).in_(failed.where(col(WebhookDelivery.failures) > 0)))
    return query


def _list_known(session: ScopedSession, endpoint_id: UUID, request: ReplayRequest) -> Sequence[WebhookDelivery]:
    ids = _build_replay_query(endpoint_id, request).with_only_columns(col(Event.id))
    query = sa.select(WebhookDelivery).where(
        col(WebhookDelivery.endpoint_id) == endpoint_id, col(WebhookDelivery.event_id).in_(ids)
    )
    return list(session.execute(query.with_for_update()).scalars())


def purge(session: ScopedSession, limit: int = 500) -> int:
    """Remove the oldest deliveries after 90 days and events after thirteen months; returns how many rows went."""
    now = clock.now()
    old = sa.select(col(WebhookDelivery.id)).where(
        col(WebhookDelivery.created_at) < now - timedelta(days=LOG_DAYS),
        col(WebhookDelivery.state).in_(("sent", "dead", "withdrawn")),
    )
    ids = list(session.execute(old.limit(limit)).scalars())
    gone = 0
    for entity, column in ((WebhookTry, WebhookTry.delivery_id), (WebhookDelivery, WebhookDelivery.id)):
        gone += _delete(session, entity, col(column).in_(ids))
    waiting = sa.select(col(WebhookDelivery.event_id))
    events = sa.select(col(Event.id)).where(
        col(Event.occurred_at) < now - timedelta(days=EVENT_DAYS), col(Event.id).not_in(waiting)
    )
    stale = list(session.execute(events.limit(limit)).scalars())
    return gone + _delete(session, Event, col(Event.id).in_(stale))


def _delete(session: ScopedSession, entity: Any, condition: Any) -> int:
    result: Any = session.execute(sa.delete(entity).where(condition).execution_options(synchronize_session=False))
    return int(result.rowcount)
