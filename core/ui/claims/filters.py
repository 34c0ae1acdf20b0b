"""The filters of the claims queue; their whole state is kept in the URL."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from uuid import UUID

import streamlit as st

from core.errors import InvalidInput
from core.services.address_reader import LONGEST
from core.services.claims.intake.requirements import CLAIM_STATUSES, DECLINE_REASONS
from core.services.claims.lists.search import NOBODY, ClaimFilter
from core.services.claims.lists.selection import NAMES, ClaimSelection, View
from core.services.claims.review.officers import Officer
from core.services.people.staff import Person
from core.ui.kit import url_state, words

USUAL: Final[View] = "mine"
TYPES: Final = ("Credit life", "Gadget")
# Views that are defined by the assignee, so the assignee filter does not apply.
_OF_ONE: Final = ("mine", "unassigned")
_DAYS: Final = (
    (("from", "Lodged from", "first"), ("to", "Lodged to (included)", "last")),
    (("incident_from", "Incident from", "incident_first"), ("incident_to", "Incident to (included)", "incident_last")),
    (("decided_from", "Decided from", "decided_first"), ("decided_to", "Decided to (included)", "decided_last")),
)
_TEXTS: Final = {
    "first_name": "First name",
    "last_name": "Last name",
    "phone": "Phone",
    "email": "E-mail",
    "owner": "Claim owner",
}
_AMOUNTS: Final = {"amount": "Claimed, ₦", "offer": "Offered, ₦", "estimate": "Repair estimate, ₦"}
_OF_DAYS: Final = [name for both in _DAYS for name, _, _ in both]
_BEHIND: Final = (*_OF_DAYS, *_TEXTS, *_AMOUNTS, "reason", "distributor")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed query parameters of the queue."""

    view: View
    selection: ClaimSelection

    @property
    def wanted(self) -> ClaimFilter:
        """Return the filter for the services."""
        return self.selection.wanted

    @property
    def narrowed(self) -> bool:
        """Return True if any filter other than the view is in use."""
        return bool(set(self.selection.address()) - {"view"} - ({"assigned"} if self.view in _OF_ONE else set()))

    @property
    def behind(self) -> int:
        """Return the number of filters in use under "More filters"."""
        return sum(name in _BEHIND for name in self.selection.address())


def read(person: Person) -> Asked:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    given = url_state.values(*NAMES)
    given["view"] = given["view"] or [USUAL]
    if given["view"][0].casefold() in _OF_ONE:
        given["assigned"] = []
    try:
        selection = ClaimSelection.read(given, me=person.id)
    except InvalidInput as error:
        url_state.way_back(error.faults)
    return Asked(selection.view or USUAL, selection)


def clear() -> None:
    """Remove every filter; keep the view and the order."""
    url_state.change({name: [] for name in NAMES if name != "view"})


def draw(asked: Asked, officers: Sequence[Officer]) -> None:
    """Draw the search field and the main filters."""
    chosen = asked.selection
    of_anybody = asked.view not in _OF_ONE
    with st.grid(2, min_column_width=300, gap="small"):
        find, others = st.container(), st.container()
    status, kind, *held = others.columns(3 if of_anybody else 2, gap="small")
    with find:
        url_state.search_box(
            "q",
            "Find",
            text=chosen.q,
            placeholder="Policy number, name, phone, e-mail or reference",
            longest=LONGEST,
        )
    with status:
        url_state.choices("status", "Status", _same(CLAIM_STATUSES), chosen=chosen.status, anything="Any status")
    with kind:
        types = dict.fromkeys((*TYPES, *chosen.type))
        url_state.choices("type", "Type", _same(types), chosen=chosen.type, anything="Any type")
    if of_anybody:
        with held[0]:
            _holder(chosen, officers)


def _holder(chosen: ClaimSelection, officers: Sequence[Officer]) -> None:
    people = {NOBODY: "Nobody", **{str(officer.id): officer.name for officer in officers}}
    held = str(chosen.assigned) if chosen.assigned else None
    if held and held not in people:
        people[held] = "Somebody who has left"
    url_state.choice("assigned", "Assigned to", people, chosen=held, anything="Anybody")


def more(asked: Asked, distributors: Mapping[UUID, str]) -> None:
    """Draw the less frequent filters and the reset button; to be placed in a row."""
    in_use = f" :blue-badge[{asked.behind}]" if asked.behind else ""
    with st.popover(f"More filters{in_use}", icon=":material/tune:"):
        _more(asked.selection, distributors)
    st.button(
        "Reset filters",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=clear,
        disabled=not asked.narrowed,
        help="Take every filter away, and keep the view.",
    )


def _more(chosen: ClaimSelection, distributors: Mapping[UUID, str]) -> None:
    with st.grid(3, min_column_width=170, gap="xsmall"):
        for both in _DAYS:
            start, end = ((name, label, getattr(chosen, part)) for name, label, part in both)
            url_state.day_boxes(start, end)
        url_state.choices(
            "reason", "Decline reason", _named(DECLINE_REASONS), chosen=chosen.reason, anything="Any reason"
        )
        known = {str(key): name for key, name in distributors.items()}
        sellers = [str(key) for key in chosen.distributor]
        url_state.choices("distributor", "Distributor", known, chosen=sellers, anything="Any distributor")
        for name, label in _TEXTS.items():
            url_state.text_box(name, label, text=getattr(chosen, name) or "", longest=LONGEST)
        for name, label in _AMOUNTS.items():
            url_state.text_box(name, label, text=_amount(getattr(chosen, name)), longest=LONGEST)
    st.caption(
        "Names, phone, e-mail and amounts match exactly, as in the search of the API; the claim owner matches in part."
    )


def _same(names: Iterable[str]) -> dict[str, str]:
    return {name: name for name in names}


def _named(names: Sequence[str]) -> dict[str, str]:
    return {name: words.title(name) for name in names}


def _amount(amount: Decimal | None) -> str:
    return "" if amount is None else words.as_typed(f"{amount:f}")
