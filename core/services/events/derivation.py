"""Events derived from the audit log: each entry was written in the transaction of its change (contract W1, W2).

Each chain of the log is a series without gaps whose end is locked until its writer commits. Whoever reads a chain from
where it was read before therefore misses no entry, whatever the order in which writers commit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import groupby
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.events import catalogue, facts
from core.services.events.catalogue import EventType
from core.services.events.facts import Owner, Subject
from core.store.access import ScopedSession
from core.store.schema.tables import AuditEntry, AuditHead, EventCursor

BATCH = 250


@dataclass(frozen=True, kw_only=True, slots=True)
class EventDraft:
    """An event without its place in the feed; `origin` names what made it, and makes it once."""

    type: EventType
    owner: Owner
    object_id: UUID
    data: Mapping[str, Any]
    previous: Mapping[str, Any]
    at: datetime
    origin: str
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Drafts in the order of the log, and how far each chain was read: before and after."""

    drafts: Sequence[EventDraft]
    before: Mapping[int, int]
    after: Mapping[int, int]


def is_behind(session: ScopedSession) -> bool:
    """Return True when the audit log has entries that were not made into events yet."""
    query = (
        sa.select(sa.literal(1))
        .select_from(AuditHead)
        .join(EventCursor, col(EventCursor.chain) == col(AuditHead.chain))
        .where(col(AuditHead.position) > col(EventCursor.position))
    )
    return session.execute(query.limit(1)).first() is not None


def read_cursors(session: ScopedSession) -> dict[int, int]:
    """Return the position up to which each chain was read."""
    rows = session.execute(sa.select(col(EventCursor.chain), col(EventCursor.position)))
    return {row.chain: row.position for row in rows}


def collect(session: ScopedSession, limit: int = BATCH) -> Batch:
    """Read the next entries of every chain and derive their events; nothing is written. Needs the system's scope."""
    before = read_cursors(session)
    entries = _list_entries(session, limit)
    after = {**before, **{entry.chain: entry.position for entry in entries}}
    subjects = _load_subjects(session, entries)
    chains = [list(found) for _, found in groupby(entries, key=lambda entry: entry.chain)]
    # Each chain keeps its order even where the clocks of two servers differ.
    ordered = merge(*chains, key=lambda entry: entry.created_at)
    drafts = [draft for entry in ordered for draft in derive(entry, subjects.get(entry.subject))]
    return Batch(drafts, before, after)


def _list_entries(session: ScopedSession, limit: int) -> Sequence[Any]:
    columns = (AuditEntry.id, AuditEntry.chain, AuditEntry.position, AuditEntry.action, AuditEntry.subject)
    more = (AuditEntry.before, AuditEntry.after, AuditEntry.created_at, AuditEntry.trace_id)
    query = (
        sa.select(*(col(each) for each in (*columns, *more)))
        .join(EventCursor, col(EventCursor.chain) == col(AuditEntry.chain))
        .where(col(AuditEntry.position) > col(EventCursor.position))
        .order_by(col(AuditEntry.chain), col(AuditEntry.position))
    )
    return session.execute(query.limit(limit)).all()


def _load_subjects(session: ScopedSession, entries: Sequence[Any]) -> dict[str, Subject]:
    telling = {entry.subject for entry in entries if entry.action in catalogue.by_action()}
    by_kind: dict[str, list[UUID]] = {}
    for subject in telling:
        kind, _, record_id = subject.partition(" ")
        by_kind.setdefault(kind, []).append(UUID(record_id))
    return {
        f"{kind} {record_id}": found
        for kind, ids in by_kind.items()
        for record_id, found in facts.load(session, kind, ids).items()
    }


def derive(entry: Any, subject: Subject | None) -> Iterator[EventDraft]:
    """Derive the events of one audit entry; none when nobody is told of its subject."""
    if subject is None:
        return
    before, after = entry.before or {}, entry.after or {}
    for made in catalogue.by_action().get(entry.action, ()):
        if not made.applies(before, after):
            continue
        data = _build_data(made, subject.data, after)
        for owner in _list_owners(subject, after):
            yield EventDraft(
                type=made,
                owner=owner,
                object_id=UUID(data[f"{made.object}_id"]),
                data=data,
                previous={name: before[name] for name in before if name in data and before[name] != data[name]},
                at=entry.created_at,
                trace_id=entry.trace_id,
                origin=f"{entry.id.hex} {made.name}"
                + (f" {owner[0].hex} {owner[1]:d}" if made.object == "product" else ""),
            )


def _list_owners(subject: Subject, after: Mapping[str, Any]) -> Sequence[Owner]:
    """Return who is told: all who may sell a product, or the one distributor that it is about."""
    only = after.get("distributor_id")
    return [owner for owner in subject.owners if only is None or str(owner[0]) == only]


def _build_data(made: EventType, known: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the type's data; what the entry says of the change comes before what the record holds."""
    given = {name: value for name, value in after.items() if value is not None}
    facts_ = {**known, **given}
    return {name: facts_[name] for name in made.data.model_fields if facts_.get(name) is not None}
