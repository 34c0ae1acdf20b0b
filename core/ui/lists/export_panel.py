"""Export of a screen's selection: buttons for each format, progress, and the receipt of the finished file.

A screen with the rows of a selection offers their export like this, with the table's controls beside the buttons:

    export_panel.offer("renewals", selection.address(), rows=total.rows, sum_minor=total.minor, table=RENEWALS)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.desk import export_runs, exported_lists
from core.desk.export_runs import Receipt
from core.services.lists import exports
from core.services.lists.exports import CSV, FORMATS, Format
from core.services.lists.listing import Listing
from core.store.access import Scope, read_in
from core.ui.frame import frame
from core.ui.kit import words
from core.ui.lists import tables
from core.ui.lists.tables import Table

Address = Mapping[str, Sequence[str]]
_NEXT, _LAST = "export_next", "export_last"
_EVERY = timedelta(seconds=1)
_PATIENCE = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Started:
    """An export started by this browser: its query, expected number of rows, and start time."""

    id: UUID
    link: str
    rows: int
    at: datetime
    format: str = "csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """One way to export: kind, format and query; `again` is the receipt of the export that it repeats."""

    kind: Listing[Any]
    format: Format
    query: str
    rows: int
    again: UUID | None = None

    @property
    def holds_too_many(self) -> bool:
        """Return True if the format cannot hold that many rows."""
        return self.format.max_rows is not None and self.rows > self.format.max_rows

    @property
    def watch_key(self) -> str:
        """Return the key that identifies an export started this way, whatever its format."""
        return f"{self.kind.name} {self.again or ''} {self.query}"

    @property
    def last(self) -> Started | None:
        """Return the browser's last export if it was started this way."""
        export: Started | None = st.session_state.get(_LAST)
        return export if export and export.link == self.watch_key else None

    def draw(self, label: str, *, says: str, primary: bool = False) -> None:
        """Draw the download button; each click gets a receipt of its own."""
        export_id = st.session_state.setdefault(_NEXT, ids.new())
        named = {"receipt": str(export_id), **({"again": str(self.again)} if self.again else {})}
        st.link_button(
            label,
            f"/exports/{self.kind.name}.{self.format.name}?{urlencode(named)}&{self.query}",
            icon=":material/download:",
            type="primary" if primary else "secondary",
            disabled=not self.rows or self.holds_too_many,
            on_click=_started,
            args=(Started(export_id, self.watch_key, self.rows, clock.now(), self.format.title),),
            help=says,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """The export that a screen offers: the query of all its rows, and the totals shown on the screen.

    `shown` are the parameters of the columns and the order that the table has now, none for a screen without a table.
    """

    kind: Listing[Any]
    address: Address
    rows: int
    sum_minor: int | None = None
    shown: Address | None = None

    def way(self, format_: Format, *, as_shown: bool) -> Way:
        """Return the way to a file of this selection and mode: with the columns shown, or all of them."""
        arranged = (self.shown or {}) if as_shown else {}
        query = urlencode({**self.address, **arranged, **frame.mode_query()}, doseq=True)
        return Way(kind=self.kind, format=format_, query=query, rows=self.rows)

    @property
    def last(self) -> Started | None:
        """Return the browser's last export of this selection."""
        ways = (self.way(CSV, as_shown=as_shown) for as_shown in (False, True))
        return next((way.last for way in ways if way.last), None)

    def agrees(self, receipt: Receipt) -> bool:
        """Return True if the receipt's totals equal those on the screen."""
        return receipt.rows == self.rows and self.sum_minor in (None, receipt.sum_minor)


def offer(
    kind: str,
    address: Address,
    *,
    rows: int,
    sum_minor: int | None = None,
    line: str = "",
    table: Table[Any] | None = None,
    sums: Callable[[], None] | None = None,
    label: str = "Export",
) -> None:
    """Draw one row: `line` with its `sums`, the formats behind one button, the table's choices; below it the last
    export's progress or receipt. The `label` of the button says what is exported where a page has several.

    `rows` and `sum_minor` (None where the screen shows no sum) are the screen's totals for the same selection. A person
    without the role for this kind sees only `line` and the choices.
    """
    found = exported_lists.get_kind(kind)
    shown = None if table is None else exports.follow_list(found, table.shown_columns, table.order)
    wanted = Offer(kind=found, address=address, rows=rows, sum_minor=sum_minor, shown=shown)
    person = frame.current()
    allowed = person is not None and person.has_role(*wanted.kind.roles)

    def export() -> None:
        with st.popover(label, icon=":material/download:", key=f"export_formats_{kind}"):
            _formats(wanted, table)

    tables.head(line, table, sums=sums, beside=export if allowed else None)
    if allowed:
        _panel(wanted)


def _formats(wanted: Offer, table: Table[Any] | None) -> None:
    """Draw the formats: as the table shows it, and with every column for machines."""
    if table is None or not (wanted.shown or {}).get(exports.COLUMNS):
        _buttons(wanted, "Export {}", as_shown=False)
        return
    with st.container(key=f"export_ways_{wanted.kind.name}"):
        few, every = st.columns(2, gap="medium")
        with few:
            _heading("As shown", _describe_shown(wanted, table))
            _buttons(wanted, "{} as shown", as_shown=True)
        with every:
            says = f"{len(wanted.kind.for_machines)} columns with the names of the API, times in UTC"
            _heading("For machines", says)
            _buttons(wanted, "Export {}", as_shown=False)


def _heading(title: str, says: str) -> None:
    with st.container(gap=None):
        st.markdown(f"**{title}**")
        st.caption(words.plain(says))


def _describe_shown(wanted: Offer, table: Table[Any]) -> str:
    """Return what a file as shown has: "5 columns, largest premium first, times of Lagos"."""
    number = len((wanted.shown or {})[exports.COLUMNS])
    declared = wanted.kind.columns
    missing = [declared[name].label for name in table.shown_columns if not declared[name].is_in_files]
    order = f", {table.orders[table.order].lower()}" if table.orders else ""
    without = f"; not {' and '.join(missing)}, of this screen only" if missing else ""
    return f"{number} {'column' if number == 1 else 'columns'}{order}, times of Lagos{without}"


def _buttons(wanted: Offer, label: str, *, as_shown: bool) -> None:
    """Draw the download buttons for exactly this selection; each click gets a receipt of its own."""
    rows = wanted.kind.format_count(wanted.rows)
    for format_ in FORMATS.values():
        way = wanted.way(format_, as_shown=as_shown)
        says = f"All {rows} of this selection as one {format_.title} file, with a receipt."
        if way.holds_too_many:
            says = f"A workbook holds {format_.max_rows:,} rows: take CSV, or choose fewer."
        way.draw(label.format(format_.title), says=says, primary=format_.name == ("xlsx" if as_shown else "csv"))


def _started(export: Started) -> None:
    st.session_state[_LAST] = Started(export.id, export.link, export.rows, clock.now(), export.format)
    st.session_state[_NEXT] = ids.new()


def _panel(wanted: Offer) -> None:
    """Draw the progress and the receipt of the last export of this selection."""
    export = wanted.last
    if export is None:
        return
    if receipt := get_finished(export.id):
        _draw_receipt(receipt, wanted)
    else:
        watch(export, wanted.kind)


def watch(export: Started, kind: Listing[Any]) -> None:
    """Show the progress of an export until it is complete, then rerun the page."""
    st.fragment(_watch, run_every=_EVERY)(export, kind)


def _watch(export: Started, kind: Listing[Any]) -> None:
    frame.require(*kind.roles)
    written, waited = export_runs.get_row_count(export.id), clock.now() - export.at
    if get_finished(export.id):
        st.rerun()
    elif written is not None:
        share = min(written / max(export.rows, 1), 1.0)
        doing = "Packing the file" if written >= export.rows else "Exporting"
        st.progress(share, f"{doing}: {words.count(written)} of {kind.format_count(export.rows)}")
    elif waited < _PATIENCE:
        st.progress(0.0, "The export begins …")
    else:
        st.warning(f"This export was broken off and has no receipt. Start it again with Export {export.format}.")


def get_finished(export_id: UUID) -> Receipt | None:
    """Return the receipt of an export; None while it is incomplete."""
    return read_in(Scope.system(), export_runs.get_receipt, export_id)


def _draw_receipt(receipt: Receipt, wanted: Offer) -> None:
    equal = "Equals the total above" if wanted.sum_minor is not None else "Equals the number above"
    changed = f"{wanted.kind.title} have changed since"
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f":material/receipt_long: **Export receipt** · {figures(receipt)} · "
            + (f":green-badge[{equal}]" if wanted.agrees(receipt) else f":orange-badge[{changed}]")
        )
        st.caption(f"{words.moment(receipt.created_at)} by {words.plain(receipt.who)} · receipt {receipt.id}")
        st.code(f"SHA-256 {receipt.sha256}", language=None)


def figures(receipt: Receipt) -> str:
    """Return the totals of a receipt as Markdown: "1,204 purchases · **₦1,234.00**"."""
    kind = exported_lists.get_kind(receipt.kind)
    summed = f" · **{words.naira(receipt.sum_minor)}**" if kind.sum_title else ""
    return kind.format_count(receipt.rows) + summed
