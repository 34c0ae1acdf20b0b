"""The feed of events: added in places without gaps, told when a date makes one, read after a cursor (contract W2, W6).

An event is added under a lock, in the transaction that stores what it tells. Each sweep tells what came due since the
one before, in one transaction with the time up to which it has told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput
from core.services.events import catalogue, derivation
from core.services.events.derivation import Batch, EventDraft, read_cursors
from core.settings import settings
from core.states.claims import DECIDED
from core.states.policies import OPEN
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, Event, EventCursor, EventFeed, Policy, Submission

MAX_BODY_BYTES = 20_000
VERSION = "1"
_OBJECT_PATHS: Mapping[str, str] = {
    "purchase": "purchase/",
    "policy": "policies/",
    "customer": "customers/",
    "claim": "claims/",
    "product": "products/",
    "endpoint": "webhooks/",
    "statement": "statements/",
    "loan_book": "loan-books/",
    # The file is handed over by people; what the API knows of it are its events.
    "export": "events?object_id=",
}


class EventTooLarge(RuntimeError):
    """An event is larger than receivers were promised: a defect of its declaration."""


def append_batch(session: ScopedSession, batch: Batch) -> list[Event]:
    """Add a batch of the log and move the cursors; nothing when somebody else was first."""
    position = _lock_feed(session)
    if read_cursors(session) != dict(batch.before):
        return []
    events = _append(session, batch.drafts, position)
    for chain, at in batch.after.items():
        if batch.before[chain] != at:
            session.update_columns(EventCursor(chain=chain, position=at), "position")
    return events


def append(session: ScopedSession, drafts: Sequence[EventDraft]) -> list[Event]:
    """Add events that no audit entry makes; those whose origin was told before are left out."""
    position = _lock_feed(session)
    query = sa.select(col(Event.origin)).where(col(Event.origin).in_([each.origin for each in drafts]))
    known = set(session.execute(query).scalars())
    return _append(session, [each for each in drafts if each.origin not in known], position)


def _append(session: ScopedSession, drafts: Sequence[EventDraft], position: int) -> list[Event]:
    sequences = _get_sequences(session, {draft.object_id for draft in drafts})
    events = []
    for place, draft in enumerate(drafts, position + 1):
        key = (draft.object_id, draft.type.object)
        sequences[key] = sequences.get(key, 0) + 1
        events.append(_build_event(draft, place, sequences[key]))
    if events:
        session.insert(*events)
        session.update_columns(EventFeed(id=1, position=position + len(events)), "position")
    return events


def _lock_feed(session: ScopedSession) -> int:
    """Lock the feed until this transaction ends, so that a place is never visible before the one ahead of it."""
    query = sa.select(col(EventFeed.position)).where(col(EventFeed.id) == 1).with_for_update()
    return int(session.execute(query).scalar_one())


def _get_sequences(session: ScopedSession, object_ids: set[UUID]) -> dict[tuple[UUID, str], int]:
    query = (
        sa.select(col(Event.object_id), col(Event.object_type), sa.func.max(col(Event.sequence)))
        .where(col(Event.object_id).in_(object_ids))
        .group_by(col(Event.object_id), col(Event.object_type))
    )
    return {(row[0], row[1]): row[2] for row in session.execute(query)} if object_ids else {}


def _build_event(draft: EventDraft, position: int, sequence: int) -> Event:
    event_id, (distributor_id, is_live) = ids.new(), draft.owner
    body = render(draft, event_id, sequence)
    if len(body) > MAX_BODY_BYTES:
        raise EventTooLarge(draft.type.name)
    return Event(
        id=event_id,
        position=position,
        distributor_id=distributor_id,
        is_live=is_live,
        type=draft.type.name,
        object_type=draft.type.object,
        object_id=draft.object_id,
        sequence=sequence,
        origin=draft.origin,
        body=body,
        occurred_at=draft.at,
        created_at=clock.now(),
        trace_id=draft.trace_id,
    )


def object_path(kind: str, object_id: UUID | str) -> str:
    """Return the path of the API at which the object of an event is read."""
    return f"/v1/{_OBJECT_PATHS[kind]}{object_id}"


def render(draft: EventDraft, event_id: UUID, sequence: int) -> bytes:
    """Return the body of an event: these bytes are stored, signed and sent."""
    body: dict[str, Any] = {
        "id": str(event_id),
        "type": draft.type.name,
        "timestamp": clock.to_wire(draft.at),
        "mode": "live" if draft.owner[1] else "test",
        "version": VERSION,
        "sequence": sequence,
        "object": {
            "type": draft.type.object,
            "id": str(draft.object_id),
            "url": f"{settings().base_url}{object_path(draft.type.object, draft.object_id)}",
        },
        "data": draft.data,
        "previous": draft.previous,
    }
    return orjson.dumps(body)


EXPIRING_DAYS: Final = (90, 60, 30, 7, 0)
DUE_DAYS: Final = {45: "claim.due_soon", 55: "claim.due_soon", 60: "claim.overdue"}
DELAYED_HOURS: Final = 24
# A store that was not served for longer tells what came due in the last of these days.
_LONGEST: Final = timedelta(days=7)
INTERVAL: Final = timedelta(seconds=30)


def sweep(session: ScopedSession) -> list[Event]:
    """Tell everything that came due since the last sweep. Needs the system's scope."""
    query = sa.select(EventFeed).where(col(EventFeed.id) == 1).with_for_update()
    feed: EventFeed = session.execute(query.execution_options(populate_existing=True)).scalar_one()
    now = clock.now()
    since = max(feed.swept_at or now, now - _LONGEST)
    events = append(session, list(_list_due(session, since, now))) if since < now else []
    session.update_columns(EventFeed(id=1, position=0, swept_at=now), "swept_at")
    return events


