"""Correcting what was submitted on the review of a claim: its amounts, and who claims (contract C12, C16)."""

from typing import Final

import streamlit as st

from core.covers.claims.request import CLAIMANTS
from core.services.claims.review.review import ClaimReview
from core.ui.claims import attempts as claim_attempts
from core.ui.claims import money_actions
from core.ui.claims.attempts import AMOUNTS, CLAIMANT, key
from core.ui.claims.review_actions import Hand
from core.ui.kit import attempts, words

_REASON: Final = "correction_reason"
_CLAIMANT: Final = (
    *("claimant_relation", "claimant_first_name", "claimant_last_name", "claimant_email", "claimant_phone_number"),
)


def draw(review: ClaimReview) -> None:
    """Draw the forms that correct the amounts and the claimant, until an offer was accepted."""
    if review.is_fixed:
        return
    with st.container(horizontal=True, gap="small"):
        _draw_amounts(review)
        _draw_claimant(review)


def _draw_amounts(review: ClaimReview) -> None:
    place = key(review.id, AMOUNTS)
    with st.popover("Correct the amounts", icon=":material/edit:", type="tertiary"):
        st.caption("Raising what is owed takes a supervisor. Before and after stay in the history.")
        for name, value in review.submitted_amounts.items():
            claim_attempts.propose(review.id, f"right {name}", words.as_typed(value) if value else "")
            _ask(review, place, f"right {name}", name, f"{words.title(name)} (₦)")
        _ask(review, place, f"amounts {_REASON}", _REASON, "Why")
        attempts.complain(place, *review.submitted_amounts, _REASON)
        st.button(
            "Save the amounts",
            key=key(review.id, "keep amounts"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(AMOUNTS, review, lambda hand: _correct(review, hand), {f"amounts {_REASON}": ""}),
        )


def _correct(review: ClaimReview, hand: Hand) -> str:
    amounts = {
        name: words.read_naira(claim_attempts.get_typed(review.id, f"right {name}"))
        for name in review.submitted_amounts
    }
    reason = claim_attempts.get_typed(review.id, f"amounts {_REASON}") or ""
    return money_actions.correct_amounts(hand, amounts=amounts, reason=reason)


def _draw_claimant(review: ClaimReview) -> None:
    place = key(review.id, CLAIMANT)
    with st.popover("Correct the claimant", icon=":material/person_edit:", type="tertiary"):
        st.selectbox("Who claims", CLAIMANTS, key=key(review.id, "claimant"), on_change="ignore")
        attempts.blame(place, "claimant")
        for name in _CLAIMANT:
            _ask(review, place, name, name, words.title(name.removeprefix("claimant_")))
        _ask(review, place, f"claimant {_REASON}", _REASON, "Why")
        attempts.complain(place, "claimant", *_CLAIMANT, _REASON)
        st.button(
            "Save the claimant",
            key=key(review.id, "keep claimant"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(CLAIMANT, review, lambda hand: _set_claimant(review, hand), {f"claimant {_REASON}": ""}),
        )


def _set_claimant(review: ClaimReview, hand: Hand) -> str:
    typed = {name: claim_attempts.get_typed(review.id, name) or "" for name in ("claimant", *_CLAIMANT)}
    reason = claim_attempts.get_typed(review.id, f"claimant {_REASON}") or ""
    return money_actions.set_claimant(hand, claimant=typed, reason=reason)


def _ask(review: ClaimReview, place: str, name: str, field: str, label: str) -> None:
    st.text_input(label, key=key(review.id, name), max_chars=500, autocomplete="off", on_change="ignore")
    attempts.blame(place, field)
