"""The widgets of a form, one function for each kind of question; the widget key is the field's name."""

from collections.abc import Callable, Mapping
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
        options=list(options),
        selection_mode="multi",
        format_func=lambda value: options.get(value, value),
        **shared,
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
