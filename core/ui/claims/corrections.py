"""Correcting what was submitted on the review of a claim: its amounts, and who claims (contract C12, C16)."""

from typing import Final

import streamlit as st

from core.covers.claims.request import CLAIMANTS
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import corrections
from core.ui.claims.claim_actions import changing, draw_form, propose
from core.ui.kit import words
from core.ui.kit.actions import Choice, Naira, Text

_REASON: Final = "correction_reason"
_WHY: Final = Text(_REASON, "Why", longest=500)
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
    for name, value in review.submitted_amounts.items():
        propose(review.id, f"right {name}", words.as_typed(value) if value else "")
    save = changing(
        review,
        "Save the amounts",
        lambda session, typed, by: corrections.correct_amounts(
            session,
            review.id,
            amounts={name: typed[name] for name in review.submitted_amounts if typed[name]},
            reason=typed[_REASON],
            person=by,
            version=review.version,
        ),
        "The amounts are corrected, and the checks are made with them.",
        fields=[*(Naira(name, f"{words.title(name)} (₦)") for name in review.submitted_amounts), _WHY],
        keeps_typed=True,
        clears={f"right {_REASON}": ""},
    )
    with st.popover("Correct the amounts", icon=":material/edit:", type="tertiary"):
        st.caption("Raising what is owed takes a supervisor. Before and after stay in the history.")
        draw_form(review, save, "keep amounts", prefix="right ")


def _draw_claimant(review: ClaimReview) -> None:
    save = changing(
        review,
        "Save the claimant",
        lambda session, typed, by: corrections.set_claimant(
            session,
            review.id,
            claimant={name: typed[name] for name in ("claimant", *_CLAIMANT)},
            reason=typed[_REASON],
            person=by,
            version=review.version,
        ),
        "The claimant is kept.",
        fields=[
            Choice("claimant", "Who claims", options={each: each for each in CLAIMANTS}, value=CLAIMANTS[0]),
            *(Text(name, words.title(name.removeprefix("claimant_")), longest=500) for name in _CLAIMANT),
            _WHY,
        ],
        keeps_typed=True,
        clears={_REASON: ""},
    )
    with st.popover("Correct the claimant", icon=":material/person_edit:", type="tertiary"):
        draw_form(review, save, "keep claimant")
