"""Column types of exports: how SQL prints a value, and how a workbook cell holds it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlmodel import AutoString

from core.services.lists.spreadsheets import formula_escaping
from core.store.expressions import print_day, print_id, print_instant, print_moment, print_naira, print_signed_naira

Cell = str | int | float | bool | date | datetime
# The first day that a workbook can store reliably as a date.
_FIRST_WORKBOOK_DAY = date(1900, 3, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnType:
    """A column type: how the database prints a value, and how the printed text becomes a workbook cell.

    `group` says how a line of CSV is made of it: "printed" by the database as it stands there, "text" that somebody
    wrote and that may have to be escaped, "word" of few different texts, "masked". `unit` stands in a heading for
    people, `shown` is the type that their files have instead.
    """

    name: str
    print_sql: Callable[[Any], Any]
    parse_cell: Callable[[str], Cell]
    group: Literal["printed", "text", "word", "masked"] = "printed"
    format: str | None = None
    width: int = 14
    unit: str = ""
    shown: "ColumnType | None" = None

    @property
    def is_figure(self) -> bool:
        """True for numbers, days and times, which stand at the right and begin with the largest or latest."""
        return self.name in {"money", "count", "instant", "day", "date"}


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


def _print_flag(yes: str, no: str) -> Callable[[Any], Any]:
    return lambda sql: sa.case((sql, sa.literal_column(f"'{yes}'")), else_=sa.literal_column(f"'{no}'"))


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


TEXT = ColumnType(name="text", print_sql=_unchanged, parse_cell=_keep_text, group="text", width=18)
PHONE = replace(TEXT, name="phone")
"""A phone number, which screens write as it is dialled."""
MASKED = replace(TEXT, name="masked", group="masked")
"""A personal number, of which the last four characters are shown."""
WORD = ColumnType(name="word", print_sql=_cast_to_text, parse_cell=_keep_text, group="word")
STATE = replace(WORD, name="state", group="printed")
"""A word of ours, which has its colour on the screen."""
ID = ColumnType(name="id", print_sql=print_id, parse_cell=_keep_text, width=38)
MONEY = ColumnType(name="money", print_sql=print_naira, parse_cell=float, format="#,##0.00", width=18, unit="NGN")
SIGNED_MONEY = replace(MONEY, print_sql=print_signed_naira)
COUNT = ColumnType(name="count", print_sql=_cast_to_text, parse_cell=int, format="0")
_YES_OR_NO = ColumnType(name="flag", print_sql=_print_flag("Yes", "No"), parse_cell=_keep_text, width=10)
FLAG = ColumnType(
    name="flag", print_sql=_print_flag("true", "false"), parse_cell="true".__eq__, width=10, shown=_YES_OR_NO
)
_LAGOS_MOMENT = ColumnType(
    name="instant",
    print_sql=print_moment,
    parse_cell=datetime.fromisoformat,
    format="yyyy-mm-dd hh:mm",
    width=18,
    unit="Lagos time",
)
INSTANT = ColumnType(
    name="instant",
    print_sql=print_instant,
    parse_cell=_parse_instant,
    format='yyyy-mm-dd hh:mm:ss "UTC"',
    width=24,
    shown=_LAGOS_MOMENT,
)
DAY = ColumnType(name="day", print_sql=print_day, parse_cell=_parse_day, format="yyyy-mm-dd", width=12)
"""The Lagos day of an instant."""
DATE = replace(DAY, name="date", print_sql=_unchanged, group="text")
"""A day that is kept as text."""
TEXTS = (TEXT, PHONE, MASKED, WORD, STATE, ID)
