"""A list of things on a form: an editable table with one row for each."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import CheckboxColumn, DateColumn, NumberColumn, SelectboxColumn, TextColumn

from core.ui import words
from core.ui.forms.questions import Kind, Question


def ask(question: Question, *, key: str, reruns: bool = False) -> list[dict[str, Any]]:
    """Draw the table and return its filled rows; rows are added below the last and removed by their box."""
    st.markdown(question.label)
    version, rows = st.session_state.get(f"{key}.kept", (0, []))
    names = [column.name for column in question.columns]
    start = pd.DataFrame(rows or [{}], columns=names, dtype=object)
    table = st.data_editor(
        start.astype(object).where(start.notna(), None),
        key=f"{key}.{version}",
        num_rows="dynamic",
        hide_index=True,
        on_change="rerun" if reruns else "ignore",
        column_config={column.name: _column(column) for column in question.columns},
    )
    filled = ({str(name): _value(value) for name, value in row.items()} for row in table.to_dict("records"))
    return [row for row in filled if any(value is not None for value in row.values())]


def keep(key: str, rows: Sequence[dict[str, Any]]) -> None:
    """Keep rows while the table is out of sight; it comes back as a new one that starts with them."""
    version, _ = st.session_state.get(f"{key}.kept", (0, []))
    st.session_state[f"{key}.kept"] = (version + 1, list(rows))


def place(question: Question, inside: str) -> str:
    """Where in the table a fault is: "0.amount" -> "row 1, amount: "."""
    row, _, name = inside.partition(".")
    label = next((column.label for column in question.columns if column.name == name), name)
    return f"Row {int(row) + 1}, {label.lower()}: " if row.isdigit() else ""


def read_back(question: Question, rows: Sequence[Any]) -> str:
    """The rows in words, for the review."""
    return "; ".join(
        ", ".join(
            words.naira_of(getattr(row, column.name)) if column.kind is Kind.MONEY else str(getattr(row, column.name))
            for column in question.columns
            if getattr(row, column.name) is not None
        )
        for row in rows
    )


def _column(question: Question) -> Any:
    common: dict[str, Any] = {"label": question.label, "required": question.required, "help": question.help}
    if question.kind is Kind.MONEY:
        return NumberColumn(**common, min_value=0, format="%,.2f")
    if question.kind is Kind.COUNT:
        return NumberColumn(**common, min_value=question.least, step=1)
    if question.kind is Kind.PICK and question.options:
        return SelectboxColumn(**common, options=[value for value, _ in question.options({})])
    if question.kind in {Kind.DAY, Kind.BIRTH_DAY}:
        return DateColumn(**common, format="DD/MM/YYYY")
    if question.kind is Kind.FLAG:
        return CheckboxColumn(**common)
    return TextColumn(**common, max_chars=question.longest)


def _value(value: Any) -> Any:
    return None if value is None or value == "" or pd.isna(value) else value
