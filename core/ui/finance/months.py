"""The choice of a month, whose state is in the address."""

from collections.abc import Sequence
from datetime import date

import streamlit as st

from core.ui.kit import url_state


def newest_over(months: Sequence[date]) -> date:
    """Return the newest month that is over; `months` has the newest first, and begins with the one that runs."""
    return months[1] if len(months) > 1 else months[0]


def choose_month(months: Sequence[date], usual: date | None = None) -> date:
    """Draw the choice and return the month in the URL, or the usual one, else the newest that is over."""
    usual = usual or newest_over(months)
    month = next((each for each in months if f"{each:%Y-%m}" == st.query_params.get("month")), usual)
    names = {f"{each:%Y-%m}": f"{each:%B %Y}" for each in months}
    st.session_state["month"] = f"{month:%Y-%m}"
    st.selectbox(
        "Month",
        list(names),
        key="month",
        format_func=names.__getitem__,
        width=220,
        on_change=lambda: url_state.change({"month": [st.session_state["month"]]}),
    )
    return month
