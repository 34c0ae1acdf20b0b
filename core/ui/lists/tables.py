"""Tables of records: page, order and columns come from the URL, rows from the store, and each row is a link.

A screen declares its table once and shows it like this:

    POLICIES = Table(name="policies", noun=("policy", "policies"), columns={...}, opens="policies/policy.py")

    number = tables.page_of(POLICIES, total)      # None when the requested page does not exist
    tables.draw(POLICIES, rows, number=number, total=total)

Where all rows are in memory every header sorts all of them, and one page is cut out afterwards:

    DUE = Table(..., unsorted="By account and party")

    tables.draw_held(DUE, rows)
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import seal
from core.services.lists.listing import Listing
from core.services.lists.paging import Page, Paging
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import columns
from core.ui.lists.columns import TableColumn

draw_component = st.components.v2.component(
    "coverdesk_record_list",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "record_list.css").read_text(),
    js=page_links.VISIT + (page_links.BROWSER / "record_list.js").read_text(),
)


Row = TypeVar("Row")
Order = TypeVar("Order", bound=str)
PAGE_SIZE = 50
ORDER, SHOW, _PAGER = "order", "show", "pager"
_ORIGINS, _MAX_ORIGINS = "opened_from", 2_000
_NARROW = 4
# `opens` of a table whose rows lead to the home page, at the root.
HOME = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table(Generic[Row]):
    """Declaration of a table: its columns, its sort orders (the first is the default), the page that a row opens.

    `narrow` names the columns that remain on narrow screens, `only_narrow` those that no other screen has, `only_wide`
    those that a list beside the menu at 1280 pixels lacks while nobody has chosen its columns. `act`
    returns the label of the button in a row, "" for none, or those of several; `get_clicked` returns its row. `home` is
    the table's page and the label of the link back to it, needed where a record's page can be reached from several
    tables. `query` returns the query parameters of a row's link; a row without any opens nothing. `unsorted` names the
    order in which the rows come, of a table that holds all of them: it is sorted by any column.
    """

    name: str
    noun: tuple[str, str]
    columns: Mapping[str, TableColumn[Row]]
    orders: Mapping[str, str] = field(default_factory=dict)
    opens: str | None = None
    narrow: tuple[str, ...] = ()
    only_narrow: tuple[str, ...] = ()
    only_wide: tuple[str, ...] = ()
    act: Callable[[Row], str | Sequence[str]] | None = None
    home: tuple[str, str] | None = None
    key: Callable[[Row], UUID | str] = lambda row: row.id  # type: ignore[attr-defined]
    query: Callable[[UUID | str], Mapping[str, str | Sequence[str]] | None] = lambda key: {"id": str(key)}
    unsorted: str | None = None

    def __post_init__(self) -> None:
        """Give each column two orders where the order is named in which the rows come."""
        if self.unsorted is None:
            return
        orders, columns = {_USUAL: self.unsorted}, {}
        for name, column in self.columns.items():
            up, down = (name, f"{column.label}, ascending"), (name + _BACK, f"{column.label}, descending")
            # Of figures and days the first click shows the largest or the latest.
            orders |= dict((down, up) if column.is_right else (up, down))
            columns[name] = replace(column, sorts=(name, name + _BACK))
        object.__setattr__(self, "orders", orders)
        object.__setattr__(self, "columns", columns)

    @property
    def order(self) -> str:
        """Return the sort order given in the URL, or the default."""
        return next((key for key in self.orders if key == st.query_params.get(ORDER)), next(iter(self.orders), ""))

    def order_among(self, orders: Iterable[Order]) -> Order:
        """Return the current order as one of `orders`, typed as the service expects it."""
        return next(order for order in orders if order == self.order)

    @property
    def shown_columns(self) -> list[str]:
        """Return the names of the columns given in the URL, or the default ones when it names none that exist."""
        wanted = [name for name in st.query_params.get_all(SHOW) if name in self.columns]
        return wanted or self.usual

    @property
    def usual(self) -> list[str]:
        """Return the names of the columns shown by default."""
        return [name for name, column in self.columns.items() if column.usual]

    def pages(self, total: int) -> int:
        """Return the number of pages needed for `total` rows."""
        return max(1, -(-total // PAGE_SIZE))

    def paging(self, number: int) -> Paging:
        """Return the page request for the services."""
        return Paging(max(1, number), PAGE_SIZE)

    def count_text(self, total: int) -> str:
        """Return the number of rows as text: "**1,204** policies"."""
        return f"**{words.count(total)}** {self.noun[total != 1]}"


_FORMATS: dict[str, Callable[[Any], str | None]] = {
    "money": words.naira,
    "count": words.count,
    "instant": words.moment,
    "day": words.day,
    "date": words.day,
    "flag": lambda value: "Yes" if value else "No",
    "masked": seal.mask,
    "phone": words.phone,
    "email": words.email,
}


def _build_column(listing: Listing[Any], name: str) -> TableColumn[Any]:
    """Return the column of a list as its table shows it."""
    column, orders = listing.columns[name], listing.orders_of(name)
    read, form = listing.get_reader(name), _FORMATS.get(column.type.name, str)

    def shown(row: Any) -> str | None:  # noqa: ANN401 a row of any table
        value = read(row)
        if value is None or value == "":
            return column.empty or None
        return column.words.get(str(value)) or form(value)

    return TableColumn(
        column.label,
        shown,
        column.width or (200 if column.type.name == "state" else None),
        usual=name in listing.usual,
        is_right=column.type.is_figure,
        is_state=column.type.name == "state",
        says=column.says,
        sort_key=read,
        sorts=tuple(order.name for order in sorted(orders, key=lambda order: order.is_descending)),
    )


class _Columns(Mapping[str, TableColumn[Any]]):
    """The columns of a list as they are declared at this moment: those it shows first, then all others."""

    def __init__(self, listing: Listing[Any], changed: Mapping[str, Mapping[str, Any]], without: Sequence[str]) -> None:
        self._listing, self._changed, self._without = listing, changed, without

    def __getitem__(self, name: str) -> TableColumn[Any]:
        if name not in iter(self):
            raise KeyError(name)
        return replace(_build_column(self._listing, name), **self._changed.get(name, {}))

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._listing.on_screen if name not in self._without)

    def __len__(self) -> int:
        return len(list(iter(self)))


class _Orders(Mapping[str, str]):
    """The labels of the orders of a list as they are declared at this moment."""

    def __init__(self, listing: Listing[Any]) -> None:
        self._listing = listing

    def __getitem__(self, name: str) -> str:
        return self._listing.orders[name].label

    def __iter__(self) -> Iterator[str]:
        return iter(self._listing.orders)

    def __len__(self) -> int:
        return len(self._listing.orders)


def of(
    listing: Listing[Any],
    *,
    name: str = "",
    changed: Mapping[str, Mapping[str, Any]] | None = None,
    without: Sequence[str] = (),
    **more: Any,
) -> Table[Any]:
    """Return the table of a list; `changed` is what a column has otherwise on the screen than by its declaration."""
    shown = _Columns(listing, changed or {}, without)
    return Table(name=name or listing.name, noun=listing.noun, columns=shown, orders=_Orders(listing), **more)


def keep_address(table: Table[Any]) -> None:
    """Store the URL of the page with this table, for the link back from a record."""
    st.session_state[_place(table.name, "address")] = url_state.all_parameters()


def back_link(name: str, path: str, label: str) -> None:
    """Draw the link from a record back to the list it was opened from, with its filters; by default to this table."""
    origin = st.session_state.get(_ORIGINS, {}).get(st.query_params.get("id"))
    if origin:
        name, path, label = origin
    query = st.session_state.get(_place(name, "address"))
    page_links.link(path, label=label, icon=":material/arrow_back:", query_params=query)


def get_clicked(table: Table[Any]) -> tuple[Any, str]:
    """Return the key, as its table gives it, of the row whose button was just clicked, and the button's label; once."""
    found: tuple[Any, str] = st.session_state.pop(_place(table.name, "act"), (None, ""))
    return found


