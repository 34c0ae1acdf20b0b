"""A table of amounts (written, refunded, remaining), each split into its shares."""

from collections.abc import Mapping

import streamlit as st

from core.money import Split
from core.ui.kit import words

_NOTHING = Split(0, 0, 0)
_HEAD = "| | Premium | Insurers' share | Platform commission | Distributor commission |\n|:---|---:|---:|---:|---:|"


def draw(rows: Mapping[str, Split]) -> None:
    """Draw one row per amount: its total, and the three shares that add up to it."""
    lines = (_line(label, parts) for label, parts in rows.items())
    st.markdown("\n".join((_HEAD, *lines)))


def balance(gross: Split, given_back: Split, adjusted: Split = _NOTHING) -> dict[str, Split]:
    """Return the amounts written, refunded, adjusted (if any) and remaining."""
    corrected = {"Adjusted": adjusted} if adjusted != _NOTHING else {}
    return {"Written": gross, "Given back": given_back, **corrected, "Net": gross - given_back + adjusted}


def _line(label: str, parts: Split) -> str:
    amounts = (
        parts.total_minor,
        parts.provider_share_minor,
        parts.mca_profit_minor,
        parts.distributor_profit_minor,
    )
    return f"| {label} | {' | '.join(map(words.naira, amounts))} |"
