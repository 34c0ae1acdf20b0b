"""The search box above a list of sales: its text from the URL, what is wrong with it, and what it was searched as."""

from dataclasses import dataclass

import streamlit as st

from core.errors import InvalidInput
from core.services.lists.filters.field import Field
from core.services.sales import filter as sales_filter
from core.ui.forms import forms
from core.ui.kit import words
from core.ui.lists import filter_bar

_FIND = "find"


@dataclass(frozen=True, slots=True)
class SearchText:
    """The text as it stands in the URL, and the fault that keeps it from being searched."""

    text: str
    fault: str | None

    @property
    def address(self) -> dict[str, list[str]]:
        """The parameter for the filter: none for a text with a fault, which is shown beside the box."""
        return {_FIND: [] if self.fault or not self.text else [self.text]}


def read() -> SearchText:
    """Read the text from the URL."""
    text = st.query_params.get(_FIND, "").strip()
    try:
        sales_filter.normalise_text(text)
    except InvalidInput as error:
        return SearchText(text, error.faults[0].message)
    return SearchText(text, None)


def draw(field: Field, search: SearchText) -> None:
    """Draw the box."""
    filter_bar.draw_field(field, search.text, {})


def complain(search: SearchText) -> None:
    """Draw what keeps the text from being searched."""
    if search.fault:
        st.markdown(forms.complaint(search.fault))


def describe(search: SearchText) -> str:
    """Return the end of the sentence on a list: as what its text was searched, "" without one."""
    return f" · looked for as {_list_kinds(search.text)}" if search.text and not search.fault else ""


def _list_kinds(text: str) -> str:
    kinds = [words.plain(kind) for kind in sales_filter.detect_kinds(sales_filter.normalise_text(text))]
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
