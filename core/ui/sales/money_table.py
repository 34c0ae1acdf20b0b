"""Money that adds up: what was written, given back and is left, each beside the shares that make it up."""

from collections.abc import Mapping

import streamlit as st

from core.money import Split
from core.ui.kit import words

_HEAD = "| | Premium | Insurers' share | Platform commission | Distributor commission |\n|:---|---:|---:|---:|---:|"


def draw(rows: Mapping[str, Split]) -> None:
    """A row for each amount: its total, and the three shares that come to it."""
    lines = (_line(label, parts) for label, parts in rows.items())
    st.markdown("\n".join((_HEAD, *lines)))


def balance(gross: Split, given_back: Split) -> dict[str, Split]:
    """What was written, what of it was given back, and what is left."""
    return {"Written": gross, "Given back": given_back, "Net": gross - given_back}


def _line(label: str, parts: Split) -> str:
    amounts = (
        parts.total_minor,
        parts.provider_share_minor,
        parts.mca_profit_minor,
        parts.distributor_profit_minor,
    )
    return f"| {label} | {' | '.join(map(words.naira, amounts))} |"
