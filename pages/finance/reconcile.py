"""Reconcile: the file of an insurer or the bank against our records of a month."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

import streamlit as st
from streamlit.typing import UploadedFile

from core import money
from core.errors import CoverdeskError
from core.services.finance import parties
from core.services.finance.reconciling import reconciliations, table_files
from core.services.finance.reconciling.reconciliations import ReconciliationRow
from core.services.finance.reconciling.table_files import ReadRow, TableFile
from core.services.finance.statements import reading as statement_reading
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, export_panel, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table
from pages.finance._shared import AMOUNTS, NOT_IN_FILE, ROLE, action, choose_month, describe_faults

PLACE = "reconcile"
_OPEN, _MADE = f"{PLACE}.open", f"{PLACE}.made"
_MEANINGS = {
    "policy_number": "Policy number",
    "reference": "Bank reference",
    "amount": "Amount",
    "money_in": "Money in (credit)",
    "money_out": "Money out (debit)",
    "transaction": "Transaction (new, renewal, cancellation …)",
    "date": "Date",
    "rate": "Commission rate, %",
}


def draw_form(months: Sequence[date]) -> None:
    """Draw the form; the result opens when the file was compared."""
    with reading(frame.scope()) as session:
        insurers = {str(key): name for key, name in parties.list_insurers(session)}
    options = {**insurers, "": "Our bank"}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        # The check list of a month leads here for a party, by its name.
        named = next((key for key, name in options.items() if name == st.query_params.get("party")), None)
        if named is not None:
            st.session_state.setdefault(f"{PLACE}.party", named)
        chosen = st.selectbox("Whose file", list(options), format_func=options.__getitem__, key=f"{PLACE}.party")
        month = choose_month(months)
    sent = st.file_uploader(
        f"Their file: CSV or XLSX, at most {table_files.MAX_ROWS:,} rows",
        type=["csv", "xlsx"],
        key=f"{PLACE}.file",
        max_upload_size=table_files.MAX_BYTES // (1 << 20),
    )
    if sent is not None:
        provider_id = UUID(chosen) if chosen else None
        _columns(provider_id, month, sent)


def _read(sent: UploadedFile) -> TableFile:
    """Return the rows of an upload; they are kept until another comes, as each choice of a column draws them anew."""
    held = st.session_state.get(f"{PLACE}.rows")
    if held is None or held[0] != sent.file_id:
        held = st.session_state[f"{PLACE}.rows"] = sent.file_id, table_files.read(sent.name, sent.getvalue())
    file: TableFile = held[1]
    return file


def _columns(provider_id: UUID | None, month: date, sent: UploadedFile) -> None:
    """Draw the mapping of the columns, as it was used last for this party or as their names suggest."""
    kind = "insurer" if provider_id else "bank"
    try:
        file = _read(sent)
    except CoverdeskError as error:
        st.error(describe_faults(error, _MEANINGS), icon=":material/error:")
        return
    place = _place(sent.name, sent.getvalue())
    with reading(frame.scope()) as session:
        held = reconciliations.get_mapping(session, provider_id)
    known, hint = _propose(file, kind, held.columns if held else None, held.amount_is if held else "net")
    _forget_choices(file, kind, str(provider_id))
    st.caption(f"{words.count(len(file.rows))} rows. {hint}")
    typed: dict[str, Any] = {"kind": kind, "month": str(month), "file_name": sent.name[:200]}
    with st.grid(3, min_column_width=190, gap="small"):
        typed["columns"] = {
            meaning: _pick(meaning, file.heading, known.get(meaning, ""), needed=needed)
            for meaning, needed in table_files.MEANINGS[kind].items()
        }
        if provider_id:
            typed["amount_is"] = _pick_measure(
                typed["columns"]["amount"],
                held_for=held.columns.get("amount", "") if held else "",
                held=held.amount_is if held else "net",
            )
        tolerance = money.to_wire(held.tolerance_minor) if held else "1.00"
        with st.container(gap="xsmall"):
            typed["tolerance"] = st.text_input(
                "Tolerance for a row, naira", tolerance, key=f"{PLACE}.tolerance", max_chars=12
            )
            actions.blame(place, "tolerance")
        days = held.timing_days if held else 5
        typed["timing_days"] = int(st.number_input("Days of timing", 0, 31, days, key=f"{PLACE}.days"))
    _preview(file, kind, typed["columns"], month)
    work = reconciling(typed, sent.getvalue(), provider_id)
    st.button("Reconcile", type="primary", key=f"{PLACE}.run", on_click=work.do, args=(place,))
    actions.complain(place, "tolerance")
    if "tolerance" in actions.get_refusal(place).faults:
        st.error("Nothing was compared: correct the tolerance above.", icon=":material/block:")


def _forget_choices(file: TableFile, kind: str, party: str) -> None:
    """Forget the columns that were chosen for another file or party."""
    about = (party, *file.heading)
    if st.session_state.get(f"{PLACE}.about") != about:
        st.session_state[f"{PLACE}.about"] = about
        for meaning in table_files.MEANINGS[kind]:
            st.session_state.pop(f"{PLACE}.{meaning}", None)


def _propose(
    file: TableFile, kind: str, held: Mapping[str, str] | None, amount_is: str
) -> tuple[Mapping[str, str], str]:
    """Return the columns that are chosen first, and where they are from."""
    if held and table_files.suits(file, held):
        return held, "The columns are those that were used last for this party."
    some = [cells for _, cells in file.rows[:200]]
    guessed = table_files.guess(file.heading, table_files.MEANINGS[kind], some, amount_is=amount_is)
    if held:
        return guessed, "The columns that were used last for this party are not those of this file: look at each."
    return guessed, "The columns were chosen by their headings and content: look at each."


def _preview(file: TableFile, kind: str, columns: Mapping[str, str], month: date) -> None:
    """Draw the first rows as they are understood with the chosen columns."""
    try:
        first = table_files.read_first(file, kind, columns)
    except CoverdeskError:
        # What is wrong with the columns is said beside the button.
        return
    rows = [{"Row": str(row.number), **_describe(kind, row)} for row in first]
    # A column that says nothing of any row takes the room of the others.
    filled = {name for row in rows for name, cell in row.items() if cell not in ("", "–")}
    rows = [{name: cell for name, cell in row.items() if name in filled} for row in rows]
    st.markdown(f"**The first {len(rows)} rows as they are understood**")
    st.table(rows, border="horizontal", hide_index=True, alt="The first rows of the file as they are understood")
    days = [row.found.on for row in first if not isinstance(row.found, str) and row.found.on]
    if days and all(day.replace(day=1) != month for day in days):
        others = " and ".join(f"{other:%B %Y}" for other in sorted({day.replace(day=1) for day in days}))
        st.warning(f"These rows are of {others}, and {month:%B %Y} is chosen above.", icon=":material/event_busy:")


def _describe(kind: str, row: ReadRow) -> dict[str, str]:
    """Return the cells of a row as they are understood; of a wrong one, as the file has them."""
    number, given = "Policy number" if kind == "insurer" else "Bank reference", row.found
    if isinstance(given, str):
        # The bank's amounts may be in two columns.
        amount = row.texts.get("amount") or " / ".join(filter(None, map(row.texts.get, table_files.IN_AND_OUT)))
        held = {
            number: row.texts.get("policy_number" if kind == "insurer" else "reference"),
            "Transaction": row.texts.get("transaction"),
            "Amount": amount,
            "Date": row.texts.get("date"),
            "Rate": row.texts.get("rate"),
        }
        cells = {name: words.plain(cell) if cell else "–" for name, cell in held.items()}
        return {**cells, "What is wrong": f":red[:material/error: {words.plain(given)}]"}
    return {
        number: words.plain(given.label) if given.label else "None: not checked",
        "Transaction": given.transaction or "–",
        "Amount": words.naira(given.amount_minor),
        # On a telephone a day is not broken into three lines.
        "Date": words.day(given.on).replace(" ", "\u00a0") if given.on else "–",
        "Rate": f"{given.rate_bp / 100:.2f} %" if given.rate_bp is not None else "–",
        "What is wrong": "",
    }


def _pick(meaning: str, heading: Sequence[str], held: str, *, needed: bool) -> str:
    names = [*([] if needed else [NOT_IN_FILE]), *heading]
    index = names.index(held) if held in names else None if needed else 0
    chosen = st.selectbox(_MEANINGS[meaning], names, index=index, key=f"{PLACE}.{meaning}")
    return "" if chosen in (None, NOT_IN_FILE) else str(chosen)


def _pick_measure(column: str, *, held_for: str, held: str) -> str:
    """Draw what the amounts of a column are: first as it was used last, else as its heading says."""
    usual = held if column == held_for else table_files.find_measure(column) or held
    shown, key = list(AMOUNTS), f"{PLACE}.amount_is.{column}"
    index = shown.index(usual)
    return str(st.selectbox("The amount is", shown, index=index, format_func=AMOUNTS.__getitem__, key=key))


def reconciling(typed: dict[str, Any], content: bytes, provider_id: UUID | None) -> Action:
    """Return what compares a file with our records; the result is opened."""
    return action(
        title="Reconcile",
        work=lambda session, _, by: reconciliations.run(session, typed, content, by=by, provider_id=provider_id),
        done="The file was compared: its differences are below.",
        then=lambda made: st.session_state.update({_MADE: str(made), _OPEN: False}),
    )


def _place(name: str, content: bytes) -> str:
    """The refusals of one file: another one begins without them."""
    return f"{PLACE} {name} {len(content)}"


RECONCILIATIONS: Table[ReconciliationRow] = Table(
    name="reconciliations",
    noun=("reconciliation", "reconciliations"),
    opens="finance/reconciliation.py",
    narrow=("party", "month", "verdict"),
    columns={
        "party": columns.text("Party", lambda row: row.party, 190),
        "month": columns.text("Month", lambda row: f"{row.month:%b %Y}", 90, sort_key=lambda row: row.month),
        "file": columns.text("File", lambda row: row.file_name, 180),
        "rows": columns.number("Their rows", lambda row: row.theirs_rows),
        "matched": columns.number("Matched", lambda row: row.matched_rows),
        "verdict": TableColumn(
            "Differences",
            lambda row: row.verdict,
            150,
            colour=lambda row: "orange" if row.verdict.endswith("not explained") else "",
        ),
        "difference": columns.naira("Ours less theirs", lambda row: row.ours_minor - row.theirs_minor),
        "made": columns.moment("Made", lambda row: row.made_at),
    },
    unsorted="Newest first",
)


def draw_switch() -> None:
    """Draw the button that opens the form, or closes it again."""
    is_open = bool(st.session_state.get(_OPEN))
    st.button(
        "Close the form" if is_open else "Compare a file",
        type="secondary" if is_open else "primary",
        icon=":material/close:" if is_open else ":material/upload_file:",
        on_click=lambda: st.session_state.update({_OPEN: not is_open}),
    )


def draw() -> None:
    frame.require(ROLE)
    with reading(frame.scope()) as session:
        months = statement_reading.list_months(session)
        rows = reconciliations.list_reconciliations(session)
    # The form is what one comes for from the check list of a month, and while there is nothing else here.
    is_first = not rows or "party" in st.query_params
    with frame.header_with_buttons(
        "Reconcile",
        "Compare the file of an insurer or of the bank with our records of a month; every difference has an owner.",
    ):
        if frame.mode() and not is_first:
            draw_switch()
    if not frame.mode():
        st.info("Only live records are reconciled: switch to Live in the menu.", icon=":material/science:")
        return
    if made := st.session_state.pop(_MADE, None):
        page_links.go("finance/reconciliation.py", id=made)
    actions.run()
    if is_first or st.session_state.get(_OPEN):
        with st.container(border=True):
            draw_form(months)
    if not rows:
        st.info(
            "No file was reconciled yet: begin with the account of your largest insurer.", icon=":material/balance:"
        )
        return
    line = RECONCILIATIONS.count_text(len(rows))
    export_panel.offer("reconciliations", {}, rows=len(rows), line=line, table=RECONCILIATIONS)
    tables.draw_held(RECONCILIATIONS, rows)
