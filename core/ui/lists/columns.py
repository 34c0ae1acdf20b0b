"""Table columns: cell text, alignment, maximum width, and the sort orders that belong to the column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from core.ui.kit import words

Row = TypeVar("Row")
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class TableColumn(Generic[Row]):
    """A table column: its heading and a function for the cell text; `usual` columns are shown by default.

    `width` is the maximum cell width in pixels; where `wraps`, a longer text takes further lines. `sorts` names the
    table orders that belong to this column, ascending first; rows in memory sort by `sort_key`, or by the cell text.
    The text is coloured by `colour`, if given, that of `is_state` columns else by state.
    """

    label: str
    of: Callable[[Row], str | None]
    width: int | None = None
    usual: bool = True
    wraps: bool = False
    is_right: bool = False
    is_state: bool = False
    says: str | None = None
    sorts: tuple[str, ...] = ()
    colour: Callable[[Row], str] | None = None
    sort_key: Callable[[Row], Any] | None = None

    def cell(self, row: Row) -> str | tuple[str, str]:
        """Return the cell value sent to the browser: a text, or a text with its colour."""
        text = self.of(row)
        if text and self.colour:
            return text, self.colour(row)
        if text and self.is_state:
            return text, words.colour(text)
        return text or NOTHING


def head(name: str, column: TableColumn[Any], *, place: str) -> dict[str, Any]:
    """Return the column header sent to the browser.

    `place` is where its cells stand on a telephone: "first" and "corner" in the first line of a record, "under" and
    "beside" in the second; "less" is hidden on narrow screens, with "only" they stand on no other, and with "spare" on
    wide ones alone.
    """
    return {
        "name": name,
        "label": column.label,
        "classes": f"{place}{' right' if column.is_right else ''}{' text' if column.wraps else ''}",
        "width": column.width,
        "says": column.says,
    }


class Look(TypedDict, total=False):
    """The further properties of a column, as `TableColumn` has them."""

    usual: bool
    says: str | None
    sorts: tuple[str, ...]
    colour: Callable[[Any], str] | None


def text(
    label: str,
    of: Callable[[Any], str | None],
    width: int | None = None,
    *,
    right: bool = False,
    sort_key: Callable[[Any], Any] | None = None,
    **look: Unpack[Look],
) -> TableColumn[Any]:
    """Return a text column; `right` aligns it to the right, for texts that begin with a figure."""
    return TableColumn(label, of, width, is_right=right, sort_key=sort_key, **look)


def state(label: str, of: Callable[[Any], str | None], **look: Unpack[Look]) -> TableColumn[Any]:
    """Return a column of states, each shown in its colour, or in one of the row's own."""
    return TableColumn(label, of, 200, is_state=True, **look)


def number(label: str, of: Callable[[Any], int | None], **look: Unpack[Look]) -> TableColumn[Any]:
    """Return a column of whole numbers."""

    def shown(row: Any) -> str | None:  # noqa: ANN401 a row of any table
        found = of(row)
        return None if found is None else words.count(found)

    return TableColumn(label, shown, is_right=True, sort_key=of, **look)


def naira(label: str, minor: Callable[[Any], int | None], **look: Unpack[Look]) -> TableColumn[Any]:
    """Return a column of money; `minor` returns kobo."""
    return TableColumn(label, lambda row: words.naira(minor(row)), is_right=True, sort_key=minor, **look)


def moment(label: str, of: Callable[[Any], Any], **look: Unpack[Look]) -> TableColumn[Any]:
    """Return a column of instants, shown in Lagos time."""
    return TableColumn(label, lambda row: words.moment(of(row)), is_right=True, sort_key=of, **look)


def day(label: str, of: Callable[[Any], Any], **look: Unpack[Look]) -> TableColumn[Any]:
    """Return a column of dates; an instant is shown as its date in Lagos."""
    return TableColumn(label, lambda row: words.day(of(row)), is_right=True, sort_key=of, **look)
