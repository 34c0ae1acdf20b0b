"""The feed: a distributor's events in the order of their places, followed by a cursor (contract W6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import InvalidInput
from core.services.events import catalogue
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Event

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
    if len(patterns) > MAX_PATTERNS or not all(catalogue.is_pattern(each) for each in patterns):
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
