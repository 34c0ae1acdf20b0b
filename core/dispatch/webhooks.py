"""Makes events of the audit log, and sends their deliveries (contract W1, W4, W6).

Events are read in one transaction and added in a short one; deliveries are leased in one, called with none open, and
recorded in another.
"""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import structlog

from core import clock, ids, telemetry
from core.outbound.webhook_client import SendResult, WebhookClient
from core.services.events import catalogue, derivation, feed
from core.services.events.derivation import Batch, EventDraft
from core.services.events.webhooks import endpoints, log, sending
from core.services.events.webhooks.log import DeliveryDetail
from core.services.events.webhooks.sending import DeliveryJob
from core.store.access import Scope, ScopedSession, Store
from core.store.outbox import INTERNAL_ERROR
from core.store.schema.tables import Event

_SYSTEM = Scope.system()


def catch_up(store: Store) -> int:
    """Make every entry of the log that is committed into events; returns how many events there were.

    Any number of processes may do so at once: a batch that another was first with is read again.
    """
    count = 0
    while (batch := _next_batch(store)) is not None:
        count += store.transact(_SYSTEM, lambda session, batch=batch: _add(session, batch))  # type: ignore[misc]
    return count


def _next_batch(store: Store) -> Batch | None:
    with store.reading(_SYSTEM) as session:
        return derivation.collect(session) if derivation.is_behind(session) else None


def _add(session: ScopedSession, batch: Batch) -> int:
    return len(_tell(session, feed.append_batch(session, batch)))


def sweep(store: Store) -> int:
    """Tell what dates have made due, if it is time to look; returns how many events there were."""
    with store.reading(_SYSTEM) as session:
        if not feed.is_due(session):
            return 0
    return store.transact(_SYSTEM, lambda session: len(_tell(session, feed.sweep(session))))


def _tell(session: ScopedSession, events: list[Event]) -> list[Event]:
    """Queue the deliveries of new events in the transaction that adds them."""
    log.queue_deliveries(session, events)
    return events


_log = structlog.get_logger("coverdesk.webhooks")
Sent = tuple[DeliveryJob, SendResult | None]


def lease_due(store: Store, limit: int) -> list[DeliveryJob]:
    """Lease up to `limit` due deliveries; takes no lock when there is none."""
    with store.reading(_SYSTEM) as session:
        if not sending.has_due(session):
            return []
    return store.transact(_SYSTEM, lambda session: sending.lease_due(session, limit))


async def send(client: WebhookClient, job: DeliveryJob) -> Sent:
    """Send one leased delivery; None for one that its receiver's form has no name for."""
    if job.body is None:
        return job, None
    # A try continues the trace of the request that made the event.
    with telemetry.within_trace(job.trace_id), telemetry.open_span("POST webhook", "client"):
        try:
            result = await client.send(job.url, job.body, {**job.headers, **telemetry.build_trace_headers()})
        except Exception as error:
            _log.error("delivery not sent", error=type(error).__name__, exc_info=True)
            telemetry.count("webhook_deliveries", "internal_error")
            telemetry.fail_span("internal_error")
            return job, SendResult(milliseconds=0, error=INTERNAL_ERROR)
        _note(result)
        return job, result


def _note(result: SendResult) -> None:
    telemetry.count("webhook_deliveries", result.outcome)
    telemetry.observe("webhook_seconds", result.milliseconds / 1000)
    telemetry.note_span({"http.request.method": "POST", **_status(result)})
    if result.error is not None:
        telemetry.fail_span(result.outcome)


def _status(result: SendResult) -> dict[str, int]:
    return {} if result.status is None else {"http.response.status_code": result.status}


def record(store: Store, sent: Sequence[Sent]) -> None:
    """Record results in one transaction; what cannot be recorded is sent again, under its id, when its lease ends."""
    try:
        store.transact(_SYSTEM, lambda session: sending.record_results(session, sent))
    except Exception as error:
        _log.error("deliveries not recorded", error=type(error).__name__, exc_info=True)
        if len(sent) > 1:
            for each in sent:
                record(store, [each])


async def deliver(store: Store, client: WebhookClient, jobs: Sequence[DeliveryJob]) -> None:
    """Send leased deliveries at once and record their results."""
    sent = await asyncio.gather(*(send(client, job) for job in jobs))
    await asyncio.to_thread(record, store, sent)


async def ping(store: Store, scope: Scope, endpoint_id: UUID, *, client: WebhookClient | None = None) -> DeliveryDetail:
    """Send a ping now and return its delivery; a 2xx activates an endpoint that was unverified.

    NotFound for an endpoint outside the scope.
    """
    job = await asyncio.to_thread(store.transact, scope, lambda session: prepare_ping(session, endpoint_id))
    return await send_ping(store, scope, job, client=client)


async def send_ping(
    store: Store, scope: Scope, job: DeliveryJob, *, client: WebhookClient | None = None
) -> DeliveryDetail:
    """Send a ping that was prepared in a transaction of its own, and return its delivery."""
    if client is None:
        async with WebhookClient() as client_:
            await deliver(store, client_, [job])
    else:
        await deliver(store, client, [job])
    return await asyncio.to_thread(_read, store, scope, job.id)


def ping_now(store: Store, scope: Scope, endpoint_id: UUID) -> DeliveryDetail:
    """Like `ping`, for code without an event loop."""
    return asyncio.run(ping(store, scope, endpoint_id))


def _read(store: Store, scope: Scope, delivery_id: UUID) -> DeliveryDetail:
    with store.reading(scope) as session:
        return log.get_delivery(session, delivery_id)


def prepare_ping(session: ScopedSession, endpoint_id: UUID) -> DeliveryJob:
    """Write the event and the delivery of a ping; NotFound for an endpoint outside the scope."""
    endpoint = endpoints.get_for_update(session, endpoint_id)
    draft = EventDraft(
        type=catalogue.BY_NAME[catalogue.PING],
        owner=(endpoint.distributor_id, endpoint.is_live),
        object_id=endpoint.id,
        data={"endpoint_id": str(endpoint.id), "state": endpoint.state},
        previous={},
        at=clock.now(),
        origin=f"{ids.new().hex} {catalogue.PING}",
    )
    (event,) = feed.append(session, [draft])
    row = log.build_delivery(event, endpoint)
    row.state, row.next_try_at = "queued", clock.now()
    session.insert(row)
    return sending.lease_one(session, row.id)
