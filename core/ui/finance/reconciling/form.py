"""The form of a reconciliation: whose file of which month, and which column means what."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

import streamlit as st

from core import money
from core.errors import CoverdeskError
from core.services.finance import parties
from core.services.finance.reconciling import file_rows, running
from core.store.access import reading, transact
from core.ui.finance.finance_writes import ROLE
from core.ui.finance.months import choose_month
from core.ui.frame import frame
from core.ui.kit import attempts, words

PLACE = "reconcile"
_NOT_IN_FILE = "– not in the file –"
_MEANINGS = {
    "policy_number": "Policy number",
    "reference": "Bank reference",
    "amount": "Amount",
    "transaction": "Transaction (new, renewal, cancellation …)",
    "date": "Date",
    "rate": "Commission rate, %",
}
_AMOUNTS = {"net": "Net of both commissions", "gross": "Gross premium"}


def draw(months: Sequence[date]) -> None:
    """Draw the form; the result opens when the file was compared."""
    with reading(frame.scope()) as session:
        insurers = {str(party.id): name for party, name in parties.list_parties(session) if party.account == "provider"}
    options = {**insurers, "": "Our bank"}
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            chosen = st.selectbox("Whose file", list(options), format_func=options.__getitem__, key=f"{PLACE}.party")
            month = choose_month(months)
        sent = st.file_uploader(
            "Their file: CSV or XLSX, at most 100,000 rows", type=["csv", "xlsx"], key=f"{PLACE}.file"
        )
        if sent is not None:
            provider_id = UUID(chosen) if chosen else None
            _columns(provider_id, month, sent.name, sent.getvalue())


def _columns(provider_id: UUID | None, month: date, name: str, content: bytes) -> None:
    """Draw the mapping of the columns, as it was used last for this party or as their names suggest."""
    kind = "insurer" if provider_id else "bank"
    try:
        file = running.read_heading(name, content)
    except CoverdeskError as error:
        st.error(words.plain(str(error)), icon=":material/error:")
        return
    with reading(frame.scope()) as session:
        held = running.get_mapping(session, provider_id)
    known: Mapping[str, str] = held.columns if held else file_rows.guess(file.heading, file_rows.MEANINGS[kind])
    st.caption(
        f"{words.count(len(file.rows))} rows. "
        + ("The columns are those that were used last for this party." if held else "Say which column means what.")
    )
    typed: dict[str, Any] = {"kind": kind, "month": str(month), "file_name": name[:200]}
    with st.grid(3, min_column_width=190, gap="small"):
        typed["columns"] = {
            meaning: _pick(meaning, file.heading, known.get(meaning, ""), needed=needed)
            for meaning, needed in file_rows.MEANINGS[kind].items()
        }
        if provider_id:
            usual = list(_AMOUNTS).index(held.amount_is) if held else 0
            typed["amount_is"] = st.selectbox(
                "The amount is", list(_AMOUNTS), index=usual, format_func=_AMOUNTS.__getitem__, key=f"{PLACE}.amount_is"
            )
        tolerance = money.to_wire(held.tolerance_minor) if held else "1.00"
        typed["tolerance"] = st.text_input("Equal within, naira", tolerance, key=f"{PLACE}.tolerance", max_chars=12)
        days = held.timing_days if held else 5
        typed["timing_days"] = int(st.number_input("Days of timing", 0, 31, days, key=f"{PLACE}.days"))
    st.button("Reconcile", type="primary", key=f"{PLACE}.run", on_click=_run, args=(typed, content, provider_id))
    attempts.complain(_place(name, content))


def _pick(meaning: str, heading: Sequence[str], held: str, *, needed: bool) -> str:
    names = [*([] if needed else [_NOT_IN_FILE]), *heading]
    index = names.index(held) if held in names else 0
    chosen = st.selectbox(_MEANINGS[meaning], names, index=index, key=f"{PLACE}.{meaning}")
    return "" if chosen == _NOT_IN_FILE else str(chosen)


def _run(typed: dict[str, Any], content: bytes, provider_id: UUID | None) -> None:
    by, scope = frame.require(ROLE), frame.scope()
    made = attempts.carry_out(
        _place(typed["file_name"], content),
        lambda: str(transact(scope, lambda s: running.run(s, typed, content, by=by, provider_id=provider_id))),
    )
    if made is not None:
        st.session_state[f"{PLACE}.made"] = made


def _place(name: str, content: bytes) -> str:
    """The refusals of one file: another one begins without them."""
    return f"{PLACE} {name} {len(content)}"