def is_due(session: ScopedSession) -> bool:
    """Return True when the last sweep is some time ago."""
    swept = session.execute(sa.select(col(EventFeed.swept_at)).where(col(EventFeed.id) == 1)).scalar_one()
    return swept is None or clock.now() - swept >= INTERVAL


def _list_due(session: ScopedSession, since: datetime, now: datetime) -> Iterator[EventDraft]:
    for days in EXPIRING_DAYS:
        # Cover ends at midnight: on its last day, 0 days before, the day is told as it begins.
        ahead = timedelta(days=days) if days else timedelta(hours=24)
        yield from _ending(session, "policy.expiring", since + ahead, now + ahead, now, {"days": days})
    yield from _ending(session, "policy.expired", since, now, now, {})
    hours = timedelta(hours=DELAYED_HOURS)
    yield from _delayed(session, since - hours, now - hours, now)
    for days, name in DUE_DAYS.items():
        yield from _claims(session, name, since - timedelta(days=days), now - timedelta(days=days), now, days)


def _ending(
    session: ScopedSession, name: str, since: datetime, until: datetime, now: datetime, extra_facts: dict[str, Any]
) -> Iterator[EventDraft]:
    query = sa.select(col(Policy.id), col(Policy.expiration_at)).where(
        col(Policy.expiration_at) > since,
        col(Policy.expiration_at) <= until,
        col(Policy.activated),
        *(col(each).is_(None) for each in (Policy.cancelled_at, Policy.declined_at, Policy.deleted_at)),
    )
    rows = {row.id: f"{row.expiration_at:%Y-%m-%d} {extra_facts.get('days', '')}" for row in session.execute(query)}
    yield from _drafts(session, name, "policy", rows, now, extra_facts)


def _delayed(session: ScopedSession, since: datetime, until: datetime, now: datetime) -> Iterator[EventDraft]:
    query = sa.select(col(Submission.policy_id)).where(
        col(Submission.state).in_(OPEN), col(Submission.created_at) > since, col(Submission.created_at) <= until
    )
    rows = dict.fromkeys(session.execute(query).scalars(), "")
    yield from _drafts(session, "policy.submission_delayed", "policy", rows, now, {"hours": DELAYED_HOURS})


