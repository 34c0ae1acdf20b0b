"""The filters of a list in one line: search, period, a drawer, a chip for each filter in use, and the saved views.

    filter_chips.draw(criteria, names.names, beside=lambda: saved_views.draw("sales/purchases.py", person))

A chip says what it narrows to, and a click takes it away.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from core.services.lists.filters import fields
from core.services.lists.filters.declaration import Filter
from core.services.lists.filters.field import Field
from core.ui.kit import url_state, words
from core.ui.lists import filter_bar
from core.ui.lists.filter_bar import Names, Options

_SHOWN = 2  # members named on a chip before the rest is counted
_FIELD_WIDTH = 190  # pixels


def _nothing() -> None:
    """Draw nothing."""


def draw(
    criteria: Filter,
    names: Names | None = None,
    *,
    options: Options | None = None,
    leave_out: Sequence[str] = (),
    first: Callable[[], None] = _nothing,
    more: Callable[[], None] = _nothing,
    beside: Callable[[], None] = _nothing,
    reset: Callable[[], None] | None = None,
) -> None:
    """Draw the filters of a list in one line, which wraps where there is little room.

    `first` draws what stands before the drawer, `more` further fields into it, `beside` what follows the chips.
    `reset` draws the reset button, by default the one of this filter.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="filter_chips"):
        filter_bar.draw(criteria, names, place="search", options=options, leave_out=leave_out)
        first()
        with st.popover("Filter", icon=":material/filter_list:", key="filter_drawer"):
            with st.container(key="filter_fields"), st.grid(3, min_column_width=_FIELD_WIDTH, gap="xsmall"):
                filter_bar.draw(criteria, names, options=options, leave_out=leave_out)
                filter_bar.draw(criteria, names, place="more", options=options, leave_out=leave_out)
            more()
        for field, value in _in_use(criteria, leave_out):
            chip(field.beside_widget or field.label, describe(field, value, names, options), field)
        if reset:
            reset()
        else:
            filter_bar.reset(criteria)
        beside()


def _in_use(criteria: Filter, leave_out: Sequence[str]) -> list[tuple[Field, Any]]:
    shown: tuple[Literal["grid", "more"], ...] = ("grid", "more")
    return [
        (field, value)
        for _, field, value in criteria.in_use()
        if field.address and field.place in shown and field.address not in leave_out
    ]


def chip(label: str, value: str, field: Field) -> None:
    """Draw one filter in use; a click removes it from the URL."""
    st.button(
        f"{label}: {words.plain(value)}",
        key=f"chip {field.address}",
        icon=":material/close:",
        icon_position="right",
        help="Take this filter away",
        on_click=url_state.change,
        args=({parameter.name: [] for parameter in field.parameters},),
    )


def describe(field: Field, value: Any, names: Names | None = None, options: Options | None = None) -> str:  # noqa: ANN401 a value of any field
    """Return a filter's value in words: "Anchorline Insurance, Baobab Ridge Assurance +1", "from 1 Oct 2026"."""
    if isinstance(field, fields.Days):
        return _describe_days(*(words.day(day) if day else "" for day in field.days(value)))
    if isinstance(field, fields.Naira):
        return words.naira_of(value)
    given, known = field.write(value)[field.address], _labels(field, names or {}, options or {})
    shown = [known.get(each, each) for each in given]
    return ", ".join(shown[:_SHOWN]) + (f" +{len(shown) - _SHOWN}" if len(shown) > _SHOWN else "")


def _describe_days(first: str, last: str) -> str:
    if first and last:
        return first if first == last else f"{first} – {last}"
    return f"from {first}" if first else f"to {last}"


def _labels(field: Field, names: Names, options: Options) -> Mapping[str, str]:
    members = {str(key): name for key, name in names.get(field.names, {}).items()}
    declared: Mapping[str, str] = getattr(field, "options", {})
    return {**declared, **members, **options.get(field.address, {})}
