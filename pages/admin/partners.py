"""Distributors and insurers: lists with connection and sales of each."""

from typing import Any

import streamlit as st

from core.services.insurers import list as insurer_list
from core.services.people.staff import Person
from core.services.sales.distributors import ORDERS, DistributorFilter, list_distributors
from core.store.access import reading
from core.ui.admin import partner_actions
from core.ui.admin.partner_pages import DISTRIBUTORS, INSURERS
from core.ui.frame import frame
from core.ui.kit import actions, url_state
from core.ui.lists import filter_bar, filter_chips, saved_views, table_choices, tables

VIEWS = {"distributors": "Distributors", "insurers": "Insurers"}


def distributors(person: Person) -> None:
    wanted = filter_bar.read(DistributorFilter)
    filter_chips.draw(wanted, beside=lambda: add_button(person))
    with st.skeleton(height=300), reading(frame.scope()) as session:
        page = list_distributors(
            session,
            wanted,
            DISTRIBUTORS.paging(url_state.page()),
            order=DISTRIBUTORS.order_among(ORDERS),
        )
    if not page.total_count:
        nothing(narrowed=wanted != DistributorFilter())
        return
    number = tables.page_of(DISTRIBUTORS, page.total_count)
    if number is not None:
        heading(DISTRIBUTORS, page.total_count)
        tables.draw(DISTRIBUTORS, page.items, number=number, total=page.total_count)


def add_button(person: Person) -> None:
    saved_views.draw("admin/partners.py", person)
    actions.button("Add a distributor", partner_actions.adding, type="primary", icon="add_business")


def nothing(*, narrowed: bool) -> None:
    if narrowed:
        st.info("No distributor matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all distributors", type="primary", on_click=url_state.reset)
    else:
        st.info("There is no distributor yet. Add the first one above, then issue its key under API keys.")


def insurers(_: Person) -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = insurer_list.list_insurers(session)
    heading(INSURERS, len(rows))
    tables.draw(INSURERS, rows, number=1, total=len(rows))
    st.caption(
        "An insurer without a connection is served under delegated authority: issued here, to be reported by bordereau."
    )


def heading(table: tables.Table[Any], total: int) -> None:
    table_choices.head(table.count_text(total), table)


def draw() -> None:
    person = frame.require("admin")
    frame.page_header("Distributors and insurers", "Who sells, who insures, and how each of them does.")
    actions.run()
    {"distributors": distributors, "insurers": insurers}[url_state.choose_view(VIEWS)](person)