def page_of(table: Table[Any], total: int) -> int | None:
    """Return the page number given in the URL; if it does not exist, warn, offer page 1 and return None."""
    wanted, pages = url_state.page(), table.pages(total)
    if 1 <= wanted <= pages:
        return wanted
    given = words.plain(st.query_params.get("page", "")[:20])
    st.warning(f"There is no page “{given}”: this selection has {words.count(pages)}.", icon=":material/find_in_page:")
    st.button("Go to the first page", type="primary", on_click=url_state.to_page, args=(1,))
    return None


def draw(
    table: Table[Row], rows: Sequence[Row], *, number: int, total: int, chosen: Collection[UUID] | None = None
) -> list[Row]:
    """Draw one page of rows, and the pager where there are more; only the selected columns are sent to the browser.

    With `chosen` (the keys of selected rows, possibly empty), rows can be selected; those selected on this page are
    returned.
    """
    alt = f"{table.noun[1].capitalize()} of this page"
    payload = _payload(table, rows, table.shown_columns, alt=alt, sortable=True)
    turn = st.session_state.get(_place(table.name, "round"), 0)
    mark = f"{url_state.all_parameters()} {hash(tuple(payload['keys']))} {turn}"
    picked = _picked(table, mark, chosen or ())
    if chosen is not None:
        payload |= {"choosing": True, "mark": mark, "chosen": [key for key in payload["keys"] if key in picked]}
    _mount(table, payload, mark)
    if table.pages(total) > 1:
        st.session_state[_PAGER] = number
        st.pagination(table.pages(total), key=_PAGER, on_change=lambda: url_state.to_page(st.session_state[_PAGER]))
    return [row for row in rows if str(table.key(row)) in picked]


