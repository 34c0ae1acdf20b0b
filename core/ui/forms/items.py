"""A list of items on a form: one row of ordinary fields per item, and an empty row at the end to add one.

Ordinary fields instead of an editable table: keyboard and screen readers handle them like the rest of the form.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import streamlit as st

from core.ui.forms import widgets
from core.ui.forms.questions import Kind, Question
from core.ui.kit import words

_MOST = 200
_AMOUNT = re.compile(r"\d{1,14}(\.\d{1,2})?")
_NARROW = {Kind.MONEY, Kind.COUNT, Kind.DAY, Kind.BIRTH_DAY}


def draw_items(question: Question, *, key: str, say: Callable[[int], None]) -> list[dict[str, Any]]:
    """Draw the rows and return the filled ones; `say` shows the errors of a row, given its index, below it.

    Every change reruns the page, so that a new empty row appears and the sum is updated.
    """
    st.markdown(f"**{question.label}**")
    lines = _lines(question, key)
    filled = []
    for place, line in enumerate(lines):
        row = _line(question, key=f"{key}.{line}", number=place + 1, remove=_remover(key, line))
        if row:
            filled.append(row)
            say(place)
    _show_sum(question, filled)
    return filled


def begin(key: str, count: int) -> None:
    """Start with `count` rows, whose fields have the keys `{key}.0.{column}` and so on."""
    st.session_state.setdefault(f"{key}.lines", tuple(range(count)))


def list_emptied(question: Question, key: str) -> dict[str, Any]:
    """Return the widget keys of all rows, each with the value that empties its field."""
    rows: tuple[int, ...] = st.session_state.get(f"{key}.lines", ())
    found: dict[str, Any] = {}
    for row in rows:
        for column in question.columns:
            found |= widgets.list_emptied(column, f"{key}.{row}.{column.name}")
    return found


def place(question: Question, inside: str) -> tuple[int, str]:
    """Return the row and column of an error: "0.amount" is in row 0, under "Amount (₦)"."""
    row, _, name = inside.partition(".")
    label = next((column.label for column in question.columns if column.name == name), words.title(name))
    return (int(row) if row.isdigit() else 0), label


def read_back(question: Question, rows: Sequence[Any]) -> str:
    """Return the rows as text, for the review."""
    return "; ".join(
        ", ".join(
            words.naira_of(getattr(row, column.name)) if column.kind is Kind.MONEY else str(getattr(row, column.name))
            for column in question.columns
            if getattr(row, column.name) is not None
        )
        for row in rows
    )


def _lines(question: Question, key: str) -> tuple[int, ...]:
    """Return the numbers of the filled rows and of one empty row after them; a row keeps its number permanently."""
    known: tuple[int, ...] = st.session_state.get(f"{key}.lines", ())
    full = tuple(line for line in known if _holds(question, f"{key}.{line}"))
    empty = known[-1] if known and known[-1] not in full else max(known, default=-1) + 1
    lines = (*full, empty)[:_MOST]
    st.session_state[f"{key}.lines"] = lines
    return lines


def _holds(question: Question, key: str) -> bool:
    return any(st.session_state.get(f"{key}.{column.name}") for column in question.columns)


def _line(question: Question, *, key: str, number: int, remove: Callable[[], None]) -> dict[str, Any]:
    """Draw one row of fields and return its values by name."""
    widths = [2 if column.kind in _NARROW else 3 for column in question.columns]
    *places, end = st.columns([*widths, 1], vertical_alignment="bottom", gap="small")
    row: dict[str, Any] = {}
    for column, at in zip(question.columns, places, strict=True):
        named = replace(column, label=f"Item {number}, {column.label[:1].lower()}{column.label[1:]}")
        with at:
            row[column.name] = widgets.draw(named, key=f"{key}.{column.name}", typed=row, reruns=True)
    held = {name: value for name, value in row.items() if value not in {None, ""}}
    if held or _holds(question, key):
        end.button("Remove", key=f"{key}.remove", type="tertiary", icon=":material/delete:", on_click=remove)
    return held


def _remover(key: str, line: int) -> Callable[[], None]:
    def remove() -> None:
        for name in [name for name in st.session_state if str(name).startswith(f"{key}.{line}.")]:
            del st.session_state[name]

    return remove


def _show_sum(question: Question, filled: Sequence[dict[str, Any]]) -> None:
    money = next((column.name for column in question.columns if column.kind is Kind.MONEY), None)
    if not filled:
        st.caption("Fill in one line for each item: another one appears below it.")
        return
    counted = "1 item" if len(filled) == 1 else f"{len(filled)} items"
    amounts = [row.get(money, "") for row in filled] if money else []
    if amounts and all(map(_AMOUNT.fullmatch, amounts)):
        counted += f", together **{words.naira_of(sum(map(Decimal, amounts), Decimal(0)))}**"
    st.caption(f"{counted}.")
