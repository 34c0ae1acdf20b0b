"""Pages of anything: what was asked for, and what was found with the exact total (contract P1, P2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from sqlmodel import col

from core.store.scope import AnySelect, ScopedSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Paging:
    """A 1-based page of `limit` records."""

    page: int = 1
    limit: int = 10

    @property
    def offset(self) -> int:
        """How many records come before this page."""
        return (self.page - 1) * self.limit


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The records of one page and how many there are in all."""

    rows: Sequence[T]
    total_count: int


def newest(session: ScopedSession, entity: Any, found: AnySelect, *, limit: int, offset: int) -> list[UUID]:
    """The ids of a page, newest first: an index holds them, so that the wide rows before the page are left alone."""
    ordered = found.with_only_columns(col(entity.id)).order_by(col(entity.created_at).desc(), col(entity.id).desc())
    return list(session.execute(ordered.limit(limit).offset(offset)).scalars())
