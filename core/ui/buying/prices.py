"""A price on a screen: the sum, and the steps that lead to it."""

from collections.abc import Sequence

import streamlit as st

from core.covers.cover import Price, Step
from core.ui.kit import words


def show(price: Price, *, label: str = "Premium") -> None:
    """The premium in large figures, above the steps of its sum."""
    st.metric(label, words.naira_of(price.total))
    show_steps(price.steps)


def show_steps(steps: Sequence[Step]) -> None:
    """The steps of a sum as a table; the last one is the result."""
    rows = [(step.label, step.working, words.naira_of(step.amount)) for step in steps]
    lines = [[f":small[{words.plain(cell)}]" for cell in row] for row in rows]
    lines[-1] = [f"**{cell}**" for cell in lines[-1]]
    # Money reads in a column only when it is aligned to the right, which a Markdown table can say.
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    st.markdown(f"| :small[Step] | :small[How] | :small[Amount] |\n|:---|:---|---:|\n{table}")
