"""Facts of one record on a screen: label and value, the steps of a sum, what was submitted, what happened."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from core.services.sales.sale_detail import Event
from core.ui import words

# An instant as the log keeps it; at midnight UTC terms start and end, so that it means a day.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_MIDNIGHT = "T00:00:00.000Z"


def line(label: str, value: str) -> None:
    """One fact: what it is on the left, what it says on the right."""
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
        st.caption(words.plain(label), width="content")
        st.text(value, width="content")


def explained(steps: Sequence[Mapping[str, str]]) -> None:
    """The steps that led to the price."""
    if steps:
        with st.expander("How the price came about", icon=":material/calculate:"):
            table_of(steps)


def table_of(steps: Sequence[Mapping[str, str]]) -> None:
    """The steps of a sum as they were kept."""
    rows = [
        {"Step": step["step"], "Working": words.plain(step["working"]), "Amount": words.naira_of(step["amount"])}
        for step in steps
    ]
    st.table(rows, border="horizontal")


def submitted(values: Mapping[str, Any]) -> None:
    """What was submitted; personal numbers show their last four, pictures and papers are not shown."""
    with st.expander("What was submitted", icon=":material/description:"):
        masked(values)


def masked(values: Mapping[str, Any], *, named: Callable[[str], str] = words.title) -> None:
    """Values that carry personal data, as they may be seen; `named` writes their names."""
    st.caption("Personal numbers show their last four; pictures and papers are kept and not shown here.")
    rows = {words.plain(named(name)): words.plain(_text(value)) for name, value in values.items()}
    st.table(rows, border="horizontal", width="content") if rows else st.caption("Nothing was kept.")


def history(events: Sequence[Event]) -> None:
    """What the log says, oldest first."""
    with st.expander("History", icon=":material/history:", expanded=True):
        log(events)


def log(events: Sequence[Event]) -> None:
    """The entries of the log: what, when and who, with the facts below."""
    if not events:
        st.caption("The log holds nothing about this.")
    for event in events:
        said = " · ".join(f"{words.title(name)} {_text(value)}" for name, value in event.facts.items())
        st.markdown(f"**{words.title(event.action)}** · {words.moment(event.at)} · {words.plain(event.actor)}")
        if said:
            st.caption(words.plain(said))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if isinstance(value, Mapping):
        return ", ".join(f"{words.title(name).lower()} {_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return "; ".join(map(_text, value))
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        return words.day(value) if value.endswith(_MIDNIGHT) else words.moment(value)
    return "–" if value in (None, "") else str(value)
