"""The table of claims of one policy or customer, on any screen."""

from collections.abc import Sequence

import streamlit as st

from core.services.claims.review.related import ClaimLine
from core.ui.frame import frame
from core.ui.kit import words


def draw(lines: Sequence[ClaimLine], *, linked: bool, empty: str) -> None:
    """Draw claims as a table, each with its relation to the current one; `linked` ones can be opened."""
    if not lines:
        st.caption(empty)
        return
    heads = ["Claim", "Status", "About", "Incident", "Lodged", "Offer"]
    ties = any(line.relations for line in lines)
    rows = [_cells(line, linked=linked, ties=ties) for line in lines]
    head = [*heads, *(["Why"] if ties else [])]
    align = [":---"] * 5 + ["---:"] + [":---"] * (len(head) - 6)
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in (head, align, *rows)))


def _cells(line: ClaimLine, *, linked: bool, ties: bool) -> list[str]:
    name = words.plain(line.reference)
    return [
        f"[{name}]({frame.link('claim', id=str(line.id))})" if linked else name,
        words.badge(line.status),
        words.plain(line.description),
        words.day(line.incident_on),
        words.day(line.lodged_at),
        words.naira(line.offered_minor) if line.offered_minor else "–",
        *([words.plain(", ".join(line.relations))] if ties else []),
    ]
