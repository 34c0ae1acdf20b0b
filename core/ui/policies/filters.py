"""The filters of the policy search; like those of the sales, their whole state is kept in the URL."""

from dataclasses import dataclass

import streamlit as st

from core.errors import InvalidInput
from core.services.dimensions import Choices
from core.services.people.staff import Person
from core.services.policies import filter as policy_filter
from core.services.policies.filter import PolicyFilter
from core.ui.forms import forms
from core.ui.kit import url_state, words
from core.ui.lists import filter_bar, periods, saved_views
from core.ui.sales import sales_filters
from core.ui.sales.sales_filters import Asked


@dataclass(frozen=True, slots=True)
class Search:
    """The parsed query parameters of the search, and what is wrong with its text."""

    text: str
    fault: str | None
    asked: Asked[PolicyFilter]


def read(names: Choices) -> Search:
    """Read the search from the URL; unknown values of a choice are dropped, a wrong text is shown beside its field."""
    text = st.query_params.get("find", "").strip()
    fault = _fault(text)
    given = {"find": [] if fault else [text], **{name: _known(name) for name in ("force", "role")}}
    return Search(text, fault, sales_filters.read(PolicyFilter, names, usual=periods.ALL, given=given))


def _known(parameter: str) -> list[str]:
    fields = (field for field in PolicyFilter.FIELDS.values() if field.address == parameter)
    found = url_state.one_of(parameter, next(fields).options)  # type: ignore[attr-defined]
    return [found] if found else []


def _fault(text: str) -> str | None:
    try:
        policy_filter.normalise_text(text)
    except InvalidInput as error:
        return error.faults[0].message
    return None


def draw(search: Search, names: Choices, person: Person) -> None:
    """Draw the search field, then the filters."""
    filter_bar.draw_field(PolicyFilter.FIELDS["find"], search.text, {})
    if search.fault:
        st.markdown(forms.complaint(search.fault))
    elif search.text:
        st.caption(f"Looked for as {_kinds(search.text)}.")
    sales_filters.draw_period(search.asked)
    sales_filters.chips(
        search.asked, names, leave_out=("find",), beside=lambda: saved_views.draw("policies/search.py", person)
    )


def _kinds(text: str) -> str:
    kinds = [words.plain(kind) for kind in policy_filter.detect_kinds(policy_filter.normalise_text(text))]
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
