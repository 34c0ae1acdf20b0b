"""Policy search: one search field for any policy, and filters."""

from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Page
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.store.access import read_in, reading
from core.ui.frame import frame
from core.ui.kit import url_state
from core.ui.lists import export_panel, periods, saved_views, tables
from core.ui.lists.periods import SearchText, Selection

POLICIES = tables.of(
    policies.POLICIES,
    opens="policies/policy.py",
    narrow=("number", "customer", "state", "ends"),
    only_wide=("provider",),
)


@dataclass(frozen=True, slots=True)
class Search:
    """The parsed query parameters of the search, and its text."""

    box: SearchText
    selection: Selection[PolicyFilter]

    @property
    def fault(self) -> str | None:
        """The reason why the text cannot be searched."""
        return self.box.fault


def found(search: Search, names: Choices) -> Page[Row]:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        paging = POLICIES.paging(url_state.page())
        criteria, shown = search.selection.criteria, POLICIES.shown_columns
        return policies.search_policies(session, criteria, names, shown=shown, order=POLICIES.order, paging=paging)


def nothing(search: Search) -> None:
    if search.selection.is_changed:
        tables.show_no_match(POLICIES)
    else:
        st.info(
            "There is no policy in this mode yet. Sell one under Buy, or look at the other mode with the switch in"
            " the menu.",
            icon=":material/rocket_launch:",
        )


def results(search: Search, page: Page[Row]) -> None:
    days = periods.describe_period(search.selection.window) if search.selection.window else "All time"
    sold = f"sold {days[:1].lower() + days[1:]}{periods.describe_search(search.box)}"
    line, address = f"{POLICIES.count_text(page.total_count)} · {sold}", search.selection.criteria.address()
    offer = partial(export_panel.offer, "policies", address, rows=page.total_count, line=line, table=POLICIES)
    tables.draw_page(POLICIES, page, above=offer)


def draw() -> None:
    person = frame.require("operations", "claims", "supervisor")
    frame.page_header("Policy search", "Find any policy by its number, plate or customer, and see where it stands.")
    names = read_in(frame.scope(), load_choices)
    search = read_filters(names)
    draw_filters(search, names, person)
    if search.fault:
        return
    page = found(search, names)
    if page.total_count:
        results(search, page)
    else:
        nothing(search)


def read_filters(names: Choices) -> Search:
    """Read the search from the URL; unknown values of a choice are dropped, a wrong text is shown beside its field."""
    box = periods.read_search()
    given = {**box.address, **{name: _known(name) for name in ("force", "role")}}
    return Search(box, periods.read(PolicyFilter, names, usual=periods.ALL, given=given))


def _known(parameter: str) -> list[str]:
    fields = (field for field in PolicyFilter.FIELDS.values() if field.address == parameter)
    found = url_state.one_of(parameter, next(fields).options)  # type: ignore[attr-defined]
    return [found] if found else []


def draw_filters(search: Search, names: Choices, person: Person) -> None:
    """Draw the search field and the filters in one line."""
    periods.draw(
        search.selection, names, search=search.box, beside=lambda: saved_views.draw("policies/search.py", person)
    )
