"""Products: the list with current rates, status and planned changes."""

import streamlit as st

from core.services.catalogue import product_list
from core.services.catalogue.product_list import ProductFilter, ProductRow
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import columns, filter_bar, saved_views, table_choices, tables
from core.ui.lists.tables import Table
from pages.admin import _products as products


def _withheld(row: ProductRow) -> str:
    return "–" if not row.withheld else f"{row.withheld} distributor{'s' if row.withheld > 1 else ''}"


PRODUCTS: Table[ProductRow] = Table(
    name="products",
    noun=("product", "products"),
    opens="admin/product.py",
    orders={
        "name": "Products from A to Z",
        "name-back": "Products from Z to A",
        "insurer": "Insurers from A to Z",
        "insurer-back": "Insurers from Z to A",
        "category": "Categories from A to Z",
        "category-back": "Categories from Z to A",
    },
    narrow=("name", "insurer", "on", "price"),
    columns={
        "name": columns.text("Product", lambda row: row.name, 260, sorts=("name", "name-back")),
        "insurer": columns.text("Insurer", lambda row: row.insurer, 190, sorts=("insurer", "insurer-back")),
        "on": columns.state("Sold", lambda row: "On sale" if row.active else "Off"),
        "price": columns.text("Price or rate", lambda row: products.price(row.tariff), 130),
        "commissions": columns.text("Commissions", lambda row: products.commissions(row.tariff), 130),
        "changes": columns.moment("Changes on", lambda row: row.changes_at),
        "withheld": columns.text("Switched off for", _withheld, 110, usual=False),
        "category": columns.text(
            "Category", lambda row: row.category, 160, usual=False, sorts=("category", "category-back")
        ),
        "endpoint": columns.text("Endpoint", lambda row: row.endpoint, 210, usual=False),
    },
)


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
    filter_bar.draw_chips(
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
