"""A column of a list, declared once.

    "total": Column("Premium", MONEY, col(Purchase.total_minor), orders=BY_AMOUNT),

From that follow its cells and its header on the screen, the orders that the header offers, its values in every file and
its name there (`columns=` of links and of `coverdesk export`), and the cells of a workbook.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlmodel import col

from core.services.lists.dimensions import Choices
from core.services.lists.spreadsheets.columns import WORD, ColumnType

# No list changes the words of another.
_NO_WORDS: Mapping[str, str] = {}


class Context(NamedTuple):
    """Names of products and distributors, and the mode of the records, which values are made of beside their row."""

    names: Choices
    mode: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A value worked out of SQL values by `work_out(context, *values)`; few of them are different if cached."""

    sql: tuple[Any, ...]
    work_out: Callable[..., Any]
    is_cached: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a list: its name in addresses, its label, and its sort keys, of which the last is an id."""

    name: str
    label: str
    keys: tuple[Any, ...] = ()
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One column: label, type, and its value in SQL, which is None for what only a page of rows has.

    `of` is the attribute of a row that is an object of its own, where it has another name than the column. `orders`
    are those of its header, that of the first click first; `is_sortable` makes two. `machine` is its name in files for
    machines, its key unless given; one that is not `for_machines` is in them only when it is asked for. `words` are
    shown for values, `empty` where there is none; `width` is the most that a list takes for it, in pixels.
    """

    label: str
    type: ColumnType
    sql: Any = None
    of: str | Callable[[Any], Any] = ""
    width: int | None = None
    orders: tuple[Order, ...] = ()
    is_sortable: bool = False
    says: str | None = None
    machine: str = ""
    for_machines: bool = True
    words: Mapping[str, str] = field(default_factory=lambda: _NO_WORDS)
    empty: str = ""

    @property
    def sources(self) -> tuple[Any, ...]:
        """The SQL values that its value is made of."""
        return self.sql.sql if isinstance(self.sql, Derived) else (self.sql,)

    @property
    def is_in_files(self) -> bool:
        """True unless only the rows of a page have it."""
        return self.sql is not None


def name_of_sale(entity: Any, place: int) -> Derived:
    """Return the name of the distributor (0), insurer, product or category (3) of a record of a product."""
    keys = (col(entity.product_id), col(entity.distributor_id))
    return Derived(keys, lambda context, *ids: context.names.get_names_of_sale(*ids)[place])


def sale_names(entity: Any) -> dict[str, Column]:
    """Return the columns of the names of a sale, which every list of sales, policies and claims has."""
    labels = {"distributor": "Distributor", "provider": "Insurer", "product": "Product", "category": "Category"}
    return {
        name: Column(label, WORD, name_of_sale(entity, place), width=130)
        for place, (name, label) in enumerate(labels.items())
    }


def mode_column() -> dict[str, Column]:
    """Return the column of the mode, which every list has."""
    return {"mode": Column("Mode", WORD, Derived((), lambda context: context.mode))}
