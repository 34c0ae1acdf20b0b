"""Lists whose rows are all in memory: each column sorts them by its value, not by its text."""

from datetime import date
from typing import NamedTuple

from core.ui.lists import columns, tables
from core.ui.lists.tables import Table


class Row(NamedTuple):
    name: str
    month: date
    minor: int | None


ROWS = [
    Row("okoro", date(2026, 9, 1), 9_00),
    Row("Adamu", date(2025, 10, 1), None),
    Row("Zakari", date(2026, 4, 1), -1_000_00),
    Row("Bello", date(2026, 9, 1), 1_200_00),
]
TABLE: Table[Row] = Table(
    name="rows",
    noun=("row", "rows"),
    columns={
        "name": columns.text("Name", lambda row: row.name),
        "month": columns.text("Month", lambda row: f"{row.month:%b %Y}", sort_key=lambda row: row.month),
        "due": columns.naira("Due", lambda row: row.minor),
    },
    unsorted="As they come",
)


def names(order: str) -> list[str]:
    return [row.name for row in tables.sort_rows(TABLE, ROWS, order)]


def test_each_column_sorts_by_its_value_both_ways_and_rows_without_one_stay_last() -> None:
    assert names("usual") == ["okoro", "Adamu", "Zakari", "Bello"]
    assert names("name") == ["Adamu", "Bello", "okoro", "Zakari"]
    assert names("name-back") == ["Zakari", "okoro", "Bello", "Adamu"]
    assert names("month") == ["Adamu", "Zakari", "okoro", "Bello"], "a month is no text"
    assert names("due") == ["Zakari", "okoro", "Bello", "Adamu"]
    assert names("due-back") == ["Bello", "okoro", "Zakari", "Adamu"]


def test_the_orders_are_named_and_figures_begin_with_the_largest() -> None:
    assert list(TABLE.orders) == ["usual", "name", "name-back", "month", "month-back", "due-back", "due"]
    assert TABLE.orders["due-back"] == "Due, descending"
    assert TABLE.columns["due"].sorts == ("due", "due-back")
