"""Makes deliveries of new events, in the transaction that adds them to the feed (contract W1, W4)."""

from collections.abc import Iterable, Iterator, Sequence

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.events import catalogue
from core.store.access import ScopedSession
from core.store.schema.tables import Event, WebhookDelivery, WebhookEndpoint

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
