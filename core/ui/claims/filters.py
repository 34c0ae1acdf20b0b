"""The filters of the claims queue; their whole state is kept in the URL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

import streamlit as st

from core.services.claims.lists.filter import ASSIGNED_VIEWS, NOBODY, ClaimFilter, View
from core.services.claims.review.officers import Officer
from core.services.people.staff import Person
from core.ui.kit import url_state
from core.ui.lists import filter_bar

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


def draw(criteria: ClaimFilter, officers: Sequence[Officer]) -> None:
    """Draw the search field and the main filters."""
    people = {NOBODY: "Nobody", **{str(officer.id): officer.name for officer in officers}}
    held = str(criteria.assigned) if criteria.assigned else None
    if held and held not in people:
        people[held] = "Somebody who has left"
    of_anybody = criteria.view not in ASSIGNED_VIEWS
    with st.grid(2, min_column_width=300, gap="small"):
        filter_bar.draw(criteria, place="search")
        with st.grid(3 if of_anybody else 2, gap="small"):
            filter_bar.draw(criteria, options={"assigned": people}, leave_out=() if of_anybody else ("assigned",))


def more(criteria: ClaimFilter, distributors: Mapping[UUID, str]) -> None:
    """Draw the less frequent filters and the reset button; to be placed in a row."""
    behind = sum(len(field.write(value)) for _, field, value in criteria.in_use() if field.place == "more")
    in_use = f" :blue-badge[{behind}]" if behind else ""
    with st.popover(f"More filters{in_use}", icon=":material/tune:"):
        with st.grid(3, min_column_width=170, gap="xsmall"):
            filter_bar.draw(criteria, {"distributor": distributors}, place="more")
        st.caption(
            "Names, phone, e-mail and amounts match exactly, as in the search of the API; the claim owner matches in"
            " part."
        )
    st.button(
        "Reset filters",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=clear,
        disabled=not is_narrowed(criteria),
        help="Take every filter away, and keep the view.",
    )