def draw_page(table: Table[Row], page: Page[Row], *, above: Callable[[], object] | None = None) -> bool:
    """Draw a page below what is `above` it, by default its number of rows and the choice of columns.

    Return False where the address names no page of this selection, which is said instead.
    """
    number = page_of(table, page.total_count)
    if number is None:
        return False
    if above:
        above()
    else:
        head(table.count_text(page.total_count), table)
    draw(table, page.items, number=number, total=page.total_count)
    return True


def draw_short(table: Table[Row], rows: Sequence[Row]) -> None:
    """Draw a short list with the default columns and without pages, for a screen with several lists."""
    payload = _payload(table, rows, table.usual, alt=table.noun[1].capitalize(), sortable=False)
    _mount(table, payload, "")


def _mount(table: Table[Row], payload: dict[str, Any], mark: str) -> None:
    keys: Mapping[str, UUID | str] = payload.pop("keys")
    place = f"{table.name} list"
    keep_address(table)
    if table.opens is not None:
        _note_origin(table, [str((table.query(key) or {}).get("id", key)) for key in keys.values()])

    def on_acted() -> None:
        event = st.session_state[place].get("acted") or {}
        # Accept only rows that were on the screen when the button was clicked.
        if (key := str(event.get("key"))) in keys:
            st.session_state[_place(table.name, "act")] = keys[key], str(event["act"])

    def on_picked() -> None:
        event = st.session_state[place].get("picked") or {}
        # Ticks made on a previous set of rows are ignored.
        if event.get("mark") == mark:
            st.session_state[_place(table.name, "picked")] = mark, [str(row) for row in event["keys"]]

    draw_component(key=place, data=payload, on_acted_change=on_acted, on_picked_change=on_picked)


def _payload(
    table: Table[Row], rows: Sequence[Row], names: Sequence[str], *, alt: str, sortable: bool
) -> dict[str, Any]:
    """Return the payload for the browser; `keys`, each row's by its text there, is removed before sending."""
    shown = [table.columns[name] for name in names]
    stay = [name for name in table.narrow if name in names]
    # Where none of them is declared or shown, the columns that come first fill up.
    fill = names if set(stay) <= {names[0]} else ()
    places = _places(table, list(dict.fromkeys([names[0], *stay, *fill]))[:_NARROW])
    heads = []
    for name, column in zip(names, shown, strict=True):
        head = columns.head(name, column, place=f"{places.get(name, 'less')}{_where(table, name, names)}")
        heads.append(head | (_sorting(table, column) if sortable else {}))
    lines = [_line(table, row, shown) for row in rows]
    keys = {str(table.key(row)): table.key(row) for row in rows}
    acts = any(line["acts"] for line in lines)
    return {"alt": alt, "columns": heads, "rows": lines, "acts": acts, "keys": keys}


def _where(table: Table[Any], name: str, names: Sequence[str]) -> str:
    """Return the further class of a column that some widths of the screen lack."""
    if name in table.only_narrow:
        return " only"
    return " spare" if name in table.only_wide and list(names) == table.usual else ""


