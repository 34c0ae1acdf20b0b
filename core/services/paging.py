"""Pages of anything: what was asked for, and what was found with the exact total (contract P1, P2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

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
