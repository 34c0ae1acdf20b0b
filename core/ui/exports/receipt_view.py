"""One export receipt: what was exported, the checksums of the file, and running it again."""

from urllib.parse import urlencode

import streamlit as st

from core.services.exports import receipts
from core.services.exports.formats import get_format
from core.services.exports.receipts import Receipt
from core.services.people.staff import Person
from core.ui.exports import panel as export_panel
from core.ui.exports.panel import Way
from core.ui.exports.receipt_table import ReceiptRow
from core.ui.kit import facts, frame, words

ONE = "finance/export.py"


def said(row: ReceiptRow) -> None:
    """Show the selection, the person, and the result."""
    receipt = row.receipt
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            st.markdown("**What was asked for**")
            facts.line("Export", f"{row.kind.title} as {get_format(receipt.format).title}")
            facts.line("Records", "Live" if receipt.is_live else "Test")
            for title, value in row.filters.items():
                facts.line(title, value)
            if not row.filters:
                facts.line("Filters", "None: all of them")
        with st.container(border=True, height="stretch"):
            st.markdown("**What came out**")
            facts.line("Rows", words.count(receipt.rows))
            if row.sum_minor is not None:
                facts.line(f"Sum: {(row.kind.sum_title or '').lower()}", words.naira(row.sum_minor))
            facts.line("Made", words.moment(receipt.created_at))
            facts.line("By", receipt.who)
            facts.line("Receipt", str(receipt.id))
    st.caption("SHA-256 of the file")
    st.code(receipt.sha256, language=None)
    if receipt.content_sha256 != receipt.sha256:
        st.caption("SHA-256 of its rows as CSV, by which two workbooks are compared")
        st.code(receipt.content_sha256, language=None)


def run_again(row: ReceiptRow, person: Person) -> None:
    """Draw the button that repeats the export, and the comparison with the new result."""
    if not person.has_role(*row.kind.roles):
        st.info(f"Running it again needs the role {' or '.join(row.kind.roles)}.", icon=":material/block:")
        return
    way = _way(row)
    way.draw("Run again", says="The same filters and mode as one new file, with a receipt of its own.", primary=True)
    if way.last is None:
        return
    if newer := export_panel.finished(way.last.id):
        compared(row.receipt, newer)
        link(newer.id, "Open the new receipt")
    else:
        export_panel.watch(way.last, row.kind)


def _way(row: ReceiptRow) -> Way:
    receipt = row.receipt
    mode = {} if receipt.is_live else {"mode": "test"}
    return Way(
        kind=row.kind,
        format=get_format(receipt.format),
        query=urlencode({**receipt.filters, **mode}, doseq=True),
        rows=max(receipt.rows, 1),
        again=receipt.id,
    )


def compared(before: Receipt, after: Receipt) -> None:
    """Show whether a later run gave the same result, and any differences."""
    found = receipts.compare_receipts(before, after)
    if found.is_same:
        same = f"The same again: {export_panel.figures(after)}, and every row is as it was."
        st.success(same, icon=":material/check_circle:")
        return
    changes = [
        _changed(found.rows, "fewer", f"{words.count(abs(found.rows))} {'row' if abs(found.rows) == 1 else 'rows'}"),
        _changed(found.sum_minor, "less", words.plain(words.naira(abs(found.sum_minor)))),
    ]
    told = " and ".join(change for change in changes if change)
    text = (
        f"Changed since: {told}."
        if told
        else "Changed since: as many rows and the same sum, but not every row is as it was."
    )
    st.warning(f"{text} It gave {export_panel.figures(after)}.", icon=":material/difference:")


def _changed(by: int, below: str, what: str) -> str:
    return f"{what} {'more' if by > 0 else below}" if by else ""


def link(receipt_id: object, label: str) -> None:
    """Draw the link to another receipt."""
    query = {"id": str(receipt_id), **frame.mode_query()}
    st.page_link(ONE, label=label, icon=":material/receipt_long:", query_params=query)
