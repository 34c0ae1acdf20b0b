"""Exports: the receipts of all exported files, each of which can be run again."""

from dataclasses import replace

import streamlit as st

from core.services.exports import receipts
from core.services.exports.receipts import Receipt, ReceiptFilter
from core.services.lists.paging import Page
from core.store.access import Scope, reading
from core.ui.frame import frame, page_links
from core.ui.kit import url_state
from core.ui.lists import filter_bar, saved_views, table_choices, tables
from pages.finance import export
from pages.finance.export import RECEIPTS


def nothing(wanted: ReceiptFilter) -> None:
    if wanted != ReceiptFilter():
        st.info("No export matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all exports", type="primary", on_click=url_state.reset)
        return
    st.info(
        "Nothing was exported in this mode yet. Open a list, narrow it as you like, and use Export CSV or Export XLSX:"
        " the receipt appears here.",
        icon=":material/rocket_launch:",
    )
    page_links.link("sales/purchases.py", label="Go to the purchases", icon=":material/receipt_long:")


def page_of(wanted: ReceiptFilter) -> Page[Receipt]:
    with reading(Scope.system()) as session:
        narrowed = replace(wanted, is_live=frame.mode())
        return receipts.list_receipts(
            session, narrowed, RECEIPTS.paging(url_state.page()), order=RECEIPTS.order_among(receipts.ORDERS)
        )


def draw() -> None:
    person = frame.require("finance", "operations")
    frame.page_header("Exports", "The receipt of every exported file; any of them can be run again and compared.")
    wanted = filter_bar.read(ReceiptFilter)
    with reading(Scope.system()) as session:
        people = dict(receipts.list_makers(session))
    filter_bar.draw_chips(
        wanted, options={"person": people}, beside=lambda: saved_views.draw("finance/exports.py", person)
    )
    with st.skeleton(height=300):
        found = page_of(wanted)
    if not found.total_count:
        nothing(wanted)
        return
    number = tables.page_of(RECEIPTS, found.total_count)
    if number is None:
        return
    table_choices.head(RECEIPTS.count_text(found.total_count), RECEIPTS)
    with reading(Scope.system()) as session:
        rows = export.receipt_rows(session, found.items)
    tables.draw(RECEIPTS, rows, number=number, total=found.total_count)
