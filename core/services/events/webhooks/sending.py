"""Leases due deliveries, and makes their bodies and headers: whoever is slow goes one by one (contract W4, W7).

What an attempt does to the delivery and to its endpoint follows from its outcome. A body is the event's own bytes, or
the form that older receivers know.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.outbound import signing
from core.services.events import catalogue
from core.services.events.webhooks import endpoints
from core.states.claims import ClaimStatus
from core.store import outbox
from core.store.access import AnySelect, ScopedSession
from core.store.outbox import Backoff
from core.store.schema.tables import Distributor, Event, WebhookDelivery, WebhookEndpoint, WebhookTry

if TYPE_CHECKING:
    from core.outbound.webhook_client import SendResult

EventBody = Mapping[str, Any]


def _build_headers(
    row: WebhookDelivery, endpoint: WebhookEndpoint, event: Event, body: bytes, secrets: Sequence[str]
) -> dict[str, str]:
    """Return the headers of a delivery, signed in the form of its endpoint; the id is the same on every try."""
    at, event_id = clock.now(), str(event.id)
    if endpoint.format == "classic":
        signature = {endpoint.signature_header: signing.sign_classic(secrets[0], body)}
    else:
        signature = {"webhook-signature": signing.sign_standard(secrets, event_id, at, body)}
    return {
        "Content-Type": "application/json",
        "User-Agent": _user_agent(),
        "webhook-id": event_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "coverdesk-event": event.type,
        "coverdesk-mode": "live" if row.is_live else "test",
        "coverdesk-attempt": str(row.attempts),
        "coverdesk-replay": "true" if row.is_replay else "false",
        **signature,
    }


@cache
def _user_agent() -> str:
    """Cached: the version is read from files."""
    return f"coverdesk/{version('coverdesk')}"


def render_classic(body: bytes, wanted: Sequence[str] = ()) -> bytes | None:
    """Return an event in the classic form; None for a type that those receivers do not know.

    `wanted` are the endpoint's events, among which may be an older name of the type. Its fields stand under `data` and
    in `data.essential`: some of those receivers look for them in one place, some in the other.
    """
    event = orjson.loads(body)
    name = _get_classic_name(event, wanted)
    if name is None:
        return None
    essential = {"id": event["object"]["id"], **event["data"]}
    return orjson.dumps(
        {
            "event": name,
            "status": essential.get("claim_status") or _STATUS.get(name, "successful"),
            "event_id": event["id"],
            "data": {
                **essential,
                "meta": {"mode": event["mode"], "sequence": event["sequence"], "type": event["type"]},
                "essential": essential,
                "created_at": event["timestamp"],
                "updated_at": event["timestamp"],
            },
        }
    )


def _get_classic_name(event: EventBody, wanted: Sequence[str]) -> str | None:
    older = next((each for each in wanted if catalogue.OLDER_NAMES.get(each) == event["type"]), None)
    name = older or CLASSIC_NAMES.get(event["type"])
    return name(event) if callable(name) else name


_NAMED: Final = frozenset(
    {ClaimStatus.APPROVED, ClaimStatus.DECLINED, ClaimStatus.OFFER_SENT, ClaimStatus.OFFER_REJECTED}
)


def _status_changed(event: EventBody) -> str | None:
    """The moves that have no name of their own are updates; an inspection that came in is one."""
    status = event["data"].get("claim_status")
    if status == ClaimStatus.INSPECTION_SUBMITTED:
        return "inspection.completed"
    return None if status in _NAMED else "claim.updated"


CLASSIC_NAMES: Final[Mapping[str, str | Callable[[EventBody], str | None]]] = {
    "purchase.created": "purchase.successful",
    "policy.renewed": "purchase.renewed",
    "policy.certificate_ready": "policy.updated",
    "policy.updated": "policy.updated",
    "policy.cancelled": "policy.updated",
    "policy.endorsed": "policy.updated",
    "policy.declined": "policy.updated",
    "policy.expired": "policy.expired",
    "claim.lodged": "claim.submitted",
    "claim.approved": "claim.approved",
    "claim.declined": "claim.disapproved",
    "claim.offer_sent": "claim.offer_sent",
    "claim.offer_rejected": "claim.offer_rejected",
    "claim.status_changed": _status_changed,
    "claim.document_added": "claim.updated",
    "endpoint.ping": "endpoint.ping",
}
_STATUS: Final = {"policy.updated": "updated", "policy.expired": "expired", "claim.submitted": ClaimStatus.PENDING}


FEWEST_EACH, MOST_EACH = 4, 32
_CAREFUL: Final = timedelta(hours=1)
AT_ONCE: Final = 96
# Endpoints that are slow or failing leave this many of the places to the others.
_KEPT_FREE: Final = 32
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
    trace_id: str | None = None


@dataclass(slots=True)
class Pace:
    """The deliveries that one endpoint is sent at once by this process: one more after each four that it took.

    A receiver that could not keep up gets the fewest for an hour: many take no more than five connections at a time.
    """

    places: float = FEWEST_EACH
    careful_until: datetime | None = None

    def note_success(self) -> None:
        """Note a delivery that was taken."""
        if self.careful_until is None or self.careful_until <= clock.now():
            self.places = min(self.places + 0.25, MOST_EACH)

    def note_overload(self) -> None:
        """Note a delivery that got no answer, or one that asks for fewer."""
        self.places, self.careful_until = FEWEST_EACH, clock.now() + _CAREFUL


_paces: defaultdict[UUID, Pace] = defaultdict(Pace)


def get_pace(endpoint_id: UUID) -> Pace:
    """Return the pace of an endpoint; each process learns it anew."""
    return _paces[endpoint_id]


def has_due(session: ScopedSession) -> bool:
    """Return True if a delivery is due now; takes no locks."""
    return session.execute(_build_counts_query().limit(1)).first() is not None


def lease_due(session: ScopedSession, limit: int) -> list[DeliveryJob]:
    """Lease due deliveries, as many of each endpoint as its pace allows, and one of one that is slow or fails."""
    places = _share_places(session, limit)
    if not places:
        return []
    endpoints_by_id = {endpoint.id: endpoint for endpoint, _ in places}
    secrets = {endpoint.id: endpoints.list_secrets(endpoint) for endpoint, _ in places}
    jobs = [
        _take(row, endpoints_by_id[row.endpoint_id], event, secrets[row.endpoint_id])
        for row, event in _lock(session, places)
    ]
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


def _share_places(session: ScopedSession, limit: int) -> list[tuple[WebhookEndpoint, int]]:
    """Return the endpoints that may send now and how many deliveries of each, those that wait longest first."""
    in_flight = _count_in_flight(session)
    free = min(limit, AT_ONCE - sum(in_flight.values()))
    if free <= 0:
        return []
    due = {row.endpoint_id: row for row in session.execute(_build_counts_query())}
    found = session.execute(sa.select(WebhookEndpoint).where(col(WebhookEndpoint.id).in_(list(due)))).scalars()
    shared: list[tuple[WebhookEndpoint, int]] = []
    for row in sorted(found, key=lambda row: due[row.id].oldest):
        is_hard = row.is_slow or row.state == "failing" or row.failing_since is not None
        own = (1 if is_hard else int(get_pace(row.id).places)) - in_flight.get(row.id, 0)
        # Half of what is free at the most: several that begin to hang at once leave places to the others too.
        number = min(own, due[row.id].number, free - _KEPT_FREE if is_hard else max(free // 2, 1))
        if number > 0:
            shared.append((row, number))
            free -= number
    return shared


def _build_counts_query() -> AnySelect:
    """Build the query for endpoints with due deliveries; those of a distributor that is off wait."""
    return (
        sa.select(
            col(WebhookDelivery.endpoint_id),
            sa.func.min(col(WebhookDelivery.next_try_at)).label("oldest"),
            sa.func.count().label("number"),
        )
        .join(WebhookEndpoint, col(WebhookEndpoint.id) == col(WebhookDelivery.endpoint_id))
        .join(Distributor, col(Distributor.id) == col(WebhookEndpoint.distributor_id))
        .where(
            *outbox.is_due(WebhookDelivery),
            col(WebhookEndpoint.state).in_(_SENDABLE),
            col(WebhookEndpoint.deleted_at).is_(None),
            col(Distributor.active),
        )
        .group_by(col(WebhookDelivery.endpoint_id))
    )


def _count_in_flight(session: ScopedSession) -> dict[UUID, int]:
    query = (
        sa.select(col(WebhookDelivery.endpoint_id), sa.func.count())
        .where(*outbox.is_in_flight(WebhookDelivery))
        .group_by(col(WebhookDelivery.endpoint_id))
    )
    return {row[0]: int(row[1]) for row in session.execute(query)}


def _lock(
    session: ScopedSession, places: Sequence[tuple[WebhookEndpoint, int]]
) -> Sequence[tuple[WebhookDelivery, Event]]:
    """Lock the deliveries of these places, the longest waiting of each endpoint; all of them in one statement."""
    parts = [
        sa.select(col(WebhookDelivery.id))
        .where(col(WebhookDelivery.endpoint_id) == endpoint.id, *outbox.is_due(WebhookDelivery))
        .order_by(col(WebhookDelivery.next_try_at))
        .limit(number)
        .subquery()
        for endpoint, number in places
    ]
    chosen = sa.union_all(*(sa.select(part.c.id) for part in parts))
    query = (
        sa.select(WebhookDelivery, Event)
        .join(Event, col(Event.id) == col(WebhookDelivery.event_id))
        .where(col(WebhookDelivery.id).in_(chosen), *outbox.is_due(WebhookDelivery))
        .order_by(col(WebhookDelivery.next_try_at))
        .with_for_update(skip_locked=True, of=WebhookDelivery)
    )
    rows = session.execute(query.execution_options(populate_existing=True))
    return [(row.WebhookDelivery, row.Event) for row in rows]


def _take(row: WebhookDelivery, endpoint: WebhookEndpoint, event: Event, secrets: Sequence[str]) -> DeliveryJob:
    outbox.lease(row)
    body = render_classic(event.body, endpoint.events) if endpoint.format == "classic" else event.body
    headers = _build_headers(row, endpoint, event, body or b"", secrets)
    return DeliveryJob(
        id=row.id,
        endpoint_id=endpoint.id,
        attempt=row.attempts,
        url=endpoint.url,
        body=body,
        headers=headers,
        trace_id=event.trace_id,
    )


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


def record_results(session: ScopedSession, results: Sequence[tuple[DeliveryJob, "SendResult | None"]]) -> None:
    """Record tries; None ends a delivery that its receiver's form has no name for, and of which nothing was sent.

    Those that another worker has by now are passed over. Endpoints are locked before deliveries, each by their ids.
    """
    receivers = _lock_all(session, WebhookEndpoint, {job.endpoint_id for job, _ in results})
    rows = _lock_all(session, WebhookDelivery, {job.id for job, _ in results})
    for job, result in results:
        row: WebhookDelivery = rows[job.id]
        if not outbox.holds(row, job.attempt):
            continue
        if result is None:
            outbox.end(row, "withdrawn", UNKNOWN_TO_CLASSIC)
        else:
            _record(session, receivers[job.endpoint_id], row, job, result)
    session.flush()


def _record(
    session: ScopedSession, endpoint: WebhookEndpoint, row: WebhookDelivery, job: DeliveryJob, result: "SendResult"
) -> None:
    session.insert(_build_try(row, job, result))
    row.status = result.status
    if result.error is None:
        outbox.end(row, "sent")
        row.delivered_at = clock.now()
        get_pace(endpoint.id).note_success()
        _note_success(session, endpoint, result)
    else:
        _fail(row, result.error, result)
        if result.error != outbox.INTERNAL_ERROR:
            _note_failure(session, endpoint, result)
            if result.status in _OVERLOADED:
                get_pace(endpoint.id).note_overload()


def _fail(row: WebhookDelivery, error: str, result: "SendResult") -> None:
    if row.event_type == catalogue.PING:
        # Whoever pings wants to know now, and pings again.
        outbox.end(row, "dead", error)
    else:
        outbox.fail(row, BACKOFF, error, at_least=timedelta(seconds=result.retry_after))


def _lock_all(session: ScopedSession, entity: Any, ids: set[UUID]) -> dict[UUID, Any]:
    query = sa.select(entity).where(col(entity.id).in_(ids)).order_by(col(entity.id)).with_for_update()
    found = session.execute(query.execution_options(populate_existing=True)).scalars()
    return {row.id: row for row in found}


def _build_try(row: WebhookDelivery, job: DeliveryJob, result: "SendResult") -> WebhookTry:
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


def _note_success(session: ScopedSession, endpoint: WebhookEndpoint, result: "SendResult") -> None:
    endpoint.last_success_at, endpoint.failing_since = clock.now(), None
    endpoint.is_slow = result.milliseconds > SLOW_MILLISECONDS
    if endpoint.state in {"unverified", "failing"}:
        before, endpoint.state, endpoint.last_error = endpoint.state, "active", None
        if before == "unverified":
            endpoints.note_state(session, endpoint, "endpoint verified", _ACTOR, before=before)


def _note_failure(session: ScopedSession, endpoint: WebhookEndpoint, result: "SendResult") -> None:
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
