"""The form of a product's rates: one widget per figure, with typed input kept and errors below it."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import NumberColumn

from core.covers.figures import Figure, Kind
from core.errors import FieldFault
from core.ui.admin import product_words
from core.ui.forms import forms
from core.ui.kit import words

Slots = dict[str, Any]


def draw_figures(key: str, figures: Sequence[Figure]) -> tuple[dict[str, Any], Slots]:
    """Draw every figure, by group; return the typed values, and the placeholder for the error below each."""
    typed: dict[str, Any] = {}
    slots: Slots = {}
    tables = [figure for figure in figures if figure.kind is Kind.TABLE]
    grid = st.grid(3, min_column_width=225, gap="small")
    for group, members in groupby((f for f in figures if f.kind is not Kind.TABLE), key=lambda f: f.group):
        with grid.container(border=True, height="stretch"):
            st.markdown(f"**{group}**")
            for figure in members:
                _ask(key, figure, typed, slots)
    for figure in tables:
        with st.container(border=True):
            _ask(key, figure, typed, slots)
    return typed, slots


def complain(faults: Sequence[FieldFault], figures: Sequence[Figure], slots: Mapping[str, Any]) -> None:
    """Show errors below their figures; errors without a figure appear above the end of the form."""
    by_field = {figure.field: figure for figure in figures}
    for fault in faults:
        field = next((name for name in slots if fault.field == name or fault.field.startswith(f"{name}.")), None)
        if field is None:
            st.error(f"{words.title(fault.field)} {words.plain(fault.message)}", icon=":material/error:")
        else:
            inside = fault.field[len(field) + 1 :] if by_field.get(field) else ""
            where = _place(by_field[field], inside) if inside else ""
            slots[field].markdown(forms.complaint(where + fault.message))


def signature(key: str, figures: Sequence[Figure], *others: str) -> str:
    """Return a fingerprint of the values of the form and of these other widgets; it changes with any of them."""
    return repr([st.session_state.get(f"{key}.{name}") for name in (*(figure.field for figure in figures), *others)])


def forget(key: str) -> None:
    """Clear the form."""
    for name in [name for name in st.session_state if str(name).startswith(f"{key}.")]:
        del st.session_state[name]


def _ask(key: str, figure: Figure, typed: dict[str, Any], slots: Slots) -> None:
    with st.container(gap="xxsmall"):
        typed[figure.field] = _WIDGETS.get(figure.kind, _number)(f"{key}.{figure.field}", figure)
        slots[figure.field] = st.container(gap=None)


def _number(key: str, figure: Figure) -> str:
    st.session_state.setdefault(key, product_words.format_typed(figure))
    given = st.text_input(product_words.label(figure), key=key, autocomplete="off", persist_state="page")
    return words.read_naira(given)


def _one(key: str, figure: Figure) -> Any:  # noqa: ANN401 of the figure's type
    st.session_state.setdefault(key, figure.value)
    return st.selectbox(
        figure.label, figure.options, key=key, format_func=words.title, persist_state="page", required=True
    )


def _several(key: str, figure: Figure) -> Any:  # noqa: ANN401 of the figure's type
    st.session_state.setdefault(key, list(figure.value))
    return st.pills(
        figure.label,
        figure.options,
        key=key,
        selection_mode="multi",
        format_func=words.title,
        persist_state="page",
    )


def _phrases(key: str, figure: Figure) -> list[str]:
    st.session_state.setdefault(key, list(figure.value))
    return st.multiselect(
        figure.label,
        figure.value,
        key=key,
        accept_new_options=True,
        placeholder="Type a word and press Enter",
        persist_state="page",
    )


def _table(key: str, figure: Figure) -> list[dict[str, Any]]:
    st.markdown(f"**{figure.label}**")
    names = [column.field for column in figure.columns]
    start = pd.DataFrame([{name: float(row[name]) for name in names} for row in figure.value])
    table = st.data_editor(
        start,
        key=key,
        num_rows="dynamic",
        hide_index=True,
        column_config={column.field: _column(column) for column in figure.columns},
        alt=f"{figure.label}: {', '.join(column.label for column in figure.columns)}",
    )
    return [{name: _cell(row[name]) for name in names} for row in table.to_dict("records")]


def _column(figure: Figure) -> Any:  # noqa: ANN401 a column of Streamlit's
    formats = {Kind.NAIRA: "%,.2f", Kind.COUNT: "%d"}
    return NumberColumn(product_words.label(figure), format=formats.get(figure.kind, "%.4g"), required=True)


def _cell(value: object) -> str:
    """Format a cell as it would be typed; the table holds floats, of which ten decimals restore the typed number."""
    if value is None or pd.isna(value):
        return ""
    return f"{value:.10f}".rstrip("0").rstrip(".")


def _place(figure: Figure, inside: str) -> str:
    row, _, name = inside.partition(".")
    column = next((column.label for column in figure.columns if column.field == name), name)
    return f"Row {int(row) + 1}, {column.lower()}: "


_WIDGETS = {Kind.ONE: _one, Kind.SEVERAL: _several, Kind.TABLE: _table, Kind.PHRASES: _phrases}
