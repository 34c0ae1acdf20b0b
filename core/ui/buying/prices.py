"""Display of a price: the amount and its calculation steps."""

from collections.abc import Sequence

import streamlit as st

from core.covers.cover import Price, Step
from core.ui.kit import words


def show(price: Price, *, label: str = "Premium") -> None:
    """Show the premium in large type, above its calculation steps."""
    st.metric(label, words.naira_of(price.total))
    show_steps(price.steps)


def show_steps(steps: Sequence[Step]) -> None:
    """Show calculation steps as a table; the last one is the result."""
    rows = [(step.label, step.working, words.naira_of(step.amount)) for step in steps]
    lines = [[f":small[{words.plain(cell)}]" for cell in row] for row in rows]
    lines[-1] = [f"**{cell}**" for cell in lines[-1]]
    # A Markdown table, because it can align money to the right.
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    st.markdown(f"| :small[Step] | :small[How] | :small[Amount] |\n|:---|:---|---:|\n{table}")
