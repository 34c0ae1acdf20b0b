"""A list of records, declared once: who may see it, its filter, columns and orders, and how its rows are read.

Its screen, its files, its options of `coverdesk export` and its saved views follow from the declaration. One that
cannot work raises TypeError when it is imported.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import Any, Generic, Protocol

from core.errors import NotAllowed
from core.services.lists.columns import Column, Context, Derived, Order
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import F
from core.services.lists.filters.fields import Address, Parameter
from core.services.lists.paging import Page, Paging, find_page
from core.services.lists.records import format_mode
from core.store.access import AnySelect, ScopedSession

Values = Mapping[str, Any]


def _read_elsewhere(_: object) -> AnySelect:
    raise NotImplementedError


class HasRoles(Protocol):
    """Somebody with roles."""

    def has_role(self, *roles: str) -> bool:
        """Return True if the person has one of the roles."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a list, as far as it is shown: its values by the keys of their columns."""

    values: Values

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def id(self) -> Any:
        """Its id."""
        return self.values["id"]


@dataclass(frozen=True, kw_only=True)
class Listing(Generic[F]):
    """One list; `usual` are the columns that it shows first, in that sequence, all others follow as declared.

    `rows` selects columns of all records of a filter; `orders` are those without a header, `usual_order` the first one.
    `summed` is the column, in kobo, that a receipt adds up, and `sum_title` its label. Where its page is read by this
    declaration, `join` selects columns of all records, `ids` the ids of those of a filter, and `always` names the
    columns that each row needs beside those shown; otherwise its rows are objects of `row_type`. One that
    `is_live_only` has no records of test mode.
    """

    name: str
    title: str
    noun: tuple[str, str]
    roles: tuple[str, ...]
    filter: type[F]
    columns: Mapping[str, Column]
    usual: tuple[str, ...] = ()
    rows: Callable[[Sequence[Any], F, Choices], AnySelect]
    count: Callable[[ScopedSession, F], int]
    summed: Any = None
    sum_title: str | None = None
    more_orders: tuple[Order, ...] = ()
    usual_order: str = "newest"
    key: Any = None
    join: Callable[[Sequence[Any]], AnySelect] = _read_elsewhere
    ids: Callable[[F], AnySelect] = _read_elsewhere
    always: tuple[str, ...] = ("id",)
    row_type: Any = None
    is_live_only: bool = False

    def __post_init__(self) -> None:
        names = list(self.in_files)
        unknown = [name for name in self.usual if name not in self.columns]
        if unknown or len(set(names)) < sum(column.is_in_files for column in self.columns.values()):
            raise TypeError(f"{self.name} has two columns of one name, or shows {unknown} without having them")
        if self.orders and self.usual_order not in self.orders:
            raise TypeError(f"{self.name} has no order {self.usual_order}")

    @property
    def orders(self) -> Mapping[str, Order]:
        """Its orders by name, the usual one first."""
        every = (*(order for name in self.columns for order in self.orders_of(name)), *self.more_orders)
        found = {order.name: order for order in every}
        return {name: found[name] for name in sorted(found, key=lambda name: name != self.usual_order)}

    def orders_of(self, name: str) -> tuple[Order, ...]:
        """Return the orders that the header of a column offers, that of the first click first."""
        column = self.columns[name]
        if not column.is_sortable:
            return column.orders
        up = Order(name, f"{column.label}, ascending", (column.sql.asc().nulls_last(), self.key))
        keys = (column.sql.desc().nulls_last(), self.key.desc())
        down = Order(f"{name}-back", f"{column.label}, descending", keys, is_descending=True)
        return (down, up) if column.type.is_figure else (up, down)

    @property
    def on_screen(self) -> tuple[str, ...]:
        """The keys of the columns that a table can show, those that it shows first at the front."""
        every = dict.fromkeys((*self.usual, *self.columns))
        return tuple(name for name in every if self._is_of_rows(name, self.columns[name]))

    def _is_of_rows(self, name: str, column: Column) -> bool:
        return bool(column.of) or (hasattr(self.row_type, name) if self.row_type else column.is_in_files)

    def get_reader(self, name: str) -> Callable[[Any], Any]:
        """Return what reads the value of a column from a row."""
        of = self.columns[name].of or name
        if callable(of):
            return of
        return attrgetter(of) if self.row_type else itemgetter(of)

    @property
    def in_files(self) -> Mapping[str, Column]:
        """The columns that a file can have, by their names there."""
        return {column.machine or name: column for name, column in self.columns.items() if column.is_in_files}

    @property
    def for_machines(self) -> tuple[str, ...]:
        """The names of the columns of a file that names none."""
        return tuple(name for name, column in self.in_files.items() if column.for_machines)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of its selection."""
        return self.filter.parameters()

    def read(self, address: Address) -> F:
        """Return the selection of an address; InvalidInput names every invalid parameter."""
        return self.filter.read(address)

    def format_count(self, rows: int) -> str:
        """Format a number of rows in words: "1,204 purchases"."""
        return f"{rows:,} {self.noun[rows != 1]}"

    def require_role(self, person: HasRoles) -> None:
        """Raise NotAllowed unless the person's role may export this list."""
        if not person.has_role(*self.roles):
            raise NotAllowed

    def read_page(
        self,
        session: ScopedSession,
        criteria: F,
        names: Choices,
        *,
        shown: Sequence[str] = (),
        order: str = "",
        paging: Paging,
    ) -> list[Row]:
        """Return one page with the columns shown, all of them if none are named; past the end it is empty.

        Ids come first, from an index, so that what is skipped is never read.
        """
        keys = self.orders[order or self.usual_order].keys
        ids = self.ids(criteria).order_by(*keys).limit(paging.limit).offset(paging.offset)
        return self.read_rows(session, ids, names, keys, shown=shown)

    def find_page(
        self,
        session: ScopedSession,
        ids: AnySelect,
        names: Choices,
        keys: Sequence[Any],
        *,
        shown: Sequence[str] = (),
        paging: Paging,
        searched: bool,
    ) -> Page[Row]:
        """Return one page of what a query of ids finds, with the exact total; for `searched`: `paging.find_page`."""
        found, total = find_page(session, ids.order_by(*keys), paging, searched=searched)
        return Page(self.read_rows(session, found, names, keys, shown=shown) if found else [], total)

    def read_rows(
        self, session: ScopedSession, ids: Any, names: Choices, keys: Sequence[Any], *, shown: Sequence[str] = ()
    ) -> list[Row]:
        """Return the records of some ids, which are a query or a sequence, sorted by the keys of an order."""
        chosen = list(dict.fromkeys((*self.always, *(shown or self.columns))))
        needed = [self.columns[name].sources for name in chosen]
        distinct = list({id(sql): sql for sources in needed for sql in sources}.values())
        places = {id(sql): place for place, sql in enumerate(distinct)}
        context = Context(names, format_mode(bool(session.scope.is_live)))
        readers = [
            (name, _reader(self.columns[name], [places[id(sql)] for sql in sources], context))
            for name, sources in zip(chosen, needed, strict=True)
        ]
        query = self.join(distinct).where(self.key.in_(ids)).order_by(*keys)
        return [Row({name: read(row) for name, read in readers}) for row in session.execute(query)]


def _reader(column: Column, places: Sequence[int], context: Context) -> Callable[[Any], Any]:
    derived = column.sql
    if isinstance(derived, Derived):
        return lambda row: derived.work_out(context, *(row[place] for place in places))
    return itemgetter(*places)
