"""Effect of a delivery attempt on the delivery and on its endpoint (contract W4)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, Protocol
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.events import catalogue
from core.services.events.webhooks import endpoints, sending
from core.services.events.webhooks.sending import DeliveryJob
from core.services.outbox import queue
from core.services.outbox.queue import Backoff
from core.store.access import ScopedSession
from core.store.schema.tables import WebhookDelivery, WebhookEndpoint, WebhookTry

_MINUTE, _HOUR = 60, 3_600
# The waits between the tries: after 5 s, 5 and 30 minutes, 2, 5, 10, 14, 20 and 24 hours.
BACKOFF: Final = Backoff(
    seconds=(5, 5 * _MINUTE, 30 * _MINUTE, *(hours * _HOUR for hours in (2, 5, 10, 14, 20, 24))), spread=0.2, most=10
)
FAILING_AFTER: Final = timedelta(hours=1)
DISABLED_AFTER: Final = timedelta(days=5)
# No answer at all, or one that asks for fewer requests.
_OVERLOADED: Final = (None, 429, 503)
SLOW_MILLISECONDS: Final = 5_000
_ACTOR: Final = "webhook worker"
UNKNOWN_TO_CLASSIC: Final = "Receivers of the classic form do not know this type"


class Result(Protocol):
    """Result of one delivery attempt."""

    @property
    def milliseconds(self) -> int: ...  # noqa: D102
    @property
    def status(self) -> int | None: ...  # noqa: D102
    @property
    def error(self) -> str | None: ...  # noqa: D102
    @property
    def answer(self) -> str: ...  # noqa: D102
    @property
    def retry_after(self) -> int: ...  # noqa: D102
    @property
    def is_gone(self) -> bool: ...  # noqa: D102


def record_results(session: ScopedSession, results: Sequence[tuple[DeliveryJob, Result | None]]) -> None:
    """Record tries; None ends a delivery that its receiver's form has no name for, and of which nothing was sent.

    Those that another worker has by now are passed over. Endpoints are locked before deliveries, each by their ids.
    """
    receivers = _lock_all(session, WebhookEndpoint, {job.endpoint_id for job, _ in results})
    rows = _lock_all(session, WebhookDelivery, {job.id for job, _ in results})
    for job, result in results:
        row: WebhookDelivery = rows[job.id]
        if not queue.holds(row, job.attempt):
            continue
        if result is None:
            queue.end(row, "withdrawn", UNKNOWN_TO_CLASSIC)
        else:
            _record(session, receivers[job.endpoint_id], row, job, result)
    session.flush()


def _record(
    session: ScopedSession, endpoint: WebhookEndpoint, row: WebhookDelivery, job: DeliveryJob, result: Result
) -> None:
    session.insert(_build_try(row, job, result))
    row.status = result.status
    if result.error is None:
        queue.end(row, "sent")
        row.delivered_at = clock.now()
        sending.get_pace(endpoint.id).note_success()
        _note_success(session, endpoint, result)
    else:
        _fail(row, result.error, result)
        if result.error != queue.INTERNAL_ERROR:
            _note_failure(session, endpoint, result)
            if result.status in _OVERLOADED:
                sending.get_pace(endpoint.id).note_overload()


def _fail(row: WebhookDelivery, error: str, result: Result) -> None:
    if row.event_type == catalogue.PING:
        # Whoever pings wants to know now, and pings again.
        queue.end(row, "dead", error)
    else:
        queue.fail(row, BACKOFF, error, at_least=timedelta(seconds=result.retry_after))


def _lock_all(session: ScopedSession, entity: Any, ids: set[UUID]) -> dict[UUID, Any]:
    query = sa.select(entity).where(col(entity.id).in_(ids)).order_by(col(entity.id)).with_for_update()
    found = session.execute(query.execution_options(populate_existing=True)).scalars()
    return {row.id: row for row in found}


def _build_try(row: WebhookDelivery, job: DeliveryJob, result: Result) -> WebhookTry:
    return WebhookTry(
        distributor_id=row.distributor_id,
        is_live=row.is_live,
        delivery_id=row.id,
        attempt=job.attempt,
        started_at=clock.now() - timedelta(milliseconds=result.milliseconds),
        milliseconds=result.milliseconds,
        status=result.status,
        error=result.error,
        answer=result.answer,
    )


def _note_success(session: ScopedSession, endpoint: WebhookEndpoint, result: Result) -> None:
    endpoint.last_success_at, endpoint.failing_since = clock.now(), None
    endpoint.is_slow = result.milliseconds > SLOW_MILLISECONDS
    if endpoint.state in {"unverified", "failing"}:
        before, endpoint.state, endpoint.last_error = endpoint.state, "active", None
        if before == "unverified":
            endpoints.note_state(session, endpoint, "endpoint verified", _ACTOR, before=before)


def _note_failure(session: ScopedSession, endpoint: WebhookEndpoint, result: Result) -> None:
    now = clock.now()
    endpoint.last_failure_at, endpoint.last_error = now, result.error
    endpoint.is_slow = endpoint.is_slow or result.milliseconds > SLOW_MILLISECONDS
    endpoint.failing_since = endpoint.failing_since or now
    if endpoint.state not in {"active", "failing"}:
        return
    lasted = now - endpoint.failing_since
    if result.is_gone or lasted >= DISABLED_AFTER:
        endpoints.disable(session, endpoint, actor=_ACTOR)
    elif lasted >= FAILING_AFTER and endpoint.state == "active":
        endpoints.turn(session, endpoint, "endpoint failing", actor=_ACTOR)
