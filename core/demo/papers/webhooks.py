"""Webhook endpoints of the demonstration: one that works, one that was disabled, each with deliveries in every state.

Their addresses are of this machine, so that nothing leaves it when an event of the demonstration is sent.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.events import derivation, feed
from core.services.events.webhooks import endpoints, log
from core.services.events.webhooks.endpoints import EndpointRequest
from core.services.people import staff
from core.store.access import Owner, ScopedSession
from core.store.schema.tables import Event, WebhookEndpoint, WebhookTry

_ADMIN: Final = "admin@coverdesk.example"
_NEWEST, _SHOWN = 2_000, 24
_REFUSED: Final = "Connection refused"


class _Answer(NamedTuple):
    """One try: what was answered, if anything, and how long after the event it was made."""

    status: int | None
    after: timedelta
    milliseconds: int

    @property
    def error(self) -> str | None:
        if self.status == 200:
            return None
        return f"Answered {self.status}" if self.status else _REFUSED


_AT_ONCE: Final = (_Answer(200, timedelta(seconds=1), 84),)
_LATER: Final = (_Answer(503, timedelta(seconds=1), 212), _Answer(200, timedelta(minutes=1), 96))
_NEVER: Final = tuple(
    _Answer(500, timedelta(minutes=minutes), 340) for minutes in (0, 1, 6, 36, 156, 516, 1_236, 2_676)
)
_SILENT: Final = (_Answer(None, timedelta(seconds=1), 3), _Answer(None, timedelta(minutes=1), 2))


def write_endpoints(session: ScopedSession) -> int:
    """Write the endpoints with their deliveries, once; returns the number of deliveries.

    NotFound when the account that registers them is disabled. Needs the system's scope.
    """
    if session.count_rows(WebhookEndpoint):
        return 0
    by = staff.get_by_email(session, _ADMIN).actor
    while derivation.is_behind(session):
        feed.append_batch(session, derivation.collect(session))
    wanted = ["policy.*", "claim.*"]
    sellers = _list_events_by_seller(session, wanted)[:2]
    written = 0
    # The newest stands first in the list: the one that works.
    for (distributor_id, events), path in reversed(list(zip(sellers, ("crm", "old-ledger"), strict=False))):
        url = f"http://127.0.0.1:9471/{path}"
        request = EndpointRequest(url=url, events=wanted, description=f"Receiver on this machine: {path}")
        made = endpoints.register(session, request, Owner(distributor_id=distributor_id, is_live=True), actor=by)
        row = endpoints.get_for_update(session, made.endpoint.id)
        written += _write_working(session, row, events) if path == "crm" else _write_disabled(session, row, events, by)
    return written


def _list_events_by_seller(session: ScopedSession, wanted: Sequence[str]) -> list[tuple[UUID, list[Event]]]:
    """Return the newest live events that fit, newest first, of the distributor with the most of them first."""
    query = sa.select(Event).where(col(Event.is_live)).order_by(col(Event.occurred_at).desc(), col(Event.id).desc())
    found = defaultdict[UUID, list[Event]](list)
    for event in session.execute(query.limit(_NEWEST)).scalars():
        if log.wants(wanted, event.type):
            found[event.distributor_id].append(event)
    return sorted(found.items(), key=lambda each: (-len(each[1]), each[0]))


def _write_working(session: ScopedSession, endpoint: WebhookEndpoint, events: Sequence[Event]) -> int:
    endpoint.state, endpoint.last_success_at = "active", clock.now()
    for place, event in enumerate(events[:_SHOWN]):
        if place == 0:
            _write(session, endpoint, event, "queued", _SILENT, next_try_at=clock.now() + timedelta(hours=6))
        elif place % 9 == 5:
            _write(session, endpoint, event, "dead", _NEVER)
        else:
            _write(session, endpoint, event, "sent", _LATER if place % 4 == 2 else _AT_ONCE)
    return len(events[:_SHOWN])


def _write_disabled(session: ScopedSession, endpoint: WebhookEndpoint, events: Sequence[Event], actor: str) -> int:
    """Write an endpoint that has failed for days: what came before is given up, what came since is held."""
    endpoint.state, endpoint.last_error = "failing", _REFUSED
    endpoint.failing_since = clock.now() - timedelta(days=6)
    endpoint.last_failure_at = clock.now() - timedelta(days=1)
    endpoints.disable(session, endpoint, actor=actor)
    for place, event in enumerate(events[:_SHOWN]):
        held = place < _SHOWN // 2
        _write(session, endpoint, event, "held" if held else "dead", () if held else _SILENT)
    return len(events[:_SHOWN])


def _write(
    session: ScopedSession,
    endpoint: WebhookEndpoint,
    event: Event,
    state: str,
    answers: Sequence[_Answer],
    *,
    next_try_at: datetime | None = None,
) -> None:
    last = answers[-1] if answers else None
    row = log.build_delivery(event, endpoint)
    row.state, row.next_try_at, row.created_at = state, next_try_at, event.occurred_at
    row.attempts, row.failures = len(answers), sum(each.error is not None for each in answers)
    if last is not None:
        row.status, row.last_error = last.status, last.error
        row.delivered_at = event.occurred_at + last.after if state == "sent" else None
    session.insert(row)
    session.insert(
        *(
            WebhookTry(
                distributor_id=endpoint.distributor_id,
                is_live=endpoint.is_live,
                delivery_id=row.id,
                attempt=number,
                started_at=event.occurred_at + each.after,
                milliseconds=each.milliseconds,
                status=each.status,
                error=each.error,
            )
            for number, each in enumerate(answers, 1)
        )
    )
