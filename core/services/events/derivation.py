"""Events derived from the audit log: each entry was written in the transaction of its change (contract W1, W2).

Each chain of the log is a series without gaps whose end is locked until its writer commits. Whoever reads a chain from
where it was read before therefore misses no entry, whatever the order in which writers commit. The owner and the data
of the object are read by batches: ids and figures that do not change once written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import groupby
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.events import catalogue
from core.services.events.catalogue import EventType
from core.services.finance.statements import reading as statement_reading
from core.services.lists.records import certificate_url
from core.store.access import ScopedSession
from core.store.schema.tables import (
    AuditEntry,
    AuditHead,
    Claim,
    Customer,
    Distributor,
    EventCursor,
    ExportReceipt,
    LoanBook,
    Policy,
    Product,
    Statement,
    WebhookEndpoint,
)

Owner = tuple[UUID, bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Subject of an audit entry: the distributor that is told, and the data common to all events of its kind."""

    owners: tuple[Owner, ...]
    data: Mapping[str, Any]


def load(session: ScopedSession, kind: str, ids: Iterable[UUID]) -> dict[UUID, Subject]:
    """Load the subjects of one kind; those that nobody outside is told of are left out."""
    made = _KINDS.get(kind)
    if made is None:
        return {}
    # Not the whole rows: what was submitted is wide, and nobody's business outside.
    columns = (col(getattr(made.entity, name)) for name in ("id", *made.names))
    rows = session.execute(sa.select(*columns).where(col(made.entity.id).in_(list(ids)))).all()
    owners: dict[UUID, tuple[Owner, ...]]
    if kind == "product":
        owners = dict.fromkeys((row.id for row in rows), _list_sellers(session))
    elif kind == "export":
        found = {row.id: (parse_only_distributor(row.filters), row.is_live) for row in rows}
        owners = {key: ((only, is_live),) for key, (only, is_live) in found.items() if only}
    else:
        # What an insurer is owed is no business of a distributor; statements have no mode and are live.
        owners = {row.id: ((row.distributor_id, getattr(row, "is_live", True)),) for row in rows if row.distributor_id}
    return {row.id: Subject(owners=owners[row.id], data=made.build_data(row)) for row in rows if row.id in owners}


def parse_only_distributor(filters: Mapping[str, Any]) -> UUID | None:
    """Return the one distributor that an export was narrowed to; None where it holds records of several."""
    chosen = filters.get("distributor", [])
    return UUID(chosen[0]) if len(chosen) == 1 else None


def _list_sellers(session: ScopedSession) -> tuple[Owner, ...]:
    query = sa.select(col(Distributor.id)).where(col(Distributor.active), col(Distributor.deleted_at).is_(None))
    return tuple((each, live) for each in session.execute(query).scalars() for live in (False, True))


def _policy(row: Any) -> dict[str, Any]:
    return {
        "policy_id": str(row.id),
        **{name: str(getattr(row, name)) for name in ("purchase_id", *_SOLD)},
        "policy_number": row.policy_number,
        "start_date": clock.to_wire(row.start_at),
        "expiration_date": clock.to_wire(row.expiration_at),
        "certificate_url": certificate_url(row.certificate_code),
        "total": money.to_wire(row.genius_price_minor),
        "submitted_to_provider": row.submitted_to_provider,
    }


def _claim(row: Any) -> dict[str, Any]:
    return {
        "claim_id": str(row.id),
        **{name: str(getattr(row, name)) for name in ("policy_id", *_SOLD)},
        "claim_status": row.claim_status,
        "version": row.version,
    }


def _statement(row: Any) -> dict[str, Any]:
    return {
        "statement_id": str(row.id),
        "number": statement_reading.number_of(row),
        "month": f"{row.month:%Y-%m}",
        "closing_balance": money.to_wire(row.closing_minor),
    }


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of subject: its table, what is read of it besides the id, and the data made of that."""

    entity: Any
    names: tuple[str, ...]
    build_data: Callable[[Any], dict[str, Any]]


_OWNER, _SOLD = ("distributor_id", "is_live"), ("customer_id", "product_id", "provider_id")
_TERM: Final = ("policy_number", "start_at", "expiration_at", "certificate_code")
_KINDS: Final[Mapping[str, _Kind]] = {
    "policy": _Kind(
        Policy, (*_OWNER, *_SOLD, *_TERM, "purchase_id", "genius_price_minor", "submitted_to_provider"), _policy
    ),
    "customer": _Kind(Customer, _OWNER, lambda row: {"customer_id": str(row.id)}),
    "claim": _Kind(Claim, (*_OWNER, *_SOLD, "policy_id", "claim_status", "version"), _claim),
    "export": _Kind(
        ExportReceipt,
        ("kind", "format", "filters", "is_live"),
        lambda row: {"export_id": str(row.id), "kind": row.kind, "format": row.format},
    ),
    "product": _Kind(
        Product, ("provider_id",), lambda row: {"product_id": str(row.id), "provider_id": str(row.provider_id)}
    ),
    "statement": _Kind(Statement, ("distributor_id", "account", "number", "month", "closing_minor"), _statement),
    "loan_book": _Kind(LoanBook, _OWNER, lambda row: {"loan_book_id": str(row.id)}),
    "endpoint": _Kind(WebhookEndpoint, _OWNER, lambda row: {"endpoint_id": str(row.id)}),
}


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
    by_kind: dict[str, list[UUID]] = {}
    for subject in {entry.subject for entry in entries if entry.action in catalogue.by_action()}:
        kind, _, record_id = subject.partition(" ")
        by_kind.setdefault(kind, []).append(UUID(record_id))
    return {
        f"{kind} {record_id}": found
        for kind, ids in by_kind.items()
        for record_id, found in load(session, kind, ids).items()
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
