"""The columns of tables: the text of a cell, its side and greatest width, and the orders that are the column's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from core.ui.kit import words

Row = TypeVar("Row")
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column: its heading and the text of a cell; `usual` ones show unless left out.

    `width` is the most that a cell takes, in pixels. `sorts` names the orders of the table that are this column's, the
    ascending one first. The text of `is_state` columns has the colour of its state.
    """

    label: str
    of: Callable[[Row], str | None]
    width: int | None = None
    usual: bool = True
    is_right: bool = False
    is_state: bool = False
    says: str | None = None
    sorts: tuple[str, ...] = ()

    def cell(self, row: Row) -> str | tuple[str, str]:
        """What the browser is sent for a row: a text, or a text and its colour."""
        text = self.of(row)
        if text and self.is_state:
            return text, words.colour(text)
        return text or NOTHING


def head(name: str, column: Column[Any], *, is_first: bool, is_less: bool) -> dict[str, Any]:
    """The head of a column as the browser is sent it; what is less important goes first where there is little room."""
    classes = {"first": is_first, "right": column.is_right, "less": is_less}
    return {
        "name": name,
        "label": column.label,
        "classes": " ".join(name for name, has in classes.items() if has),
        "width": column.width,
        "says": column.says,
    }


def text(
    label: str,
    of: Callable[[Any], str | None],
    width: int | None = None,
    *,
    usual: bool = True,
    says: str | None = None,
    sorts: tuple[str, ...] = (),
    right: bool = False,
) -> Column[Any]:
    """A column of words, on the right where they begin with a figure."""
    return Column(label, of, width, usual, is_right=right, says=says, sorts=sorts)


def state(
    label: str, of: Callable[[Any], str | None], *, usual: bool = True, sorts: tuple[str, ...] = ()
) -> Column[Any]:
    """A column of states, each in its colour."""
    return Column(label, of, 200, usual, is_state=True, sorts=sorts)


def number(
    label: str,
    of: Callable[[Any], int | None],
    *,
    usual: bool = True,
    says: str | None = None,
    sorts: tuple[str, ...] = (),
) -> Column[Any]:
    """A column of whole numbers."""

    def shown(row: Any) -> str | None:
        found = of(row)
        return None if found is None else words.count(found)

    return Column(label, shown, None, usual, is_right=True, says=says, sorts=sorts)


def naira(
    label: str,
    minor: Callable[[Any], int | None],
    *,
    says: str | None = None,
    usual: bool = True,
    sorts: tuple[str, ...] = (),
) -> Column[Any]:
    """A column of money; `minor` is kobo."""
    return Column(label, lambda row: words.naira(minor(row)), None, usual, is_right=True, says=says, sorts=sorts)


def moment(label: str, of: Callable[[Any], Any], *, usual: bool = True, sorts: tuple[str, ...] = ()) -> Column[Any]:
    """A column of instants, shown as the time in Lagos."""
    return Column(label, lambda row: words.moment(of(row)), None, usual, is_right=True, sorts=sorts)


def day(label: str, of: Callable[[Any], Any], *, usual: bool = True, sorts: tuple[str, ...] = ()) -> Column[Any]:
    """A column of days; an instant shows the day it has in Lagos."""
    return Column(label, lambda row: words.day(of(row)), None, usual, is_right=True, sorts=sorts)
