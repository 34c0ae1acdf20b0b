"""The filters of the renewals: those of the sales, the days on which the policy ends, and the outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from core import clock
from core.errors import InvalidInput
from core.services.dimensions import Choices
from core.services.filters import SalesFilter
from core.services.renewals.selection import RenewalSelection
from core.ui.kit import frame, periods, url_state
from core.ui.sales import sales_filters
from core.ui.sales.sales_filters import Asked

DEFAULT = periods.ALL
STATUSES: Mapping[str, str] = {"true": "Took effect", "false": "Failed or reversed"}
_OWN = ("expires_from", "expires_to", "status")
_FARTHEST_MONTHS = 120


@dataclass(frozen=True, slots=True)
class RenewalsAsked:
    """The parsed query parameters of the renewals."""

    asked: Asked
    selection: RenewalSelection

    @property
    def wanted(self) -> SalesFilter:
        """Return the filter for the services."""
        return self.selection.wanted

    @property
    def own(self) -> bool:
        """Return True if a filter that only this screen has is in use."""
        return self.selection != RenewalSelection(sales=self.selection.sales)

    @property
    def narrowed(self) -> bool:
        """Return True if anything is selected."""
        return self.own or self.asked.narrowed or self.asked.period != DEFAULT

    @property
    def link(self) -> dict[str, list[str]]:
        """Return the query of the same renewals in the same mode."""
        return {**self.selection.address(), **{name: [value] for name, value in frame.mode_query().items()}}


def read(names: Choices) -> RenewalsAsked:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    asked = sales_filters.read(names, default=DEFAULT)
    try:
        own = RenewalSelection.read(url_state.values(*_OWN))
    except InvalidInput as error:
        url_state.way_back(error.faults)
    return RenewalsAsked(asked, replace(own, sales=asked.selection))


def draw(found: RenewalsAsked, names: Choices) -> None:
    """Draw the period of the renewal, then the filters."""
    chosen = found.selection
    sales_filters.draw_period(found.asked, offer=list(periods.NAMES), default=DEFAULT, also_narrowed=found.own)
    latest = clock.add_months(clock.today(), _FARTHEST_MONTHS)
    with st.grid(3, min_column_width=190, gap="xsmall"):
        sales_filters.draw_members(found.asked, names, "provider", "category", "product", "distributor")
        sales_filters.draw_email(found.asked)
        sales_filters.draw_sources(found.asked)
        url_state.choice("status", "Status", STATUSES, chosen=_flag(chosen.status), anything="Any status")
        url_state.day_boxes(
            ("expires_from", "Policy ends from", chosen.expires_first),
            ("expires_to", "Policy ends to (included)", chosen.expires_last),
            latest=latest,
        )


def _flag(status: bool | None) -> str | None:  # noqa: FBT001 - the value of a filter
    return None if status is None else str(status).lower()