def _claims(
    session: ScopedSession, name: str, since: datetime, until: datetime, now: datetime, days: int
) -> Iterator[EventDraft]:
    query = sa.select(col(Claim.id), col(Claim.clock_from)).where(
        col(Claim.clock_stopped_at).is_(None),
        col(Claim.claim_status).not_in(sorted(DECIDED)),
        col(Claim.deleted_at).is_(None),
        col(Claim.clock_from) > since,
        col(Claim.clock_from) <= until,
    )
    rows = {row.id: str(days) for row in session.execute(query)}
    yield from _drafts(session, name, "claim", rows, now, {"days": days})


def _drafts(
    session: ScopedSession, name: str, kind: str, occasions: dict[Any, str], now: datetime, extra_facts: dict[str, Any]
) -> Iterator[EventDraft]:
    made = catalogue.BY_NAME[name]
    for record_id, subject in (derivation.load(session, kind, occasions) if occasions else {}).items():
        known = {key: value for key, value in {**subject.data, **extra_facts}.items() if value is not None}
        yield EventDraft(
            type=made,
            owner=subject.owners[0],
            object_id=record_id,
            data={key: known[key] for key in made.data.model_fields if key in known},
            previous={},
            at=now,
            origin=f"{record_id.hex} {name} {occasions[record_id]}".strip(),
        )


MAX_PATTERNS = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedFilter:
    """Criteria of a reader: patterns of types ("claim.*"), and one object."""

    types: tuple[str, ...] = ()
    object_id: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPage:
    """Events as they are sent, and the cursor to go on from; None while there is none yet."""

    bodies: Sequence[bytes]
    cursor: str | None
    has_more: bool


def parse_types(text: str) -> tuple[str, ...]:
    """Parse patterns of types with commas between them; InvalidInput for one that no type fits."""
    patterns = tuple(each.strip() for each in text.split(",") if each.strip())
    are_known = all(catalogue.is_pattern(each) for each in patterns)
    # Commas alone would ask for nothing, and be answered with everything.
    if len(patterns) > MAX_PATTERNS or not are_known or (text.strip() and not patterns):
        raise InvalidInput.for_field("types", "must be types of /v1/event-types, or patterns such as claim.*")
    return patterns


def read_page(session: ScopedSession, criteria: FeedFilter, *, after: UUID | None, limit: int) -> FeedPage:
    """Return the events after a cursor, which is the id of an event, newest last.

    InvalidInput for a cursor that is not an event of this scope, such as one that was removed by age.
    """
    query = _build_query(criteria).where(col(Event.position) > _get_position(session, after))
    rows = session.execute(query.order_by(col(Event.position)).limit(limit + 1)).all()
    shown = rows[:limit]
    cursor = str(shown[-1].id) if shown else (str(after) if after else None)
    return FeedPage(bodies=[row.body for row in shown], cursor=cursor, has_more=len(rows) > limit)


def _build_query(criteria: FeedFilter) -> AnySelect:
    # A ping tries one endpoint, and is news to nobody.
    query: AnySelect = sa.select(col(Event.id), col(Event.body)).where(col(Event.type) != catalogue.PING)
    if criteria.object_id is not None:
        query = query.where(col(Event.object_id) == criteria.object_id)
    if criteria.types:
        names = [name for name in catalogue.BY_NAME if any(catalogue.fits(each, name) for each in criteria.types)]
        query = query.where(col(Event.type).in_(names))
    return query


def _get_position(session: ScopedSession, after: UUID | None) -> int:
    if after is None:
        return 0
    query = sa.select(col(Event.position)).where(col(Event.id) == after)
    position: int | None = session.execute(query).scalar_one_or_none()
    if position is None:
        raise InvalidInput.for_field("after", "must be the cursor of an earlier answer; without it you begin anew")
    return position
