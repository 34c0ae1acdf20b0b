"""The filters of the claims queue; their whole state is kept in the URL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import streamlit as st

from core.services.claims.lists.filter import ASSIGNED_VIEWS, NOBODY, ClaimFilter, View
from core.services.claims.review.officers import Officer
from core.services.people.staff import Person
from core.ui.claims import assignment
from core.ui.kit import url_state
from core.ui.lists import filter_bar, filter_chips, saved_views

USUAL: Final[View] = "mine"


def read(person: Person) -> ClaimFilter:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    view = st.query_params.get_all("view") or [USUAL]
    given = {"view": view, **({"assigned": []} if view[0].casefold() in ASSIGNED_VIEWS else {})}
    return filter_bar.read(ClaimFilter, given=given, me=person.id)


def is_narrowed(criteria: ClaimFilter) -> bool:
    """Return True if any filter other than the view is in use."""
    assigned = None if criteria.view in ASSIGNED_VIEWS else criteria.assigned
    return replace(criteria, view=None, assigned=assigned) != ClaimFilter()


def clear() -> None:
    """Remove every filter; keep the view and the order."""
    url_state.change({each.name: [] for each in ClaimFilter.parameters() if each.name != "view"})


def draw(criteria: ClaimFilter, officers: Sequence[Officer], distributors: Mapping[UUID, str], person: Person) -> None:
    """Draw the search field, the filters in one line, and the saved views."""
    people = {NOBODY: "Nobody", **{str(officer.id): officer.name for officer in officers}}
    held = str(criteria.assigned) if criteria.assigned else None
    if held and held not in people:
        people[held] = "Somebody who has left"
    filter_chips.draw(
        criteria,
        {"distributor": distributors},
        options={"assigned": people},
        leave_out=("assigned",) if criteria.view in ASSIGNED_VIEWS else (),
        more=_matching_note,
        reset=lambda: _reset_button(criteria),
        beside=lambda: _views_and_next(person),
    )


def _views_and_next(person: Person) -> None:
    saved_views.draw("claims/queue.py", person)
    assignment.take_button(person)


def _matching_note() -> None:
    st.caption(
        "Names, phone, e-mail and amounts match exactly, as in the search of the API; the claim owner matches in part."
    )


def _reset_button(criteria: ClaimFilter) -> None:
    st.button(
        "Reset filters",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=clear,
        disabled=not is_narrowed(criteria),
        help="Take every filter away, and keep the view.",
    )
