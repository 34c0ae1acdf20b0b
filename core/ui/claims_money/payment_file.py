"""Claims paid from a file: it is mapped, shown row by row with what stands against it, and paid as a whole."""

from collections.abc import Mapping, Sequence
from uuid import UUID
from zlib import crc32

import streamlit as st

from core import clock
from core.errors import CoverdeskError
from core.services.finance.claim_payments import file_lines, payment_files
from core.services.finance.claim_payments.file_lines import MAX_LINES, MEANINGS, PaymentLine
from core.services.finance.reconciling import file_rows
from core.store.access import reading
from core.ui.claims_money import finance_payments
from core.ui.finance.finance_writes import ROLE, carry_out
from core.ui.frame import frame
from core.ui.kit import attempts, words

PLACE = "payment file"
_NOT_IN_FILE = "– not in the file –"
_LABELS = {
    "claim": "Claim",
    "amount": "Amount",
    "reference": "Payment reference",
    "date": "Value date",
    "account": "Account number",
}


def draw() -> None:
    """Draw the form that pays from a file, and the files that were paid."""
    if paid := attempts.take_message(PLACE):
        st.success(words.plain(paid), icon=":material/check_circle:")
    with st.expander("Pay from a file", icon=":material/upload_file:", key=f"{PLACE} form", on_change="ignore"):
        st.caption(
            f"One row for each payment: claim, amount, payment reference; value date and account if you have them."
            f" At most {MAX_LINES} rows, CSV or XLSX. All of them are paid, or none."
        )
        st.download_button(
            "Rows to complete",
            data=_build_form,
            file_name=f"claims-to-pay-{clock.today()}.csv",
            mime="text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
        sent = st.file_uploader("File of payments", type=["csv", "xlsx"], key=f"{PLACE}.file")
        if sent is not None:
            _preview(sent.name, sent.getvalue())
        _draw_paid()


def _build_form() -> bytes:
    with reading(frame.scope()) as session:
        return payment_files.build_form(session)


def _preview(name: str, content: bytes) -> None:
    try:
        file = file_lines.read(name, content)
        columns = _map(file.heading)
        with reading(frame.scope()) as session:
            lines = payment_files.preview(session, name, content, columns, by=frame.require(ROLE))
    except CoverdeskError as error:
        st.error(words.plain(str(error)), icon=":material/error:")
        return
    st.table([_row(line) for line in lines], border="horizontal")
    refused = sum(line.is_refused for line in lines)
    total = sum(line.amount_minor for line in lines)
    if refused:
        st.warning(
            f"{words.count(refused)} of {words.count(len(lines))} rows cannot be paid: nothing is paid from this file"
            " until it is mended.",
            icon=":material/block:",
        )
    seen = {line.claim.id: line.claim.version for line in lines if line.claim}
    st.button(
        f"Pay {words.count(len(lines))} {'claim' if len(lines) == 1 else 'claims'}, {words.naira(total)}",
        type="primary",
        key=f"{PLACE}.pay",
        disabled=bool(refused),
        on_click=_pay,
        args=(name, content, columns, seen, f"{words.count(len(lines))} paid, {words.naira(total)}."),
    )
    attempts.complain(_place(name, content))


def _map(heading: Sequence[str]) -> Mapping[str, str]:
    known = file_rows.guess(heading, MEANINGS)
    # What was chosen for one heading says nothing of another.
    place = f"{PLACE}.{crc32('|'.join(heading).encode())}"
    with st.grid(3, min_column_width=190, gap="small"):
        return {meaning: _pick(f"{place}.{meaning}", meaning, heading, known.get(meaning, "")) for meaning in MEANINGS}


def _pick(place: str, meaning: str, heading: Sequence[str], held: str) -> str:
    names = [_NOT_IN_FILE, *heading]
    index = names.index(held) if held in names else 0
    chosen = st.selectbox(_LABELS[meaning], names, index=index, key=place)
    return "" if chosen == _NOT_IN_FILE else str(chosen)


def _row(line: PaymentLine) -> Mapping[str, str]:
    claim = line.claim
    return {
        "Row": str(line.number),
        "Claim": words.plain(claim.reference if claim else line.name),
        "Payee": f"{words.plain(claim.payee.name)}, {words.plain(finance_payments.describe_account(claim))}"
        if claim
        else "–",
        "Amount": words.naira(line.amount_minor) if line.amount_minor else "–",
        "Reference": words.plain(line.reference) or "–",
        "Value date": words.day(line.value_on) if line.value_on else "–",
        "Result": f":red[{words.plain(line.refusal)}]" if line.refusal else ":green[can be paid]",
    }


def _pay(name: str, content: bytes, columns: Mapping[str, str], seen: Mapping[UUID, int], sentence: str) -> None:
    def act() -> str:
        carry_out(lambda session, by: payment_files.pay(session, name, content, columns, seen=seen, by=by))
        return sentence

    if (done := attempts.carry_out(_place(name, content), act)) is not None:
        attempts.keep_message(PLACE, done)


def _draw_paid() -> None:
    with reading(frame.scope()) as session:
        files = payment_files.list_files(session)
    if not files:
        return
    st.markdown("**Files that were paid**")
    st.table(
        [
            {
                "File": words.plain(each.file_name),
                "Payments": words.count(each.payments),
                "Amount": words.naira(each.amount_minor),
                "By": words.plain(each.by),
                "When": words.moment(each.at),
                "SHA-256": each.sha256[:12],
            }
            for each in files
        ],
        border="horizontal",
    )


def _place(name: str, content: bytes) -> str:
    """The refusals of one file: another one begins without them."""
    return f"{PLACE} {name} {len(content)}"
