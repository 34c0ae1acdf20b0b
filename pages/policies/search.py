"""Policy search: one search field for any policy, and filters."""

import streamlit as st

from core.services.dimensions import Choices, load_choices
from core.services.lists.listing import Row
from core.services.paging import Page
from core.services.policies import policies
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import url_state
from core.ui.lists import export_panel, periods, tables
from core.ui.lists.record_tables import POLICIES
from core.ui.policies import filters as policy_filters
from core.ui.policies.filters import Search
from core.ui.sales import search_box


def found(search: Search, names: Choices) -> Page[Row]:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        paging = POLICIES.paging(url_state.page())
        criteria, shown = search.asked.criteria, POLICIES.shown_columns
        return policies.search_policies(session, criteria, names, shown=shown, order=POLICIES.order, paging=paging)


def nothing(search: Search) -> None:
    if search.asked.is_changed:
        st.info("No policy matches.", icon=":material/search_off:")
        st.button("Show all policies", type="primary", on_click=url_state.reset)
    else:
        st.info(
            "There is no policy in this mode yet. Sell one under Buy, or look at the other mode with the switch in"
            " the menu.",
            icon=":material/rocket_launch:",
        )


def results(search: Search, page: Page[Row]) -> None:
    number = tables.page_of(POLICIES, page.total_count)
    if number is None:
        return
    days = periods.describe_period(search.asked.window) if search.asked.window else "All time"
    export_panel.offer(
        "policies",
        search.asked.criteria.address(),
        rows=page.total_count,
        line=f"{POLICIES.count_text(page.total_count)} · sold {days[:1].lower() + days[1:]}"
        f"{search_box.describe(search.box)}",
        table=POLICIES,
    )
    tables.draw(POLICIES, page.items, number=number, total=page.total_count)


def draw() -> None:
    person = frame.require("operations", "claims", "supervisor")
    frame.page_header("Policy search", "Find any policy by its number, plate or customer, and see where it stands.")
    with reading(frame.scope()) as session:
        names = load_choices(session)
    search = policy_filters.read(names)
    policy_filters.draw(search, names, person)
    if search.fault:
        return
    page = found(search, names)
    if page.total_count:
        results(search, page)
    else:
        nothing(search)