def _places(table: Table[Any], narrow: Sequence[str]) -> dict[str, str]:
    """Return where each of at most four columns stands in the two lines of a record on a telephone."""
    first, *others = narrow
    figure = next((name for name in reversed(others) if table.columns[name].is_right), None)
    others = [name for name in others if name != figure]
    corner = figure or (others.pop() if others else None)
    return {
        first: "first",
        **({corner: "corner"} if corner else {}),
        **dict(zip(others, ("under", "beside"), strict=False)),
    }


def _line(table: Table[Row], row: Row, shown: Sequence[TableColumn[Row]]) -> dict[str, Any]:
    key, cells = table.key(row), [column.cell(row) for column in shown]
    query = table.query(key) if table.opens is not None else None
    texts = [cell if isinstance(cell, str) else cell[0] for cell in cells]
    acts = table.act(row) if table.act else ()
    return {
        "key": str(key),
        "href": None if table.opens is None or query is None else frame.link(table.opens, **query),
        "name": ", ".join(text for text in texts[:3] if text != columns.NOTHING),
        "acts": [act for act in ([acts] if isinstance(acts, str) else acts) if act],
        "cells": cells,
    }


def _sorting(table: Table[Any], column: TableColumn[Any]) -> dict[str, Any]:
    """Return the sort state of a column header: `aria-sort` and the URL of the next order."""
    known = [order for order in table.orders if order in column.sorts]
    if not known:
        return {}
    ascending, now = column.sorts[0], table.order
    following = known[0] if now not in known else known[(known.index(now) + 1) % len(known)]
    kept = {name: given for name, given in url_state.all_parameters().items() if name not in (ORDER, "page")}
    usual = following == next(iter(table.orders))
    sorted_ = ("ascending" if now == ascending else "descending") if now in known else None
    return {
        "href": "?" + urlencode(kept | ({} if usual else {ORDER: following}), doseq=True),
        "sorted": sorted_,
        "says": " · ".join(filter(None, (column.says, f"Click: {table.orders[following].lower()}, of all pages"))),
    }


def _note_origin(table: Table[Any], records: Sequence[str]) -> None:
    """Record which table showed each record last, by the id in its address: a record can be on several lists, and its
    back link leads to that one.
    """
    kept: dict[str, tuple[str, str, str] | None] = st.session_state.setdefault(_ORIGINS, {})
    for record in records:
        kept.pop(record, None)
        kept[record] = (table.name, *table.home) if table.home else None
    for key in list(kept)[:-_MAX_ORIGINS]:
        del kept[key]


def _picked(table: Table[Any], mark: str, chosen: Collection[UUID]) -> set[str]:
    """Return the ticked keys: those ticked on exactly these rows, otherwise the ones already selected."""
    where, keys = st.session_state.get(_place(table.name, "picked"), (None, ()))
    return set(keys) if where == mark else {str(key) for key in chosen}


def ticked_bar() -> DeltaGenerator:
    """Return the row of what can be done with ticked rows; it stays in sight while the list is scrolled."""
    return st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="ticked_bar")


def let_go(table: Table[Any]) -> None:
    """Clear the row selection of a table."""
    st.session_state[_place(table.name, "round")] = st.session_state.get(_place(table.name, "round"), 0) + 1


def show_no_match(table: Table[Any]) -> None:
    """Say that no row matches the selection, and offer to end that."""
    one, many = table.noun
    st.info(f"No {one} matches this selection.", icon=":material/filter_alt_off:")
    st.button(f"Show all {many}", type="primary", on_click=url_state.reset)


def footer(figures: Mapping[str, str]) -> None:
    """Draw the totals of the whole selection, across all pages: label and figure."""
    with st.container(gap="xsmall", key="selection_total"):
        st.caption("Of the whole selection, all pages")
        with st.grid(2, min_column_width=150, gap="small"):
            for label, value in figures.items():
                with st.container(gap=None):
                    st.caption(label)
                    st.markdown(f"**{value}**")


def _place(name: str, kept: str) -> str:
    """Return the place in the session's state of what is kept of a table."""
    return f"{name}_{kept}"


_MOVED = "moved_column"


