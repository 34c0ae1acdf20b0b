"""The payee of a claim and who did what before the payment, for those who pay it."""

from collections.abc import Sequence

import streamlit as st

from core import clock
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow.judgement import Link
from core.ui.kit import words


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
