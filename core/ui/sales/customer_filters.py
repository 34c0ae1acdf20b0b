"""The filters of the customer list: a search field and filters, whose whole state is kept in the URL."""

from collections.abc import Mapping

import streamlit as st

from core.errors import FieldFault, InvalidInput
from core.services.customers.selection import NAMES, CustomerSelection
from core.services.dimensions import Choices
from core.ui.kit import url_state

FORCE: Mapping[str, str] = {"yes": "In force now", "no": "None in force"}
_LONGEST = 100


def read(names: Choices) -> CustomerSelection:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    try:
        found = CustomerSelection.read(url_state.values(*NAMES))
        _refuse_unknown(found, names)
    except InvalidInput as error:
        url_state.way_back(error.faults)
    return found


def _refuse_unknown(found: CustomerSelection, names: Choices) -> None:
    unknown = [key for key in found.distributor if key not in names.names["distributor"]]
    if unknown:
        raise InvalidInput(
            [FieldFault("distributor", f"names distributor {key}, which is not known here") for key in unknown]
        )


def draw(found: CustomerSelection, names: Choices) -> None:
    """Draw the search field, then the filters."""
    url_state.search_box("q", "Find", text=found.q, placeholder="Any part of a name, e-mail or phone", longest=_LONGEST)
    with st.grid(5, min_column_width=140, gap="xsmall", vertical_alignment="bottom"):
        url_state.choices(
            "distributor",
            "Distributor",
            {str(key): name for key, name in names.names["distributor"].items()},
            chosen=[str(key) for key in found.distributor],
            anything="All distributors",
        )
        url_state.choice("force", "Cover", FORCE, chosen=found.force, anything="With or without")
        url_state.day_boxes(("from", "First met from", found.first), ("to", "To (included)", found.last))
        url_state.reset_button(shown=found != CustomerSelection())
