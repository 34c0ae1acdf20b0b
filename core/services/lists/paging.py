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
    searched: bool = False,
) -> Page[T]:
    """Return a page of a query's records, newest first, with the exact total (contract P2).

    The ids come first, from an index, so that the wide rows before the page are left alone; `load` makes the records of
    some ids in any order. Who knows the total already, and how many rows of `query` to skip, says so. The session has
    to be one of `reading`: in another, rows and total are of several moments on PostgreSQL. A text was `searched` if
    every row is looked at for it.
    """
    newest = (col(entity.created_at).desc(), col(entity.id).desc())
    if searched:
        ids, total = find_page(session, query.with_only_columns(col(entity.id)).order_by(*newest), paging)
        return Page(_load_in_order(ids, load), total)
    if total is not None and total <= paging.offset:
        return Page([], total)
    skipped = sa.literal(paging.offset if offset is None else offset, sa.BigInteger)
    counted = query.with_only_columns(sa.func.count()).correlate(None)
    # Counted in the same statement: each is a round trip.
    wanted = (col(entity.id),) if total is not None else (col(entity.id), counted.scalar_subquery())
    rows = session.execute(query.with_only_columns(*wanted).order_by(*newest).limit(paging.limit).offset(skipped)).all()
    if total is None:
        total = int(rows[0][1] if rows else session.execute(counted).scalar_one())
    return Page(_load_in_order([row[0] for row in rows], load), total)


def _load_in_order(ids: list[UUID], load: Callable[[list[UUID]], Iterable[T]]) -> list[T]:
    records: dict[str, T] = {each["id"]: each for each in load(ids)}  # type: ignore[index]
    return [records[str(key)] for key in ids]


def find_page(
    session: ScopedSession, query: AnySelect, paging: Paging, *, searched: bool = True
) -> tuple[list[UUID], int]:
    """Return the ids of a page of an ordered query of ids, and the total.

    A search looks at every row, so its rows are counted while they are found; otherwise an index counts faster.
    """
    page = (query.add_columns(sa.func.count().over()) if searched else query).limit(paging.limit).offset(paging.offset)
    rows = session.execute(page).all()
    if searched and (rows or not paging.offset):
        return [row[0] for row in rows], int(rows[0][1]) if rows else 0
    counted = query.with_only_columns(sa.func.count()).order_by(None)
    return [row[0] for row in rows], int(session.execute(counted).scalar_one())
