"""Exports: the receipts of all exported files; and one, which can be run again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st

from core import ids
from core.desk import export_runs, exported_lists
from core.desk.export_runs import Receipt, ReceiptFilter
from core.services.lists import exports
from core.services.lists.dimensions import Choices, load_choices
from core.services.lists.exports import get_format
from core.services.lists.filters.fields import Parameter
from core.services.lists.listing import Listing
from core.services.lists.paging import Page
from core.services.people.staff import Person, get_names
from core.store.access import Scope, ScopedSession, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import facts, url_state, words
from core.ui.lists import columns, export_panel, filter_bar, saved_views, tables
from core.ui.lists.export_panel import Way
from core.ui.lists.tables import Table


def nothing(wanted: ReceiptFilter) -> None:
    if wanted != ReceiptFilter():
        tables.show_no_match(RECEIPTS)
        return
    st.info(
        "Nothing was exported in this mode yet. Open a list, narrow it as you like, and use Export: the receipt appears"
        " here.",
        icon=":material/rocket_launch:",
    )
    page_links.link("sales/purchases.py", label="Go to the purchases", icon=":material/receipt_long:")


def page_of(wanted: ReceiptFilter) -> Page[Receipt]:
    with reading(Scope.system()) as session:
        narrowed = replace(wanted, is_live=frame.mode())
        return export_runs.list_receipts(
            session, narrowed, RECEIPTS.paging(url_state.page()), order=RECEIPTS.order_among(export_runs.ORDERS)
        )


def draw() -> None:
    person = frame.require("finance", "operations")
    frame.page_header("Exports", "The receipt of every exported file; any of them can be run again and compared.")
    wanted = filter_bar.read(ReceiptFilter)
    with reading(Scope.system()) as session:
        people = dict(export_runs.list_makers(session))
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
    tables.head(RECEIPTS.count_text(found.total_count), RECEIPTS)
    rows = read_in(Scope.system(), receipt_rows, found.items)
    tables.draw(RECEIPTS, rows, number=number, total=found.total_count)


def describe_arrangement(kind: Listing[Any], address: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the columns and the order of a file in words, those that its address names."""
    columns, order = address.get(exports.COLUMNS), next(iter(address.get(exports.ORDER, ())), None)
    label = kind.orders[order].label if order and order in kind.orders else order
    form: dict[str, str] = {}
    if address.get(exports.FORM) == ["people"]:
        form = {"Form": "As shown"}
        columns = [kind.in_files[name].label if name in kind.in_files else name for name in columns or ()]
    return form | ({"Columns": ", ".join(columns)} if columns else {}) | ({"Order": label} if label else {})


_SHORT = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptRow:
    """One receipt with its filters as text."""

    receipt: Receipt
    kind: Listing[Any]
    filters: Mapping[str, str]
    arrangement: Mapping[str, str]

    @property
    def in_one_line(self) -> str:
        """Return filters, columns and order as one line: "Insurer Crownstone · From 1 Nov 2026"."""
        shown = {**self.filters, **self.arrangement}
        return " · ".join(f"{title} {value}" for title, value in shown.items()) or "None: all of them"

    @property
    def sum_minor(self) -> int | None:
        """Return the sum in kobo, for the kinds that have one."""
        return self.receipt.sum_minor if self.kind.sum_title else None


RECEIPTS: Table[ReceiptRow] = Table(
    name="receipts",
    noun=("export", "exports"),
    opens="finance/exports.py#export",
    key=lambda row: row.receipt.id,
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "most-rows": "Most rows first",
        "fewest-rows": "Fewest rows first",
        "largest": "Largest sum first",
        "smallest": "Smallest sum first",
    },
    narrow=("at", "kind", "rows", "sum"),
    only_wide=("hash",),
    columns={
        "at": columns.moment("Made", lambda row: row.receipt.created_at, sorts=("oldest", "newest")),
        "kind": columns.text("Export", lambda row: row.kind.title, 85),
        "format": columns.text("Format", lambda row: get_format(row.receipt.format).title, 110),
        "filters": columns.text("Filters", lambda row: row.in_one_line, 225),
        "rows": columns.number("Rows", lambda row: row.receipt.rows, sorts=("fewest-rows", "most-rows")),
        "sum": columns.naira(
            "Sum", lambda row: row.sum_minor, says="Premium, or what is claimed", sorts=("smallest", "largest")
        ),
        "who": columns.text("By", lambda row: row.receipt.who, 200),
        "hash": columns.text("SHA-256", lambda row: f"{row.receipt.sha256[:_SHORT]}…", 115),
        "again": columns.text("Repeats", lambda row: "Yes" if row.receipt.again_of else "", 70, usual=False),
    },
)


def receipt_rows(session: ScopedSession, receipts: Sequence[Receipt]) -> list[ReceiptRow]:
    """Return receipts with their filters as text, using current names."""
    names = load_choices(session)
    officers = get_names(session, {officer for receipt in receipts for officer in _officers(receipt)})
    return [_receipt_row(receipt, names, officers) for receipt in receipts]


