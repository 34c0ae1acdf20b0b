"""Customers: one search field, filters, and the total bought by each."""

import streamlit as st

from core.services.customers import table as customers_table
from core.services.customers.customers import CustomerFilter
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Page
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import url_state
from core.ui.lists import export_panel, filter_bar, saved_views, tables

CUSTOMERS = tables.of(
    customers_table.CUSTOMERS,
    opens="sales/customer.py",
    home=("sales/customers.py", "Back to the customers"),
    narrow=("name", "email", "phone", "premium"),
)


def found(criteria: CustomerFilter, names: Choices) -> Page[Row]:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        return customers_table.list_customers(
            session,
            criteria,
            names,
            shown=CUSTOMERS.shown_columns,
            order=CUSTOMERS.order,
            paging=CUSTOMERS.paging(url_state.page()),
        )


def nothing(criteria: CustomerFilter) -> None:
    if criteria != CustomerFilter():
        st.info("No customer matches.", icon=":material/search_off:")
        st.button("Show all customers", type="primary", on_click=url_state.reset)
    else:
        st.info(
            "There is no customer in this mode yet: the first sale makes one. Look at the other mode with the switch"
            " in the menu.",
            icon=":material/rocket_launch:",
        )


def results(page: Page[Row], criteria: CustomerFilter) -> None:
    number = tables.page_of(CUSTOMERS, page.total_count)
    if number is None:
        return
    export_panel.offer(
        "customers",
        criteria.address(),
        rows=page.total_count,
        line=CUSTOMERS.count_text(page.total_count),
        table=CUSTOMERS,
    )
    tables.draw(CUSTOMERS, page.items, number=number, total=page.total_count)


def draw() -> None:
    person = frame.require("operations", "claims")
    frame.page_header("Customers", "Find a customer, with everything they bought and claimed.")
    with reading(frame.scope()) as session:
        names = load_choices(session)
    criteria = filter_bar.read(CustomerFilter, names.names)
    filter_bar.draw_chips(criteria, names.names, beside=lambda: saved_views.draw("sales/customers.py", person))
    page = found(criteria, names)
    if page.total_count:
        results(page, criteria)
    else:
        nothing(criteria)