def head(
    line: str,
    table: Table[Any] | None,
    *,
    sums: Callable[[], None] | None = None,
    beside: Callable[[], object] | None = None,
) -> None:
    """Draw the second line of a list: how much it holds at the left, its columns at the right.

    `beside` draws what stands before them, its export or what is done with all of it.
    `sums` draws the total of the whole selection in its parts, behind one button.
    """
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="list_head" if line else None):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", width="stretch"):
            if line:
                st.markdown(line, width="content")
            if sums:
                with st.popover("Sums", icon=":material/functions:", type="tertiary", key="list_sums"):
                    sums()
        if beside:
            beside()
        if table:
            draw_choices(table)


def draw_choices(table: Table[Any]) -> None:
    """Draw the choice of sort order and columns; to be placed in a row of controls."""
    with st.popover("Columns", icon=":material/view_column:"):
        if table.orders:
            # Headers sort too; on a narrow screen some of them are hidden.
            key = url_state.widget_key(ORDER, table.order)
            st.session_state[key] = table.order
            st.selectbox(
                "Order",
                list(table.orders),
                key=key,
                format_func=lambda name: table.orders[name],
                on_change=lambda: url_state.change({ORDER: [url_state.chosen_in(ORDER)]}),
            )
        shown = table.shown_columns
        key = url_state.widget_key(SHOW, sorted(shown))
        st.session_state[key] = shown
        st.pills(
            "Columns to show",
            list(table.columns),
            key=key,
            selection_mode="multi",
            format_func=lambda name: table.columns[name].label,
            on_change=lambda: _show(_choose(table, shown, url_state.chosen_in(SHOW))),
        )
        _mover(table, shown)


def _choose(table: Table[Any], shown: Sequence[str], chosen: Collection[str]) -> list[str]:
    """Return the columns chosen: in the table's own sequence, or added behind one that the person has made."""
    own = [name for name in table.columns if name in chosen]
    if list(shown) == [name for name in table.columns if name in shown]:
        return own
    return [name for name in shown if name in chosen] + [name for name in own if name not in shown]


def _mover(table: Table[Any], shown: Sequence[str]) -> None:
    """Draw the controls that move one column before or behind its neighbour."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom", key="move_column"):
        name = st.selectbox("Move", shown, key=_MOVED, format_func=lambda name: table.columns[name].label)
        place = shown.index(name) if name in shown else 0
        for label, icon, by in (("Left", "arrow_back", -1), ("Right", "arrow_forward", 1)):
            st.button(
                label,
                key=f"move {label.lower()}",
                icon=f":material/{icon}:",
                disabled=not 0 <= place + by < len(shown),
                on_click=_move,
                args=(list(shown), place, by),
            )


def _move(shown: list[str], place: int, by: int) -> None:
    shown[place], shown[place + by] = shown[place + by], shown[place]
    _show(shown)


def _show(names: Sequence[str]) -> None:
    url_state.change({SHOW: list(names)}, keep_page=True)


_USUAL: Final = "usual"
_BACK: Final = "-back"


def draw_held(table: Table[Row], rows: Sequence[Row]) -> None:
    """Draw the page of the rows that the address names; where there is no such page, say so."""
    number = page_of(table, len(rows))
    if number is not None:
        draw(table, cut_page(table, rows, number), number=number, total=len(rows))


def cut_page(table: Table[Row], rows: Sequence[Row], number: int) -> list[Row]:
    """Return one page of the rows in the order of the address."""
    paging = table.paging(number)
    return sort_rows(table, rows, table.order)[paging.offset : paging.offset + paging.limit]


def sort_rows(table: Table[Row], rows: Sequence[Row], order: str) -> list[Row]:
    """Return all rows in an order of the table; rows without a value come last in both directions."""
    if order == _USUAL:
        return list(rows)
    column = table.columns[order.removesuffix(_BACK)]
    keyed = [(_key(column, row), row) for row in rows]
    known = [pair for pair in keyed if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=order.endswith(_BACK))
    return [row for _, row in known] + [row for key, row in keyed if key is None]


def _key(column: TableColumn[Any], row: Any) -> Any:  # noqa: ANN401 a row and a value of any table
    found = column.sort_key(row) if column.sort_key else column.of(row)
    return found.casefold() if isinstance(found, str) else found
