"""The widgets of a form, one function for each kind of question; the widget key is the field's name.

A list of items is one row of ordinary fields per item, and an empty row at the end to add one. Ordinary fields instead
of an editable table: keyboard and screen readers handle them like the rest of the form.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import streamlit as st

from core import clock
from core.ui.forms import uploads
from core.ui.forms.questions import Kind, Question
from core.ui.kit import words

Typed = Mapping[str, Any]
_ICONS = {Kind.EMAIL: ":material/mail:", Kind.PHONE: ":material/call:", Kind.LINK: ":material/link:"}
_PLACEHOLDERS = {Kind.EMAIL: "name@example.com", Kind.PHONE: "0803 123 4567", Kind.LINK: "https://"}
_WRITTEN = frozenset({Kind.TEXT, Kind.EMAIL, Kind.PHONE, Kind.LINK, Kind.LONG_TEXT, Kind.MONEY})
_OLDEST_MONTHS = 120 * 12
_FARTHEST_MONTHS = 20 * 12


def draw(question: Question, *, key: str, typed: Typed, reruns: bool) -> Any:
    """Draw the widget of a question and return its value; `typed` are the values of the fields before it.

    Only a field that others depend on reruns the page; the rest is sent with the next button click, so that typing is
    never interrupted. A value is kept while its widget is not drawn.
    """
    label = question.label if question.required else f"{question.label} (optional)"
    if question.kind is Kind.FILE:
        return uploads.draw_upload(label, key=key, help=question.help)
    shared = {
        "label": label,
        "key": key,
        "help": question.help,
        "on_change": "rerun" if reruns else "ignore",
        "persist_state": "page",
    }
    return _WIDGETS[question.kind](question, shared, typed)


def list_emptied(question: Question, key: str) -> dict[str, Any]:
    """Return the keys of a question's widgets, each with the value that empties it."""
    if question.kind is Kind.FILE:
        return uploads.list_emptied(key)
    return {key: "" if question.kind in _WRITTEN else [] if question.kind is Kind.SEVERAL else None}


def _text(question: Question, shared: dict[str, Any], _: Typed) -> Any:
    # Not Streamlit's own e-mail and link inputs: they return the last valid text while showing another.
    return st.text_input(
        icon=_ICONS.get(question.kind),
        max_chars=question.longest,
        placeholder=_PLACEHOLDERS.get(question.kind),
        autocomplete="off",
        **shared,
    )


def _long_text(question: Question, shared: dict[str, Any], _: Typed) -> Any:
    return st.text_area(max_chars=question.longest, **shared)


def _money(_: Question, shared: dict[str, Any], __: Typed) -> Any:
    return words.read_naira(st.text_input(placeholder="0.00", autocomplete="off", **shared))


def _count(question: Question, shared: dict[str, Any], _: Typed) -> Any:
    return st.number_input(value=question.default, min_value=question.least, max_value=question.most, step=1, **shared)


def _day(question: Question, shared: dict[str, Any], _: Typed) -> Any:
    today = clock.today()
    born = question.kind is Kind.BIRTH_DAY
    return st.date_input(
        value=None,
        min_value=clock.add_months(today, -_OLDEST_MONTHS if born else -_FARTHEST_MONTHS),
        max_value=clock.add_days(today, -1) if born else clock.add_months(today, _FARTHEST_MONTHS),
        format="DD/MM/YYYY",
        **shared,
    )


def _flag(question: Question, shared: dict[str, Any], _: Typed) -> Any:
    default = None if question.default is None else ("Yes" if question.default else "No")
    answer = st.segmented_control(options=["Yes", "No"], default=default, **shared)
    return None if answer is None else answer == "Yes"


def _pick(question: Question, shared: dict[str, Any], typed: Typed) -> Any:
    options = dict(question.options(typed)) if question.options else {}
    awaited = [words.title(name).lower() for name in question.after if not typed.get(name)]
    return st.selectbox(
        options=list(options),
        index=None,
        format_func=lambda value: options.get(value, value),
        placeholder=f"Choose the {awaited[0]} first" if awaited else "Choose",
        disabled=not options,
        **shared,
    )


def _several(question: Question, shared: dict[str, Any], typed: Typed) -> Any:
    options = dict(question.options(typed)) if question.options else {}
    return st.pills(
        options=list(options), selection_mode="multi", format_func=lambda value: options.get(value, value), **shared
    )


_WIDGETS: Mapping[Kind, Callable[[Question, dict[str, Any], Typed], Any]] = {
    Kind.TEXT: _text,
    Kind.EMAIL: _text,
    Kind.PHONE: _text,
    Kind.LINK: _text,
    Kind.LONG_TEXT: _long_text,
    Kind.MONEY: _money,
    Kind.COUNT: _count,
    Kind.DAY: _day,
    Kind.BIRTH_DAY: _day,
    Kind.FLAG: _flag,
    Kind.PICK: _pick,
    Kind.SEVERAL: _several,
}


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


def begin_items(key: str, count: int) -> None:
    """Start with `count` rows, whose fields have the keys `{key}.0.{column}` and so on."""
    st.session_state.setdefault(f"{key}.lines", tuple(range(count)))


def list_emptied_items(question: Question, key: str) -> dict[str, Any]:
    """Return the widget keys of all rows, each with the value that empties its field."""
    rows: tuple[int, ...] = st.session_state.get(f"{key}.lines", ())
    found: dict[str, Any] = {}
    for row in rows:
        for column in question.columns:
            found |= list_emptied(column, f"{key}.{row}.{column.name}")
    return found


def find_item(question: Question, inside: str) -> tuple[int, str]:
    """Return the row and column of an error: "0.amount" is in row 0, under "Amount (₦)"."""
    row, _, name = inside.partition(".")
    label = next((column.label for column in question.columns if column.name == name), words.title(name))
    return (int(row) if row.isdigit() else 0), label


def read_items_back(question: Question, rows: Sequence[Any]) -> str:
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
            row[column.name] = draw(named, key=f"{key}.{column.name}", typed=row, reruns=True)
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
