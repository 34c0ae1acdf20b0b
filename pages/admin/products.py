"""Products: the list with current rates, status and planned changes."""

import streamlit as st

from core.errors import InvalidInput
from core.services.products import list as product_list
from core.services.products.list import NAMES, ProductSelection
from core.store.access import reading
from core.ui.admin.product_table import PRODUCTS
from core.ui.kit import frame, tables, url_state, words

ON = {"true": "On sale", "false": "Off"}


def asked() -> ProductSelection:
    try:
        return ProductSelection.read(url_state.values(*NAMES))
    except InvalidInput as error:
        url_state.way_back(error.faults)


def filters(wanted: ProductSelection) -> None:
    with st.grid(5, min_column_width=140, gap="xsmall", vertical_alignment="bottom"):
        url_state.search_box("q", "Find", text=wanted.q, placeholder="Name or endpoint", longest=100)
        for name, label, known in (("provider", "Insurer", insurers), ("category", "Category", categories)):
            url_state.choices(
                name,
                label,
                {str(key): value for key, value in known.items()},
                chosen=[str(key) for key in getattr(wanted, name)],
                anything="All",
            )
        on = None if wanted.on is None else str(wanted.on).lower()
        url_state.choice("on", "Sold", ON, chosen=on)
        url_state.reset_button(shown=wanted != ProductSelection())


person = frame.require("operations")
is_admin = person.has_role("admin")
todo = "open one to change it" if is_admin else "an admin changes them"
frame.page_header("Products", f"What is sold and at which prices, rates and commissions; {todo}.")
with reading(frame.scope()) as session:
    insurers, categories = product_list.load_choices(session)
    waiting = product_list.proposed(session) if is_admin else []
for product_id, name in waiting:
    st.page_link(
        "admin/product.py",
        label=f"A change of rates waits for a second admin: {words.plain(name)}",
        icon=":material/fact_check:",
        query_params={"id": str(product_id), **frame.mode_query()},
    )
wanted = asked()
filters(wanted)
with st.skeleton(height=300), reading(frame.scope()) as session:
    page = product_list.list_products(
        session, wanted, PRODUCTS.paging(url_state.page()), order=PRODUCTS.order_among(product_list.ORDERS)
    )
if not page.total_count:
    st.info("No product matches this selection.", icon=":material/filter_alt_off:")
    st.button("Show all products", type="primary", on_click=url_state.reset)
    st.stop()
number = tables.page_of(PRODUCTS, page.total_count)
if number is None:
    st.stop()
with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
    st.markdown(PRODUCTS.counted(page.total_count), width="content")
    tables.choices(PRODUCTS)
tables.draw(PRODUCTS, page.items, number=number, total=page.total_count)
st.caption("Commissions are the platform's and the distributor's part of the premium; the rest is the insurer's.")
