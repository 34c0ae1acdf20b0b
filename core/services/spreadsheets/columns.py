"""Column types of exports: how SQL prints a value, and how a workbook cell holds it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import AutoString

from core.services.spreadsheets import formula_escaping
from core.store.expressions import print_day, print_id, print_instant, print_naira, print_signed_naira

Cell = str | int | float | bool | date | datetime
# The first day that a workbook can store reliably as a date.
_FIRST_WORKBOOK_DAY = date(1900, 3, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnType:
    """A column type: how the database prints a value, and how the printed text becomes a workbook cell."""

    print_sql: Callable[[Any], Any]
    parse_cell: Callable[[str], Cell]
    format: str | None = None
    width: int = 14


@dataclass(frozen=True, slots=True)
class Column:
    """One column, named as in the heading; `width` is in characters, 0 for the type's default."""

    name: str
    column_type: ColumnType
    width: int = 0

    @property
    def display_width(self) -> int:
        """Width in a workbook, at least that of the heading."""
        return max(self.width or self.column_type.width, len(self.name) + 2)


def _unchanged(value: Any) -> Any:
    return value


def _cast_to_text(value: Any) -> Any:
    return value if isinstance(value.type, sa.String | AutoString) else sa.cast(value, sa.String)


def _keep_text(printed: str) -> str:
    # A cell of text runs nothing: what keeps a line of CSV from being a formula would only be read here.
    return formula_escaping.undefused(printed)


def _parse_day(printed: str) -> Cell:
    try:
        found = date.fromisoformat(printed[:10])
    except ValueError:
        return _keep_text(printed)
    return found if found >= _FIRST_WORKBOOK_DAY else printed


def _parse_instant(printed: str) -> datetime:
    # Cells know no time zones: the format of the column says which it is.
    return datetime.fromisoformat(printed).astimezone(UTC).replace(tzinfo=None)


TEXT = ColumnType(print_sql=_unchanged, parse_cell=_keep_text, width=18)
WORD = ColumnType(print_sql=_cast_to_text, parse_cell=_keep_text)
ID = ColumnType(print_sql=print_id, parse_cell=_keep_text, width=38)
MONEY = ColumnType(print_sql=print_naira, parse_cell=float, format="#,##0.00", width=18)
SIGNED_MONEY = ColumnType(print_sql=print_signed_naira, parse_cell=float, format="#,##0.00", width=18)
COUNT = ColumnType(print_sql=_cast_to_text, parse_cell=int, format="0")
FLAG = ColumnType(
    print_sql=lambda sql: sa.case((sql, sa.literal_column("'true'")), else_=sa.literal_column("'false'")),
    parse_cell="true".__eq__,
    width=10,
)
INSTANT = ColumnType(print_sql=print_instant, parse_cell=_parse_instant, format='yyyy-mm-dd hh:mm:ss "UTC"', width=24)
DAY = ColumnType(print_sql=print_day, parse_cell=_parse_day, format="yyyy-mm-dd", width=12)
"""The Lagos day of an instant."""
DATE = ColumnType(print_sql=_unchanged, parse_cell=_parse_day, format="yyyy-mm-dd", width=12)
"""A day that is kept as text."""
TEXTS = (TEXT, WORD, ID)
