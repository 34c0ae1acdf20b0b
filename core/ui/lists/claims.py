"""Claims as other screens show them: those of one policy or customer, and the payee and the chain of one to be paid."""

from collections.abc import Sequence

import streamlit as st

from core import clock
from core.services.claims.review.related import ClaimLine
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow.judgement import Link
from core.ui.frame import frame
from core.ui.kit import words


def draw_claims(lines: Sequence[ClaimLine], *, linked: bool, empty: str) -> None:
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


def draw_chain(links: Sequence[Link]) -> None:
    """Show who did what before the payment: lodged, estimated, approved, payee set, handed over."""
    acts = (f"{link.act} by {words.plain(link.by)}, {words.day(clock.to_lagos_day(link.at))}" for link in links)
    st.caption(" · ".join(acts))


def describe_payee(review: ClaimReview) -> str:
    """Describe who is paid and on which account, by its last four digits."""
    payee = review.payee
    account = f", account ending in {payee.hint}" if payee.hint else ", account not named"
    bank = f" at {payee.bank_name}" if payee.bank_name else ""
    return f"{payee.name}{account}{bank}"
