"""Policy search: one search field for any policy, and filters."""

from functools import partial

import streamlit as st

from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Page
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.store.access import read_in, reading
from core.ui.frame import frame
from core.ui.kit import url_state
from core.ui.lists import export_panel, periods, tables
from core.ui.lists.periods import Selection

POLICIES = tables.of(
    policies.POLICIES,
    opens="policies/policy.py",
    narrow=("number", "customer", "state", "ends"),
    only_wide=("provider",),
)


def find_page(selection: Selection[PolicyFilter], names: Choices) -> Page[Row]:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        paging, shown = POLICIES.paging(url_state.page()), POLICIES.shown_columns
        return policies.search_policies(
            session, selection.criteria, names, shown=shown, order=POLICIES.order, paging=paging
        )


def nothing(selection: Selection[PolicyFilter]) -> None:
    if selection.is_changed:
        tables.show_no_match(POLICIES)
    else:
        st.info(
            "There is no policy in this mode yet. Sell one under Buy, or look at the other mode with the switch in"
            " the menu.",
            icon=":material/rocket_launch:",
        )


def results(selection: Selection[PolicyFilter], page: Page[Row]) -> None:
    sold = f"sold {selection.text[:1].lower()}{selection.text[1:]}"
    line, address = f"{POLICIES.count_text(page.total_count)} · {sold}", selection.criteria.address()
    offer = partial(export_panel.offer, "policies", address, rows=page.total_count, line=line, table=POLICIES)
    tables.draw_page(POLICIES, page, above=offer)


def draw() -> None:
    person = frame.require("operations", "claims", "supervisor")
    frame.page_header("Policy search", "Find any policy by its number, plate or customer, and see where it stands.")
    names = read_in(frame.scope(), load_choices)
    # Unknown words of these choices are dropped.
    known = {name: _known(name) for name in ("force", "role")}
    selection = periods.choose(PolicyFilter, names, person, path="policies/search.py", given=known)
    if selection is None:
        return
    page = find_page(selection, names)
    if page.total_count:
        results(selection, page)
    else:
        nothing(selection)


def _known(parameter: str) -> list[str]:
    fields = (field for field in PolicyFilter.FIELDS.values() if field.address == parameter)
    found = url_state.one_of(parameter, next(fields).options)  # type: ignore[attr-defined]
    return [found] if found else []
