"""The queue's views with their counts, which refresh on a timer without redrawing the rest of the screen."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import streamlit as st

from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import View
from core.services.claims.lists.totals import QueueCounts
from core.services.claims.workflow.clock import NEAR_DEADLINE, STATUTORY_PERIOD
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import url_state, words

EVERY: Final = timedelta(seconds=20)
NAMES: Final[Mapping[View, str]] = {
    "mine": "Mine",
    "unassigned": "Unassigned",
    "referred": "Referred",
    "lapsed": "Lapsed",
    "to_pay": "To pay",
    "near": "Overdue or near",
    "waiting": "Waiting",
    "open": "Open",
    "all": "All",
}
_SAYS: Final[Mapping[View, str]] = {
    "mine": "Yours: open, or paid and still to be settled.",
    "unassigned": "Open, and nobody has it yet.",
    "referred": "An officer has prepared a decision that a supervisor has to make.",
    "lapsed": "What was approved has changed since, or its approver has left: a new approval is needed.",
    "to_pay": "The offer was accepted and is not paid, or not all of it.",
    "near": f"The clock runs, and the {STATUTORY_PERIOD.days} days are over"
    f" or at most {NEAR_DEADLINE.days} of them are left.",
    "waiting": "An offer is out, or the claimant was asked for something: the clock stands still.",
    "open": "Not decided: neither paid nor declined.",
    "all": "Every claim, the decided ones too.",
}
_VIEW, _MOVED, _DRAWN = "claims_view", "claims_moved", "claims_drawn"


def get_counts(person: Person) -> QueueCounts:
    """Return the current counts."""
    with reading(frame.scope()) as session:
        return claim_totals.count_views(session, person)


def draw(person: Person, view: View, counts: QueueCounts) -> None:
    """Draw the choice of view; `counts` are those read together with the table below."""
    st.session_state[_DRAWN] = True
    _views(person, view, counts)


@st.fragment(run_every=EVERY)
def _views(person: Person, view: View, drawn: QueueCounts) -> None:
    counts = drawn
    if not st.session_state.pop(_DRAWN, False):
        # Triggered by the timer or by a click on another view: the table stays unchanged until somebody asks for
        # newer rows.
        if st.session_state.pop(_MOVED, False) or not frame.still_signed_in():
            st.rerun()
        counts = get_counts(person)
    st.session_state[_VIEW] = view
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.segmented_control(
            "View",
            list(NAMES),
            key=_VIEW,
            required=True,
            wrap=True,
            format_func=lambda name: f"{NAMES[name]} **{words.count(counts.views[name])}**",
            on_change=_go,
            label_visibility="collapsed",
        )
        if counts != drawn and st.button(
            "Newer claims: refresh",
            icon=":material/sync:",
            type="tertiary",
            help="The counts are newer than the table. What you have chosen or typed stays until you refresh.",
        ):
            st.rerun()


def describe(view: View, counts: QueueCounts) -> str:
    """Return what a view holds, and how many of its claims are over."""
    overdue = f" **{words.count(counts.overdue)}** are over." if view == "near" and counts.overdue else ""
    return f"{_SAYS[view]}{overdue}"


def _go() -> None:
    st.session_state[_MOVED] = True
    url_state.change({"view": [st.session_state[_VIEW]], "assigned": []})
