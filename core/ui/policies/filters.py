"""The filters of the policy search; like those of the sales, their whole state is kept in the URL."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from core.errors import InvalidInput
from core.services.dimensions import Choices
from core.services.filters import CustomerType, SalesFilter
from core.services.policies import search as policy_search
from core.services.policies.selection import PolicySelection
from core.ui.forms import forms
from core.ui.kit import periods, url_state, words
from core.ui.sales import sales_filters
from core.ui.sales.sales_filters import Asked

DEFAULT = periods.ALL
_FORCE: Mapping[str, str] = {"yes": "In force", "no": "Not in force"}
_ROLES: Mapping[CustomerType, str] = {"principal": "Principal", "beneficiary": "Beneficiary"}


@dataclass(frozen=True, slots=True)
class Search:
    """The parsed query parameters of the search."""

    text: str
    fault: str | None
    asked: Asked
    force: str | None
    role: CustomerType | None

    @property
    def selection(self) -> PolicySelection:
        """Return the selection in the form that an export takes."""
        return PolicySelection(sales=self.asked.selection, find=self.text, force=self.force, role=self.role)

    @property
    def wanted(self) -> SalesFilter:
        """Return the filter for the services, without the search text."""
        return self.selection.wanted

    @property
    def own(self) -> bool:
        """Return True if a filter that only this screen has is in use."""
        return bool(self.text or self.force or self.role)

    @property
    def narrowed(self) -> bool:
        """Return True if anything is selected."""
        return self.own or self.asked.narrowed or self.asked.period != DEFAULT


def read(names: Choices) -> Search:
    """Read the search from the URL; unknown values of a filter are dropped."""
    asked = sales_filters.read(names, default=DEFAULT)
    text = st.query_params.get("find", "")
    return Search(
        text=text.strip(),
        fault=_fault(text),
        asked=asked,
        force=url_state.one_of("force", _FORCE),
        role=url_state.one_of("role", _ROLES),
    )


def _fault(text: str) -> str | None:
    try:
        policy_search.normalise_text(text)
    except InvalidInput as error:
        return error.faults[0].message
    return None


def draw(search: Search, names: Choices) -> None:
    """Draw the search field, then the filters."""
    url_state.search_box(
        "find",
        "Find",
        text=search.text,
        placeholder="Policy number, plate, customer name, e-mail or phone",
        longest=policy_search.MAX_LENGTH,
    )
    if search.fault:
        st.markdown(forms.complaint(search.fault))
    elif search.text:
        st.caption(f"Looked for as {_kinds(search.text)}.")
    with st.grid(4, min_column_width=125, gap="xsmall"):
        sales_filters.draw_members(search.asked, names, "provider", "product")
        url_state.choice("force", "In force", _FORCE, chosen=search.force)
        url_state.choice("role", "Customer is", _ROLES, chosen=search.role)
    sales_filters.draw_period(search.asked, offer=list(periods.NAMES), default=DEFAULT, also_narrowed=search.own)


def _kinds(text: str) -> str:
    kinds = [words.plain(kind) for kind in policy_search.detect_kinds(policy_search.normalise_text(text))]
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
