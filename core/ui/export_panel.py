"""Exporting what is on the screen: the button, how far it has come, and the receipt when it is whole."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.services import progress, receipts
from core.services.receipts import Receipt
from core.services.takings import Takings
from core.store.engine import reading
from core.store.scope import Scope
from core.ui import frame, words
from core.ui.sales_filters import Asked

PATH = "/exports/purchases.csv"
_NEXT, _LAST = "export_next", "export_last"
_EVERY = timedelta(seconds=1)
_PATIENCE = timedelta(seconds=15)


@dataclass(frozen=True, slots=True)
class Started:
    """An export that this browser has started: what for, how many rows it will have, and when."""

    id: UUID
    link: str
    rows: int
    at: datetime


def button(asked: Asked, total: Takings) -> None:
    """Leads to the download of exactly this selection; each click gets a receipt of its own."""
    export_id = st.session_state.setdefault(_NEXT, ids.new())
    query = urlencode(asked.link, doseq=True)
    st.link_button(
        "Export CSV",
        f"{PATH}?{urlencode({'receipt': str(export_id)})}&{query}",
        icon=":material/download:",
        type="primary",
        disabled=not total.sold,
        on_click=_started,
        args=(Started(export_id, query, total.sold, clock.now()),),
        help="All rows of this selection as one CSV file, whatever their number. The export and its receipt are kept.",
    )


def _started(export: Started) -> None:
    st.session_state[_LAST] = Started(export.id, export.link, export.rows, clock.now())
    st.session_state[_NEXT] = ids.new()


def panel(asked: Asked, total: Takings) -> None:
    """Progress and receipt of the last export of this selection."""
    export: Started | None = st.session_state.get(_LAST)
    if export is None or export.link != urlencode(asked.link, doseq=True):
        return
    if receipt := _receipt(export.id):
        _draw_receipt(receipt, total)
    else:
        st.fragment(_watch, run_every=_EVERY)(export)


def _watch(export: Started) -> None:
    frame.require("operations", "finance")
    written, waited = progress.rows(export.id), clock.now() - export.at
    if _receipt(export.id):
        st.rerun()
    elif written is not None:
        share = min(written / max(export.rows, 1), 1.0)
        st.progress(share, f"Exporting: {words.count(written)} of {words.count(export.rows)} purchases")
    elif waited < _PATIENCE:
        st.progress(0.0, "The export begins …")
    else:
        st.warning("This export was broken off and has no receipt. Start it again with Export CSV.")


def _receipt(export_id: UUID) -> Receipt | None:
    with reading(Scope.system()) as session:
        return receipts.one(session, export_id)


def _draw_receipt(receipt: Receipt, total: Takings) -> None:
    same = (receipt.rows, receipt.sum_minor) == (total.sold, total.sold_minor)
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f":material/receipt_long: **Export receipt** · {words.count(receipt.rows)} purchases ·"
            f" **{words.naira(receipt.sum_minor)}** · "
            + (":green-badge[Equals the total below]" if same else ":orange-badge[Sales have changed since]")
        )
        st.caption(f"{words.moment(receipt.created_at)} by {words.plain(receipt.who)} · receipt {receipt.id}")
        st.code(f"SHA-256 {receipt.sha256}", language=None)
