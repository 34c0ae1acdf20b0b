"""One product: current, past and planned rates, its sellers, the texts for customers, and the history of changes."""

import streamlit as st

from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.catalogue import product_detail
from core.services.catalogue.product_detail import ProductDetail
from core.store.access import reading
from core.ui.admin import product_cards, product_page
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, facts, url_state, words
from core.ui.lists import tables


def history(product: ProductDetail) -> None:
    with reading(frame.scope()) as session:
        entries = audit.list_history(session, audit.subject_of("product", product.id))
        events = [AuditEvent(at=e.created_at, actor=e.actor, action=e.action, facts={}) for e in reversed(entries)]
    facts.log(events)
    st.caption("Before and after of each change are in the audit log.")


def draw() -> None:
    person = frame.require("operations")
    is_admin = person.has_role("admin")
    tables.back_link("products", "admin/products.py", "All products")
    product = record_pages.load("product", product_detail.get_product)
    with frame.header_with_buttons(
        f"{words.plain(product.name)} {words.badge('On sale' if product.active else 'Off')}",
        f"{words.plain(product.category)} of {words.plain(product.insurer)}",
        tab=f"{product.name} · Product",
    ):
        if is_admin:
            product_cards.buttons(product)
    actions.run()
    if is_admin:
        product_cards.draw_proposal(product, person)
    with st.grid(2, min_column_width=320, gap="small"):
        product_cards.product(product)
        product_cards.draw_rates(product)
    rates, sellers, texts, changes = url_state.tabs("Rates over time", "Who sells it", "Texts", "History")
    with rates:
        product_cards.time_line(product, person)
    with sellers:
        product_cards.sellers(product, person)
    with texts:
        if is_admin:
            product_page.draw(product)
        else:
            product_page.show(product)
    with changes:
        history(product)
    st.caption(f"Product {product.id} · version {product.version}")