def _receipt_row(receipt: Receipt, names: Choices, officers: Mapping[UUID, str]) -> ReceiptRow:
    kind = exported_lists.get_kind(receipt.kind)
    known = {parameter.name: parameter for parameter in kind.parameters}
    filters = {
        known[name].title: ", ".join(_describe_value(known[name], value, names, officers) for value in values)
        for name, values in receipt.filters.items()
        if name in known
    }
    arranged = describe_arrangement(kind, receipt.filters)
    return ReceiptRow(receipt=receipt, kind=kind, filters=filters, arrangement=arranged)


def _officers(receipt: Receipt) -> list[UUID]:
    kind = exported_lists.get_kind(receipt.kind)
    staff = [parameter.name for parameter in kind.parameters if parameter.names == "staff"]
    return [key for name in staff for value in receipt.filters.get(name, ()) if (key := ids.find(value))]


def _describe_value(parameter: Parameter, value: str, names: Choices, officers: Mapping[UUID, str]) -> str:
    key = ids.find(value) if parameter.names else None
    if key is not None:
        known = officers if parameter.names == "staff" else names.names[parameter.names]  # type: ignore[index]
        return known.get(key, value)
    try:
        return words.day(date.fromisoformat(value))
    except ValueError:
        return parameter.words.get(value, value)


ONE = "finance/exports.py#export"


def draw_receipt(row: ReceiptRow) -> None:
    """Show the selection, the person, and the result."""
    receipt = row.receipt
    with st.grid(2, min_column_width=320, gap="small"):
        with facts.card("**Selection**"):
            facts.line("Export", f"{row.kind.title} as {get_format(receipt.format).title}")
            facts.line("Records", "Live" if receipt.is_live else "Test")
            for title, value in row.filters.items():
                facts.line(title, value)
            if not row.filters:
                facts.line("Filters", "None: all of them")
            for title, value in {"Columns": "All", "Order": "Newest first", **row.arrangement}.items():
                facts.line(title, value)
        with facts.card("**Result**"):
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
    receipt = row.receipt
    mode = {} if receipt.is_live else {"mode": "test"}
    way = Way(
        kind=row.kind,
        format=get_format(receipt.format),
        query=urlencode({**receipt.filters, **mode}, doseq=True),
        rows=max(receipt.rows, 1),
        again=receipt.id,
    )
    way.draw("Run again", says="The same filters and mode as one new file, with a receipt of its own.", primary=True)
    if way.last is None:
        return
    if newer := export_panel.get_finished(way.last.id):
        draw_comparison(receipt, newer)
        link_receipt(newer.id, "Open the new receipt")
    else:
        export_panel.watch(way.last, row.kind)


def draw_comparison(before: Receipt, after: Receipt) -> None:
    """Show whether a later run gave the same result, and any differences."""
    found = export_runs.compare_receipts(before, after)
    if found.is_same:
        same = f"The same again: {export_panel.figures(after)}, and every row is as it was."
        st.success(same, icon=":material/check_circle:")
        return
    changes = [
        _describe_change(found.rows, "fewer", words.counted(abs(found.rows), "row", "rows")),
        _describe_change(found.sum_minor, "less", words.plain(words.naira(abs(found.sum_minor)))),
    ]
    changed = " and ".join(change for change in changes if change)
    text = (
        f"Changed since: {changed}."
        if changed
        else "Changed since: as many rows and the same sum, but not every row is as it was."
    )
    st.warning(f"{text} It gave {export_panel.figures(after)}.", icon=":material/difference:")


def _describe_change(by: int, below: str, what: str) -> str:
    return f"{what} {'more' if by > 0 else below}" if by else ""


def link_receipt(receipt_id: object, label: str) -> None:
    """Draw the link to another receipt."""
    page_links.link(ONE, label=label, icon=":material/receipt_long:", query_params={"id": str(receipt_id)})


def draw_export() -> None:
    person = frame.require("finance", "operations")
    tables.back_link("receipts", "finance/exports.py", "Back to the exports")
    receipt = page_links.load_record("receipt", export_runs.get_complete, scope=Scope.system())
    with reading(Scope.system()) as session:
        (row,) = receipt_rows(session, [receipt])
        before = export_runs.get_receipt(session, receipt.again_of) if receipt.again_of else None
        later = export_runs.list_repeats(session, receipt.id)
    frame.page_header(
        f"Export of {row.kind.title.lower()}",
        f"Made by {words.plain(receipt.who)}, {words.moment(receipt.created_at)}.",
        tab=f"{row.kind.title}, {words.moment(receipt.created_at)} · Export",
    )
    run_again(row, person)
    draw_receipt(row)
    if before:
        st.subheader("Repeats an earlier export", anchor=False)
        draw_comparison(before, receipt)
        link_receipt(before.id, f"The export of {words.moment(before.created_at)}")
    if later:
        st.subheader("Run again since", anchor=False)
        for each in later:
            link_receipt(each.id, f"{words.moment(each.created_at)} by {words.plain(each.who)}")
