"""Products: the list with current rates, status and planned changes."""

import streamlit as st

from core.services.catalogue import product_list
from core.services.catalogue.product_list import ProductFilter
from core.store.access import reading
from core.ui.admin.product_table import PRODUCTS
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import filter_bar, filter_chips, saved_views, table_choices, tables


def draw() -> None:
    person = frame.require("operations")
    is_admin = person.has_role("admin")
    todo = "open one to change it" if is_admin else "an admin changes them"
    frame.page_header("Products", f"What is sold and at which prices, rates and commissions; {todo}.")
    with reading(frame.scope()) as session:
        insurers, categories = product_list.load_choices(session)
        waiting = product_list.list_proposed(session) if is_admin else []
    for product_id, name in waiting:
        page_links.link(
            "admin/product.py",
            label=f"A change of rates waits for a second admin: {words.plain(name)}",
            icon=":material/fact_check:",
            query_params={"id": str(product_id), **frame.mode_query()},
        )
    wanted = filter_bar.read(ProductFilter)
    filter_chips.draw(
        wanted,
        {"provider": insurers, "category": categories},
        beside=lambda: saved_views.draw("admin/products.py", person),
    )
    with st.skeleton(height=300), reading(frame.scope()) as session:
        page = product_list.list_products(
            session, wanted, PRODUCTS.paging(url_state.page()), order=PRODUCTS.order_among(product_list.ORDERS)
        )
    if not page.total_count:
        st.info("No product matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all products", type="primary", on_click=url_state.reset)
        return
    number = tables.page_of(PRODUCTS, page.total_count)
    if number is None:
        return
    table_choices.head(PRODUCTS.count_text(page.total_count), PRODUCTS)
    tables.draw(PRODUCTS, page.items, number=number, total=page.total_count)
    st.caption("Commissions are the platform's and the distributor's part of the premium; the rest is the insurer's.")
