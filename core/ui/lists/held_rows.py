"""Lists whose rows are all in memory: every header sorts all of them, and one page is cut out afterwards.

DUE = held_rows.sortable(Table(...), usual="By account and party")

held_rows.draw(DUE, rows)
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from core.ui.lists import tables
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table

Row = TypeVar("Row")
_USUAL: Final = "usual"
_BACK: Final = "-back"


def sortable(table: Table[Row], *, usual: str) -> Table[Row]:
    """Return the table with two orders for each column; `usual` names the order in which its rows come."""
    orders, columns = {_USUAL: usual}, {}
    for name, column in table.columns.items():
        up, down = (name, f"{column.label}, ascending"), (name + _BACK, f"{column.label}, descending")
        # Of figures and days the first click shows the largest or the latest.
        orders |= dict((down, up) if column.is_right else (up, down))
        columns[name] = replace(column, sorts=(name, name + _BACK))
    return replace(table, orders=orders, columns=columns)


def draw(table: Table[Row], rows: Sequence[Row]) -> None:
    """Draw the page of the rows that the address names; where there is no such page, say so."""
    number = tables.page_of(table, len(rows))
    if number is not None:
        tables.draw(table, page_of(table, rows, number), number=number, total=len(rows))


def page_of(table: Table[Row], rows: Sequence[Row], number: int) -> list[Row]:
    """Return one page of the rows in the order of the address."""
    paging = table.paging(number)
    return sort(table, rows, table.order)[paging.offset : paging.offset + paging.limit]


def sort(table: Table[Row], rows: Sequence[Row], order: str) -> list[Row]:
    """Return all rows in an order of the table; rows without a value come last in both directions."""
    if order == _USUAL:
        return list(rows)
    column = table.columns[order.removesuffix(_BACK)]
    keyed = [(_key(column, row), row) for row in rows]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=order.endswith(_BACK))
    return [row for _, row in known] + [row for key, row in keyed if key is None]


def _key(column: Column[Any], row: Any) -> Any:  # noqa: ANN401 a row and a value of any table
    found = column.sort_key(row) if column.sort_key else column.of(row)
    return found.casefold() if isinstance(found, str) else found
