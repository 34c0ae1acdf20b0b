"""The rows of the claims queue, and its orders, each read from an index (contract C9).

An order is a row of segments, one after the other: claims that run, wait or are decided each stand in an order of
their own, which no single index has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.sql import operators
from sqlmodel import col

from core import clock
from core.services.claims.intake import requirements
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.lists import search as claim_search
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.claims.lists.search import build_search_condition
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.clock import Clock
from core.services.lists.filters.fields import Condition
from core.services.lists.paging import Paging
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import milliseconds_between
from core.store.schema.tables import Claim, Policy, Staff

_created_at, _id = col(Claim.created_at), col(Claim.id)
_claimed, _offered = col(Claim.claim_amount_minor), col(Claim.offer_amount_minor)
_clock_from, _clock_stopped_at = col(Claim.clock_from), col(Claim.clock_stopped_at)
_claimant = (col(Claim.claim_owner_name_key), col(Claim.claim_owner_email), _id)
_remaining = milliseconds_between(_clock_from, _clock_stopped_at)
_is_open = claim_search.build_stage_condition("open")


class Segment(NamedTuple):
    """Claims of one condition, and their order."""

    conditions: tuple[Condition, ...]
    order: tuple[Any, ...]


_RUNNING, _WAITING = (_clock_stopped_at.is_(None),), (_clock_stopped_at.is_not(None), _is_open)
_DECIDED = Segment(
    (_clock_stopped_at.is_not(None), sa.not_(_is_open)), (_clock_stopped_at.desc(), _clock_from.desc(), _id.desc())
)
# The first column is null in all of them: with it the order is the index's.
_BY_CLOCK = (_clock_stopped_at, _clock_from, _id)
# Urgent order: running clocks first, by clock start (the same order as days left); then stopped clocks, least time
# left first; decided claims last, latest decision first.
ORDERINGS: Final[Mapping[str, Sequence[Segment]]] = {
    "urgent": (
        Segment(_RUNNING, _BY_CLOCK),
        Segment(_WAITING, (_remaining.desc(), _clock_stopped_at.desc(), _id)),
        _DECIDED,
    ),
    # The same the other way round within those whose clock runs: what stands still or is decided stays behind.
    "relaxed": (
        Segment(_RUNNING, tuple(column.desc() for column in _BY_CLOCK)),
        Segment(_WAITING, (_remaining, _clock_stopped_at.desc(), _id)),
        _DECIDED,
    ),
    "newest": (Segment((), (_created_at.desc(), _id.desc())),),
    "oldest": (Segment((), (_created_at, _id)),),
    "largest": (Segment((), (_claimed.desc(), _id.desc())),),
    "smallest": (Segment((), (_claimed, _id)),),
    "highest-offer": (Segment((), (_offered.desc(), _id.desc())),),
    "lowest-offer": (Segment((), (_offered, _id)),),
    "claimant": (Segment((), _claimant),),
    "claimant-back": (Segment((), tuple(column.desc() for column in _claimant)),),
}
# How people read each of them.
LABELS: Final[Mapping[str, str]] = {
    "urgent": "Most urgent first",
    "relaxed": "Most days left first",
    "newest": "Newest first",
    "oldest": "Oldest first",
    "largest": "Largest claim first",
    "smallest": "Smallest claim first",
    "highest-offer": "Highest offer first",
    "lowest-offer": "Lowest offer first",
    "claimant": "Claimants from A to Z",
    "claimant-back": "Claimants from Z to A",
}
DESCENDING: Final = ("relaxed", "newest", "largest", "highest-offer", "claimant-back")


def build_sort_keys(order: str) -> tuple[Any, ...]:
    """Return an order as keys of one ORDER BY, for what is read whole; no index has it where there are several."""
    segments = [(sa.and_(sa.true(), *segment.conditions), segment.order) for segment in ORDERINGS[order]]
    if len(segments) == 1:
        return segments[0][1]
    place = sa.case(*((condition, number) for number, (condition, _) in enumerate(segments)))
    return (place, *(_build_key_of_segment(condition, key) for condition, keys in segments for key in keys))


def _build_key_of_segment(is_of_segment: Any, key: Any) -> Any:
    """Return a sort key that is null outside its segment."""
    if getattr(key, "modifier", None) is operators.desc_op:
        return sa.case((is_of_segment, key.element)).desc()
    return sa.case((is_of_segment, key))


def fetch_page(session: ScopedSession, conditions: Sequence[Condition], order: str, paging: Paging) -> list[UUID]:
    """Return the ids of a page of claims, segment by segment: every claim is near the beginning of an index."""
    found: list[UUID] = []
    offset = paging.offset
    for segment, query in _build_queries(conditions, order):
        ids = list(session.execute(query.limit(paging.limit - len(found)).offset(offset)).scalars())
        found += ids
        if len(found) == paging.limit:
            break
        if not ids and offset:
            offset -= _count(session, (*conditions, *segment.conditions))
        else:
            offset = 0
    return found


def fetch_matches(session: ScopedSession, conditions: Sequence[Condition], order: str, paging: Paging) -> list[UUID]:
    """Like `fetch_page`, for conditions that find few claims by themselves, or go through all of them."""
    query = sa.select(_id).where(*conditions).order_by(*build_sort_keys(order))
    return list(session.execute(query.limit(paging.limit).offset(paging.offset)).scalars())


def build_first(conditions: Sequence[Condition], *columns: Any, order: str = "urgent") -> Iterator[AnySelect]:
    """Yield queries of the first claim, to be asked in turn until one answers."""
    for _, query in _build_queries(conditions, order, *columns):
        yield query.limit(1)


def _build_queries(conditions: Sequence[Condition], order: str, *columns: Any) -> Iterator[tuple[Segment, AnySelect]]:
    for segment in ORDERINGS[order]:
        query: AnySelect = sa.select(*(columns or (_id,))).where(*conditions, *segment.conditions)
        yield segment, query.order_by(*segment.order)


def _count(session: ScopedSession, conditions: Sequence[Condition]) -> int:
    return int(session.execute(sa.select(sa.func.count()).select_from(Claim).where(*conditions)).scalar_one())


_INCIDENT: Final = "incident_type"


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueRow:
    """A claim in the queue, with the names of its fraud flags (keys of the flag descriptions in `requirements`)."""

    id: UUID
    version: int
    reference: str
    policy_number: str | None
    claimant: str
    email: str
    phone: str | None
    claim_type: str
    incident: str | None
    incident_on: str | None
    status: str
    claimed_minor: int
    offered_minor: int
    outstanding_minor: int
    lodged_at: datetime
    clock: Clock
    assigned_to: UUID | None
    officer: str | None
    fraud_flags: tuple[str, ...]


def list_rows(
    session: ScopedSession,
    criteria: ClaimFilter,
    *,
    order: str = "urgent",
    paging: Paging = Paging(),
    policy_ids: Sequence[UUID] | None = None,
) -> list[QueueRow]:
    """Return a page of claims in one of the named orders; the default order is by days left of the 60.

    Who has the policies whose number or plate the search finds already gives their ids.
    """
    fetch = fetch_matches if criteria.search else fetch_page
    conditions = build_conditions(criteria if policy_ids is None else replace(criteria, search=None))
    if policy_ids is not None and criteria.search:
        conditions.append(build_search_condition(Claim, criteria.search, policy_ids))
    page = fetch(session, conditions, order, paging)
    now = clock.now()
    rows_by_id = {row.id: _row(row, now) for row in session.execute(_build_row_query().where(col(Claim.id).in_(page)))}
    return [rows_by_id[claim_id] for claim_id in page if claim_id in rows_by_id]


def _build_row_query() -> AnySelect:
    other = orm.aliased(Claim)
    same = (col(other.account_key) == col(Claim.account_key), col(other.id) != col(Claim.id))
    shares_account = sa.exists().where(*same, col(other.deleted_at).is_(None))
    names = (
        *("id", "version", "claim_type", "claim_status", "claim_owner_first_name", "claim_owner_last_name"),
        *("claim_owner_email", "claim_owner_phone_number", "incident_date", "claim_amount_minor"),
        *("offer_amount_minor", "created_at", "clock_from", "clock_stopped_at", "assigned_to", "flags"),
    )
    incident = sa.func.coalesce(*(col(getattr(Claim, name))[_INCIDENT].as_string() for name in META_COLUMNS))
    return (
        sa.select(
            *(col(getattr(Claim, name)) for name in names),
            incident.label("incident"),
            shares_account.label("shares"),
            claim_reserves.build_reserve_column().label("outstanding"),
            col(Policy.policy_number),
            col(Staff.name).label("officer"),
        )
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(Claim.assigned_to))
    )


def _row(row: Any, now: datetime) -> QueueRow:
    flags = {*row.flags, *(["same_account"] if row.shares else [])}
    return QueueRow(
        id=row.id,
        version=row.version,
        reference=requirements.format_reference(row.id),
        policy_number=row.policy_number,
        claimant=f"{row.claim_owner_first_name} {row.claim_owner_last_name}",
        email=row.claim_owner_email,
        phone=row.claim_owner_phone_number,
        claim_type=row.claim_type,
        incident=row.incident,
        incident_on=row.incident_date,
        status=row.claim_status,
        claimed_minor=row.claim_amount_minor,
        offered_minor=row.offer_amount_minor,
        outstanding_minor=row.outstanding,
        lodged_at=row.created_at,
        clock=claim_clock.compute_from_stored(
            lodged_at=row.created_at,
            begins_at=row.clock_from,
            stopped_at=row.clock_stopped_at,
            status=row.claim_status,
            now=now,
        ),
        assigned_to=row.assigned_to,
        officer=row.officer,
        fraud_flags=tuple(name for name in requirements.FLAG_DESCRIPTIONS if name in flags),
    )
