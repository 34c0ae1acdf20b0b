"""The way from a decided claim to the next one: the officer's most urgent, or else the next that nobody has."""

from typing import Final
from uuid import UUID

import streamlit as st

from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import assignment
from core.states.claims import CLAIMS_ROLES
from core.ui.claims import claim_actions
from core.ui.claims.claim_actions import DECIDED, key
from core.ui.frame import page_links
from core.ui.kit.actions import Action

_NEXT: Final = "claims_next"
REVIEW: Final = "claims/claim.py"


def follow() -> None:
    """Open the claim that was just asked for."""
    found: UUID | None = st.session_state.pop(_NEXT, None)
    if found is not None:
        page_links.go(REVIEW, id=str(found))


def draw(review: ClaimReview) -> None:
    """Draw the button once a decision was made on this claim."""
    if not claim_actions.get_typed(review.id, DECIDED):
        return
    find = Action(
        title="Next claim",
        roles=tuple(CLAIMS_ROLES),
        work=lambda session, _, by: assignment.find_next(session, person=by, after=review.id) or "",
        done=lambda found: "" if found else "Nothing is left to do: every open claim waits or has its officer.",
        then=lambda found: st.session_state.__setitem__(_NEXT, found or None),
    )
    st.button(
        find.title,
        key=key(review.id, "next"),
        icon=":material/skip_next:",
        type="primary",
        on_click=find.do,
        help="Your most urgent claim, or the next one that nobody has: it is yours then.",
    )
