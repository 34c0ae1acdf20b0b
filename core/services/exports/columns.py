"""Column types of exports: how SQL prints a value, and how a workbook cell holds it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import AutoString

from core.services.exports import formula_escaping
from core.store.expressions import printed_day, printed_id, printed_moment, printed_naira

Cell = str | int | float | bool | date | datetime
# The first day that a workbook can store reliably as a date.
_FIRST_DAY = date(1900, 3, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A column type: how the database prints a value, and how the printed text becomes a workbook cell."""

    printed: Callable[[Any], Any]
    cell: Callable[[str], Cell]
    format: str | None = None
    width: int = 14


@dataclass(frozen=True, slots=True)
class Column:
    """One column, named as in the heading; `width` is in characters, 0 for the type's default."""

    name: str
    shape: Shape
    width: int = 0

    @property
    def wide(self) -> int:
        """Width in a workbook, at least that of the heading."""
        return max(self.width or self.shape.width, len(self.name) + 2)


def _same(value: Any) -> Any:
    return value


def _as_text(value: Any) -> Any:
    return value if isinstance(value.type, sa.String | AutoString) else sa.cast(value, sa.String)


def _text(printed: str) -> str:
    # A cell of text runs nothing: what keeps a line of CSV from being a formula would only be read here.
    return formula_escaping.undefused(printed)


def _day(printed: str) -> Cell:
    try:
        found = date.fromisoformat(printed[:10])
    except ValueError:
        return _text(printed)
    return found if found >= _FIRST_DAY else printed


def _moment(printed: str) -> datetime:
    # Cells know no time zones: the format of the column says which it is.
    return datetime.fromisoformat(printed).astimezone(UTC).replace(tzinfo=None)


TEXT = Shape(printed=_same, cell=_text, width=18)
WORD = Shape(printed=_as_text, cell=_text)
ID = Shape(printed=printed_id, cell=_text, width=38)
MONEY = Shape(printed=printed_naira, cell=float, format="#,##0.00", width=18)
COUNT = Shape(printed=_as_text, cell=int, format="0")
FLAG = Shape(
    printed=lambda sql: sa.case((sql, sa.literal_column("'true'")), else_=sa.literal_column("'false'")),
    cell="true".__eq__,
    width=10,
)
MOMENT = Shape(printed=printed_moment, cell=_moment, format='yyyy-mm-dd hh:mm:ss "UTC"', width=24)
DAY = Shape(printed=printed_day, cell=_day, format="yyyy-mm-dd", width=12)
"""The Lagos day of an instant."""
DATE = Shape(printed=_same, cell=_day, format="yyyy-mm-dd", width=12)
"""A day that is kept as text."""
TEXTS = (TEXT, WORD, ID)
