"""The filters of the movements: those of the sales, and the kinds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from core.errors import InvalidInput
from core.services.dimensions import Choices
from core.services.finance.selection import KIND_NAMES, MovementSelection
from core.ui.kit import frame, periods, url_state
from core.ui.sales import sales_filters
from core.ui.sales.sales_filters import Asked

DEFAULT = periods.ALL
_KIND = "kind"


@dataclass(frozen=True, slots=True)
class MovementsAsked:
    """The parsed query parameters of the movements."""

    asked: Asked
    selection: MovementSelection

    @property
    def narrowed(self) -> bool:
        """Return True if anything differs from what the screen shows by itself."""
        return bool(self.selection.kind) or self.asked.narrowed or self.asked.period != DEFAULT

    @property
    def link(self) -> Mapping[str, list[str]]:
        """Return the query of the same movements in the same mode."""
        return {**self.selection.address(), **{name: [value] for name, value in frame.mode_query().items()}}


def read(names: Choices) -> MovementsAsked:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    asked = sales_filters.read(names, default=DEFAULT)
    try:
        own = MovementSelection.read(url_state.values(_KIND))
    except InvalidInput as error:
        url_state.way_back(error.faults)
    return MovementsAsked(asked, replace(own, sales=asked.selection))


def draw(found: MovementsAsked, names: Choices) -> None:
    """Draw the period, the dimensions of sales, the customer and the kinds."""
    sales_filters.draw_period(
        found.asked, offer=list(periods.NAMES), default=DEFAULT, also_narrowed=bool(found.selection.kind)
    )
    with st.grid(3, min_column_width=190, gap="xsmall"):
        sales_filters.draw_members(found.asked, names, "provider", "category", "product", "distributor")
        sales_filters.draw_email(found.asked)
        url_state.choices(_KIND, "Kind", KIND_NAMES, chosen=found.selection.kind, anything="All kinds")
