"""Leases due deliveries: nobody waits behind another, and whoever is slow goes one by one (contract W4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.outbox import queue
from core.services.webhooks import endpoints, rendering
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import ApiKey, Distributor, Event, WebhookDelivery, WebhookEndpoint

AT_ONCE_EACH: Final = 4
AT_ONCE: Final = 32
# Endpoints that are slow or failing leave this many of the places to the others.
_KEPT_FREE: Final = 12
_SENDABLE: Final = ("active", "failing")


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryJob:
    """One delivery to send, whole: `attempt` tells this lease from a later one. `body` is None for what a classic
    receiver does not know.
    """

    id: UUID
    endpoint_id: UUID
    attempt: int
    url: str
    body: bytes | None
    headers: Mapping[str, str] = field(repr=False)


def has_due(session: ScopedSession) -> bool:
    """Return True if a delivery is due now; takes no locks."""
    return session.execute(_build_counts_query().limit(1)).first() is not None


def lease_due(session: ScopedSession, limit: int) -> list[DeliveryJob]:
    """Lease due deliveries, at most four of each endpoint in flight, and one of an endpoint that is slow or fails."""
    in_flight = _count_in_flight(session)
    free = min(limit, AT_ONCE - sum(in_flight.values()))
    jobs: list[DeliveryJob] = []
    for row in _list_endpoints(session):
        is_hard = row.is_slow or row.state == "failing" or row.failing_since is not None
        most = min(1 if is_hard else AT_ONCE_EACH, free - len(jobs) - (_KEPT_FREE if is_hard else 0))
        jobs += _lease_of(session, row, most - in_flight.get(row.id, 0))
    session.flush()
    return jobs


def lease_one(session: ScopedSession, delivery_id: UUID) -> DeliveryJob:
    """Lease one delivery at once, whatever else its endpoint has; for a ping."""
    row: Any = session.execute(
        sa.select(WebhookDelivery, WebhookEndpoint)
        .join(WebhookEndpoint, col(WebhookEndpoint.id) == col(WebhookDelivery.endpoint_id))
        .where(col(WebhookDelivery.id) == delivery_id)
    ).one()
    event = session.get_one(Event, row.WebhookDelivery.event_id)
    job = _take(row.WebhookDelivery, row.WebhookEndpoint, event, endpoints.list_secrets(row.WebhookEndpoint))
    session.flush()
    return job


def _list_endpoints(session: ScopedSession) -> Sequence[WebhookEndpoint]:
    """Return the endpoints with due deliveries, those that wait longest first."""
    due = {row.endpoint_id: row.oldest for row in session.execute(_build_counts_query())}
    rows = session.execute(sa.select(WebhookEndpoint).where(col(WebhookEndpoint.id).in_(list(due)))).scalars()
    return sorted(rows, key=lambda row: due[row.id])


def _build_counts_query() -> AnySelect:
    """Build the query for endpoints with due deliveries; a revoked key and a distributor that is off end theirs."""
    return (
        sa.select(col(WebhookDelivery.endpoint_id), sa.func.min(col(WebhookDelivery.next_try_at)).label("oldest"))
        .join(WebhookEndpoint, col(WebhookEndpoint.id) == col(WebhookDelivery.endpoint_id))
        .join(Distributor, col(Distributor.id) == col(WebhookEndpoint.distributor_id))
        .outerjoin(ApiKey, col(ApiKey.id) == col(WebhookEndpoint.key_id))
        .where(
            *queue.is_due(WebhookDelivery),
            col(WebhookEndpoint.state).in_(_SENDABLE),
            col(WebhookEndpoint.deleted_at).is_(None),
            col(Distributor.active),
            col(ApiKey.revoked_at).is_(None),
        )
        .group_by(col(WebhookDelivery.endpoint_id))
    )


def _count_in_flight(session: ScopedSession) -> dict[UUID, int]:
    query = (
        sa.select(col(WebhookDelivery.endpoint_id), sa.func.count())
        .where(*queue.is_in_flight(WebhookDelivery))
        .group_by(col(WebhookDelivery.endpoint_id))
    )
    return {row[0]: int(row[1]) for row in session.execute(query)}


def _lease_of(session: ScopedSession, endpoint: WebhookEndpoint, limit: int) -> list[DeliveryJob]:
    if limit <= 0:
        return []
    query = (
        sa.select(WebhookDelivery)
        .where(col(WebhookDelivery.endpoint_id) == endpoint.id, *queue.is_due(WebhookDelivery))
        .order_by(col(WebhookDelivery.next_try_at))
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    rows = list(session.execute(query.execution_options(populate_existing=True)).scalars())
    events = session.execute(sa.select(Event).where(col(Event.id).in_([row.event_id for row in rows]))).scalars()
    by_id = {event.id: event for event in events}
    secrets = endpoints.list_secrets(endpoint)
    return [_take(row, endpoint, by_id[row.event_id], secrets) for row in rows]


def _take(row: WebhookDelivery, endpoint: WebhookEndpoint, event: Event, secrets: Sequence[str]) -> DeliveryJob:
    queue.lease(row)
    body = rendering.render_classic(event.body) if endpoint.format == "classic" else event.body
    headers = rendering.build_headers(
        str(event.id),
        event.type,
        body or b"",
        is_live=row.is_live,
        attempt=row.attempts,
        is_replay=row.is_replay,
        at=clock.now(),
        secrets=secrets,
    )
    if endpoint.format == "classic":
        headers = rendering.build_classic_headers(headers, endpoint.signature_header, secrets[0], body or b"")
    return DeliveryJob(
        id=row.id, endpoint_id=endpoint.id, attempt=row.attempts, url=endpoint.url, body=body, headers=headers
    )
