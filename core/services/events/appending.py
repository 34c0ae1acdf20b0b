"""Adds events to the feed: places without gaps, given under a lock, in the transaction that stores them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.services.events.derivation import Batch, EventDraft, read_cursors
from core.settings import settings
from core.store.access import ScopedSession
from core.store.schema.tables import Event, EventCursor, EventFeed

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
    known = set(
        session.execute(
            sa.select(col(Event.origin)).where(col(Event.origin).in_([each.origin for each in drafts]))
        ).scalars()
    )
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
