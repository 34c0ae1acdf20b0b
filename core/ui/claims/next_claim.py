"""The way from a decided claim to the next one: the officer's most urgent, or else the next that nobody has."""

from typing import Final
from uuid import UUID

import streamlit as st

from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import assignment
from core.services.people.staff import Person
from core.store.access import transact
from core.ui.claims import attempts as claim_attempts
from core.ui.claims.attempts import DECIDED, key
from core.ui.frame import frame, page_links
from core.ui.kit import attempts

_NEXT: Final = "claims_next"
REVIEW: Final = "claims/claim.py"


def follow() -> None:
    """Open the claim that was just asked for."""
    found: UUID | None = st.session_state.pop(_NEXT, None)
    if found is not None:
        page_links.go(REVIEW, id=str(found))


def draw(review: ClaimReview, person: Person) -> None:
    """Draw the button once a decision was made on this claim."""
    if claim_attempts.get_typed(review.id, DECIDED):
        st.button(
            "Next claim",
            key=key(review.id, "next"),
            icon=":material/skip_next:",
            type="primary",
            on_click=_find,
            args=(review, person),
            help="Your most urgent claim, or the next one that nobody has: it is yours then.",
        )


def _find(review: ClaimReview, person: Person) -> None:
    found = transact(frame.scope(), lambda session: assignment.find_next(session, person=person, after=review.id))
    if found is None:
        attempts.keep_message(
            key(review.id, "claim"), "Nothing is left to do: every open claim waits or has its officer."
        )
    st.session_state[_NEXT] = found
