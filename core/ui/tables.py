"""Tables of records: pages, order and columns come from the address, rows from the store, and a button opens one.

A screen declares its table once and shows it like this:

    POLICIES = Table(name="policies", noun=("policy", "policies"), columns={...}, opens="policies/policy.py")

    tables.follow(POLICIES)                       # at the top: opens the row whose button was clicked
    number = tables.page_of(POLICIES, total)      # None when the address asks for a page that there is not
    tables.draw(POLICIES, rows, number=number, total=total)
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from uuid import UUID

import pandas as pd
import streamlit as st
from streamlit import column_config as cc

from core import clock, money
from core.services.paging import Paging
from core.ui import address, frame, words

Row = TypeVar("Row")
Order = TypeVar("Order", bound=str)
PAGE_SIZE = 50
# Many rows scroll inside the table, so that the pager and the total stay near.
_FEW, _TALLEST = 15, 560
_ORDER, _SHOW, _PAGER, _ORIGIN = "order", "show", "pager", "opened_from"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column: its heading, what stands in it, and how it is shown; `usual` ones show unless left out."""

    label: str
    of: Callable[[Row], Any]
    config: Any
    usual: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Table(Generic[Row]):
    """A kind of table: its columns in order, the orders it can have (the first is the usual), the page of one row.

    `act` is the label of a second button in each row that `may_act`, which `acted` tells of; `home` is the page that
    the table stands on and the words of the link back to it, where the page of a row has more than one way back.
    """

    name: str
    noun: tuple[str, str]
    columns: Mapping[str, Column[Row]]
    orders: Mapping[str, str] = field(default_factory=dict)
    opens: str | None = None
    act: str | None = None
    may_act: Callable[[Row], bool] = lambda _: True
    home: tuple[str, str] | None = None
    key: Callable[[Row], UUID] = lambda row: row.id  # type: ignore[attr-defined]

    @property
    def order(self) -> str:
        """The order that the address asks for; the usual one otherwise."""
        return next((key for key in self.orders if key == st.query_params.get(_ORDER)), next(iter(self.orders), ""))

    def order_among(self, orders: Iterable[Order]) -> Order:
        """The same order, as one of those that a service knows."""
        return next(order for order in orders if order == self.order)

    @property
    def shown(self) -> list[str]:
        """The columns that the address asks for; the usual ones when it names none that exist."""
        asked = [name for name in st.query_params.get_all(_SHOW) if name in self.columns]
        return asked or [name for name, column in self.columns.items() if column.usual]

    def pages(self, total: int) -> int:
        """How many pages so many rows have."""
        return max(1, -(-total // PAGE_SIZE))

    def paging(self, number: int) -> Paging:
        """What the services are asked for."""
        return Paging(max(1, number), PAGE_SIZE)

    def counted(self, total: int) -> str:
        """The number of rows in words: "**1,204** policies"."""
        return f"**{words.count(total)}** {self.noun[total != 1]}"


def text(label: str, of: Callable[[Any], Any], width: Any = None, *, usual: bool = True) -> Column[Any]:
    """A column of words."""
    return Column(label, of, cc.TextColumn(label, width=width), usual)


def number(label: str, of: Callable[[Any], Any], width: Any = None, *, usual: bool = True) -> Column[Any]:
    """A column of whole numbers."""
    return Column(label, of, cc.NumberColumn(label, format="%,.0f", width=width), usual)


def naira(
    label: str, minor: Callable[[Any], int | None], *, says: str | None = None, usual: bool = True
) -> Column[Any]:
    """A column of money; `minor` is kobo."""

    def shown(row: Any) -> float | None:
        found = minor(row)
        return None if found is None else float(money.to_naira(found))

    return Column(label, shown, cc.NumberColumn(label, format="₦%,.2f", help=says, width=115), usual)


def moment(label: str, of: Callable[[Any], Any], *, usual: bool = True) -> Column[Any]:
    """A column of instants, shown as the time in Lagos."""
    config = cc.DatetimeColumn(label, format="D MMM YYYY, HH:mm", timezone="Africa/Lagos", width=130)
    return Column(label, of, config, usual)


def day(label: str, of: Callable[[Any], Any], *, usual: bool = True) -> Column[Any]:
    """A column of days; an instant shows the day it has in Lagos."""

    def shown(row: Any) -> Any:
        found = of(row)
        return clock.lagos_day(found) if hasattr(found, "tzinfo") else found

    return Column(label, shown, cc.DateColumn(label, format="D MMM YYYY", width=95), usual)


def follow(table: Table[Any]) -> None:
    """Open the page of the row whose button was just clicked; its page can lead back here with everything kept."""
    key = _clicked(table, _open_key(table))
    if table.opens and key:
        st.session_state[_back_key(table.name)] = address.whole()
        st.session_state[_ORIGIN] = (str(key), table.name, *table.home) if table.home else None
        st.switch_page(table.opens, query_params={"id": str(key), **frame.mode_query()})


def acted(table: Table[Any]) -> UUID | None:
    """The key of the row whose second button was just clicked."""
    return _clicked(table, _act_key(table)) if table.act else None


def _clicked(table: Table[Any], button: str) -> UUID | None:
    click = st.session_state.get(button)
    # The rows are those that were on the screen when it was clicked.
    shown: list[UUID] = st.session_state.get(_shown_key(table), [])
    return shown[click["row"]] if click and click["row"] < len(shown) else None


def back_link(name: str, path: str, label: str) -> None:
    """The way from one record back to its table, with the filters it was found by; the usual one, or whence it came."""
    origin = st.session_state.get(_ORIGIN)
    if origin and origin[0] == st.query_params.get("id"):
        _, name, path, label = origin
    query = st.session_state.get(_back_key(name), frame.mode_query())
    st.page_link(path, label=label, icon=":material/arrow_back:", query_params=query)


def page_of(table: Table[Any], total: int) -> int | None:
    """The page that the address asks for; of one that does not exist say so, and offer the way back."""
    asked, pages = address.page(), table.pages(total)
    if 1 <= asked <= pages:
        return asked
    given = words.plain(st.query_params.get("page", "")[:20])
    st.warning(f"There is no page “{given}”: this selection has {words.count(pages)}.", icon=":material/find_in_page:")
    st.button("Go to the first page", type="primary", on_click=address.to_page, args=(1,))
    return None


def choices(table: Table[Any]) -> None:
    """The order of the rows, and which columns to see; to be placed in a row of controls."""
    if table.orders:
        st.session_state[_ORDER] = table.order
        st.selectbox(
            "Order",
            list(table.orders),
            key=_ORDER,
            format_func=lambda name: table.orders[name],
            label_visibility="collapsed",
            width=210,
            on_change=lambda: address.change({_ORDER: [st.session_state[_ORDER]]}),
        )
    st.session_state[_SHOW] = table.shown
    with st.popover("Columns", icon=":material/view_column:"):
        st.pills(
            "Columns to show",
            list(table.columns),
            key=_SHOW,
            selection_mode="multi",
            format_func=lambda name: table.columns[name].label,
            on_change=lambda: address.change(
                {_SHOW: [name for name in table.columns if name in st.session_state[_SHOW]]}, keep_page=True
            ),
        )


def draw(
    table: Table[Row], rows: Sequence[Row], *, number: int, total: int, chosen: Collection[UUID] | None = None
) -> list[Row]:
    """One page of rows and the pager; columns that are not chosen are not sent.

    With `chosen`, the keys of the rows that are (or an empty one), rows can be chosen: those of this page are returned.
    """
    columns = [table.columns[name] for name in table.shown]
    cells, config = _cells(table, rows, columns)
    key = f"{table.name} {number} {address.whole()}"
    choosing = {} if chosen is None else _choosing(table, rows, key, chosen)
    event: Any = st.dataframe(
        pd.DataFrame(cells),
        key=choosing.pop("key", key),
        hide_index=True,
        height="content" if len(rows) <= _FEW else _TALLEST,
        placeholder="–",
        column_config=config,
        alt=f"{table.noun[1].capitalize()} of this page: {', '.join(column.label for column in columns)}",
        **choosing,
    )
    st.session_state[_PAGER] = number
    st.pagination(table.pages(total), key=_PAGER, on_change=lambda: address.to_page(st.session_state[_PAGER]))
    return [] if chosen is None else [rows[place] for place in event.selection.rows if place < len(rows)]


def listed(table: Table[Row], rows: Sequence[Row]) -> None:
    """A short list with its usual columns and no pages, for a screen that has several."""
    columns = [column for column in table.columns.values() if column.usual]
    cells, config = _cells(table, rows, columns)
    st.dataframe(
        pd.DataFrame(cells),
        key=f"{table.name} {[str(table.key(row)) for row in rows]}",
        hide_index=True,
        height="content" if len(rows) <= _FEW else _TALLEST // 2,
        placeholder="–",
        column_config=config,
        alt=f"{table.noun[1].capitalize()}: {', '.join(column.label for column in columns)}",
    )


def _cells(
    table: Table[Row], rows: Sequence[Row], columns: Sequence[Column[Row]]
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """What stands in each column, the buttons first, and how each is shown."""
    st.session_state[_shown_key(table)] = [table.key(row) for row in rows]
    cells: dict[str, list[Any]] = {}
    config: dict[str, Any] = {}
    if table.opens:
        cells["Open"] = ["Open"] * len(rows)
        config["Open"] = cc.ButtonColumn("", key=_open_key(table), type="secondary", width=66, pinned=True)
    if table.act:
        cells[table.act] = [table.act if table.may_act(row) else None for row in rows]
        config[table.act] = cc.ButtonColumn("", key=_act_key(table), type="primary", width=76, pinned=True)
    for column in columns:
        cells[column.label] = [column.of(row) for row in rows]
        config[column.label] = column.config
    return cells, config


def _choosing(table: Table[Row], rows: Sequence[Row], key: str, chosen: Collection[UUID]) -> dict[str, Any]:
    """What lets rows be chosen. A selection is one of places, so other rows make another table, chosen anew."""
    keys = [table.key(row) for row in rows]
    places = [place for place, each in enumerate(keys) if each in chosen]
    return {
        "key": f"{key} {hash(tuple(keys))} {st.session_state.get(_round_key(table), 0)}",
        "on_select": "rerun",
        "selection_mode": "multi-row",
        "selection_default": {"selection": {"rows": places}},
    }


def let_go(table: Table[Any]) -> None:
    """Choose no row of a table any more."""
    st.session_state[_round_key(table)] = st.session_state.get(_round_key(table), 0) + 1


def footer(figures: Mapping[str, str]) -> None:
    """The totals of the whole selection, whatever page is shown: label and figure."""
    with st.container(border=True, gap="xsmall", key="selection_total"):
        st.caption("Total of the whole selection, all pages")
        with st.grid(len(figures), min_column_width=150, gap="small"):
            for label, value in figures.items():
                with st.container(gap=None):
                    st.caption(label)
                    st.markdown(f"**{value}**")


def _open_key(table: Table[Any]) -> str:
    return f"{table.name}_open"


def _act_key(table: Table[Any]) -> str:
    return f"{table.name}_act"


def _shown_key(table: Table[Any]) -> str:
    return f"{table.name}_shown"


def _round_key(table: Table[Any]) -> str:
    return f"{table.name}_round"


def _back_key(name: str) -> str:
    return f"{name}_address"
