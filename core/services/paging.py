"""Paging: the page requested, and the page found with the exact total (contract P1, P2)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import AnySelect, ScopedSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Paging:
    """A 1-based page of `limit` records."""

    page: int = 1
    limit: int = 10

    @property
    def offset(self) -> int:
        """Number of records before this page."""
        return (self.page - 1) * self.limit


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The records of one page and the total number of records."""

    items: Sequence[T]
    total_count: int


def fetch_newest(
    session: ScopedSession,
    entity: Any,
    query: AnySelect,
    paging: Paging,
    load: Callable[[list[UUID]], Iterable[T]],
    *,
    total: int | None = None,
    offset: int | None = None,
) -> Page[T]:
    """Return a page of a query's records, newest first, with the exact total (contract P2).

    The ids come first, from an index, so that the wide rows before the page are left alone; `read` makes the records of
    some ids in any order. Who knows the total already, and how many rows of `found` to skip, says so. The session has
    to be one of `reading`: in another, rows and total are of several moments on PostgreSQL.
    """
    if total is not None and total <= paging.offset:
        return Page([], total)
    skipped = sa.literal(paging.offset if offset is None else offset, sa.BigInteger)
    counted = query.with_only_columns(sa.func.count()).correlate(None)
    # Counted in the same statement: each is a round trip.
    wanted = (col(entity.id),) if total is not None else (col(entity.id), counted.scalar_subquery())
    ordered = query.with_only_columns(*wanted).order_by(col(entity.created_at).desc(), col(entity.id).desc())
    rows = session.execute(ordered.limit(paging.limit).offset(skipped)).all()
    if total is None:
        total = int(rows[0][1] if rows else session.execute(counted).scalar_one())
    records: dict[str, T] = {each["id"]: each for each in load([row[0] for row in rows])}  # type: ignore[index]
    return Page([records[str(row[0])] for row in rows], total)
