"""One export receipt: its selection and result, and running the export again."""

import streamlit as st

from core.services.exports import receipts
from core.store.access import Scope, reading
from core.ui.exports import receipt_view
from core.ui.frame import frame, record_pages
from core.ui.kit import words
from core.ui.lists import tables


def draw() -> None:
    person = frame.require("finance", "operations")
    tables.back_link("receipts", "finance/exports.py", "Back to the exports")
    receipt = record_pages.load("receipt", receipts.get_complete, scope=Scope.system())
    with reading(Scope.system()) as session:
        (row,) = receipt_view.rows(session, [receipt])
        before = receipts.get_receipt(session, receipt.again_of) if receipt.again_of else None
        later = receipts.list_repeats(session, receipt.id)
    frame.page_header(
        f"Export of {row.kind.title.lower()}",
        f"Made by {words.plain(receipt.who)}, {words.moment(receipt.created_at)}.",
        tab=f"{row.kind.title}, {words.moment(receipt.created_at)} · Export",
    )
    receipt_view.run_again(row, person)
    receipt_view.draw_receipt(row)
    if before:
        st.subheader("Repeats an earlier export", anchor=False)
        receipt_view.draw_comparison(before, receipt)
        receipt_view.link(before.id, f"The export of {words.moment(before.created_at)}")
    if later:
        st.subheader("Run again since", anchor=False)
        for each in later:
            receipt_view.link(each.id, f"{words.moment(each.created_at)} by {words.plain(each.who)}")
