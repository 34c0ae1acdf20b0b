"""Customers: one search field, filters, and the total bought by each."""

import streamlit as st

from core.services.customers import table as customers_table
from core.services.customers.selection import CustomerSelection
from core.services.customers.table import CustomerRow
from core.services.dimensions import load_choices
from core.services.paging import Page
from core.store.access import reading
from core.ui.exports import panel as export_panel
from core.ui.kit import frame, tables, url_state
from core.ui.sales import customer_filters
from core.ui.sales.customer_table import CUSTOMERS


def found(asked: CustomerSelection) -> Page[CustomerRow]:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        order, paging = CUSTOMERS.order_among(customers_table.ORDERS), CUSTOMERS.paging(url_state.page())
        return customers_table.list_customers(session, asked.wanted, names, order=order, paging=paging)


def nothing(asked: CustomerSelection) -> None:
    if asked != CustomerSelection():
        st.info("No customer matches.", icon=":material/search_off:")
        st.button("Show all customers", type="primary", on_click=url_state.reset)
    else:
        st.info(
            "There is no customer in this mode yet: the first sale makes one. Look at the other mode with the switch"
            " in the menu.",
            icon=":material/rocket_launch:",
        )


def results(page: Page[CustomerRow]) -> None:
    number = tables.page_of(CUSTOMERS, page.total_count)
    if number is None:
        return
    export_panel.offer("customers", asked.address(), rows=page.total_count, beside=lambda: tables.choices(CUSTOMERS))
    st.markdown(CUSTOMERS.counted(page.total_count))
    tables.draw(CUSTOMERS, page.items, number=number, total=page.total_count)


frame.require("operations", "claims")
frame.page_header("Customers", "Find anybody who was sold to, with all that they bought and claimed.")
with reading(frame.scope()) as session:
    names = load_choices(session)
asked = customer_filters.read(names)
customer_filters.draw(asked, names)
page = found(asked)
if page.total_count:
    results(page)
else:
    nothing(asked)
