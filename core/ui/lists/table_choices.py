"""The line above a table: what it holds, and its choices of order and columns, which all stand in the URL."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import streamlit as st

from core.ui.kit import url_state
from core.ui.lists.tables import ORDER, SHOW, Table

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
            draw(table)


def draw(table: Table[Any]) -> None:
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
