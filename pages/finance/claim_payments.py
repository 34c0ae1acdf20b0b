"""Claims to pay: payments that supervisors have handed to finance."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

import streamlit as st

from core import clock, seal
from core.desk.pii_reveal import PAYEE_ACCOUNT, HiddenField
from core.errors import CoverdeskError
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow.paying import HandOver
from core.services.claims.workflow.payments import BANK_TRANSFER, PAYMENT_METHODS
from core.services.finance import claim_payment_files as payment_files
from core.services.finance.claim_payment_files import MAX_LINES, MEANINGS, PaidFile, PaymentLine
from core.services.finance.reconciling import table_files
from core.services.people.staff import Person
from core.store.access import ScopedSession, read_in, reading
from core.ui.frame import frame
from core.ui.kit import actions, reveal_dialog, words
from core.ui.kit.actions import Action, Choice, Day, Field, Naira, Several, Text, Values
from core.ui.lists import columns, tables
from core.ui.lists.claims import draw_chain
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action, choose_columns, describe_faults

MOST = 50


# Nothing is transferred to an account that nobody has named: such a payment is made otherwise.
PAY, PAY_OTHERWISE, ACCOUNT = "Pay", "Cheque or credit", "Account"
TO_PAY: Table[HandOver] = Table(
    name="claims_to_pay",
    noun=("payment", "payments"),
    act=lambda row: (PAY, ACCOUNT) if row.payee.hint else PAY_OTHERWISE,
    narrow=("payee", "account", "waits", "amount"),
    only_wide=("type", "approved"),
    columns={
        "payee": columns.text("Payee", lambda row: row.payee.name, 150),
        "amount": columns.naira("Amount", lambda row: row.amount_minor),
        "account": TableColumn(
            "Account",
            lambda row: (
                ", ".join(filter(None, (seal.mask(row.payee.hint), row.payee.bank_name)))
                if row.payee.hint
                else "Not named: a supervisor sets it"
            ),
            200,
            colour=lambda row: "" if row.payee.hint else "orange",
        ),
        "waits": columns.text(
            "Waits",
            lambda row: words.counted((clock.now() - row.at).days, "day", "days"),
            says="Since a supervisor handed it to finance.",
        ),
        "claim": columns.text("Claim", lambda row: row.reference),
        "type": columns.text("Cover", lambda row: row.claim_type, 90),
        "insurer": columns.text("Insurer", lambda row: row.provider, 120),
        "approved": columns.text("Approved by", lambda row: row.approved_name, 110),
        "note": columns.text("Note", lambda row: row.note, 200, usual=False),
    },
)


def draw_list(found: Sequence[HandOver]) -> None:
    """Draw the oldest payments; the notes of supervisors have a column where there are any."""
    note = replace(TO_PAY.columns["note"], usual=any(row.note for row in found))
    tables.draw_short(replace(TO_PAY, columns={**TO_PAY.columns, "note": note}), found[:MOST])
    if len(found) > MOST:
        st.caption(f"The oldest {MOST} are shown; the others follow as these are paid.")


_TRANSFER, _OTHERWISE = "transfer", "cheque or credit"


def together(found: Sequence[HandOver]) -> None:
    """Offer one payment for each insurer of whom several claims wait: a transfer of those that name an account."""
    waiting: dict[tuple[str, str], list[HandOver]] = {}
    for row in found:
        waiting.setdefault((row.provider, _TRANSFER if row.payee.hint else _OTHERWISE), []).append(row)
    for (name, what), rows in sorted(waiting.items(), key=lambda item: (item[0][0], item[0][1] == _OTHERWISE)):
        if len(rows) > 1:
            label = f"One {what} for {len(rows)} claims of {words.plain(name)}"
            paying_together(rows, what).button(label, key=f"together {name} {what}")


def follow(found: Sequence[HandOver]) -> None:
    """Open the dialog of the payment whose button was clicked: that pays it, or that shows its whole account."""
    clicked, label = tables.get_clicked(TO_PAY)
    row = next((row for row in found if row.id == clicked), None)
    if row is not None and label == ACCOUNT:
        reveal_dialog.open_(f"the account of {row.payee.name}", hidden_account(row))
    elif row is not None:
        actions.open_(paying(row))
    reveal_dialog.run(*map(hidden_account, found))


def hidden_account(row: HandOver) -> HiddenField:
    """Return the address of the account that is paid to (contract A3)."""
    return HiddenField(kind="payee", record_id=row.id, path=PAYEE_ACCOUNT)


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Claims to pay",
        "Payments of claims that a supervisor has approved for finance. Whoever approved one, set its payee or handed"
        " it over cannot pay it.",
    )
    with st.skeleton(height=300), reading(frame.scope()) as session:
        found = claim_paying.list_open(session)
    follow(found)
    actions.run()
    if found:
        due = words.naira(sum(row.amount_minor for row in found))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{TO_PAY.count_text(len(found))} · {due}", width="content")
            together(found)
        draw_list(found)
    else:
        st.info("No payment of a claim waits for finance.", icon=":material/task_alt:")
    paid = read_in(frame.scope(), payment_files.list_files)
    if found or paid:
        draw_file(paid)


def describe_account(row: HandOver) -> str:
    """Describe the account that is paid, by its last four digits."""
    bank = f" at {row.payee.bank_name}" if row.payee.bank_name else ""
    return f"account ending in {row.payee.hint}{bank}" if row.payee.hint else f"account not named{bank}"


def _payment(*, has_account: bool = True) -> Sequence[Field]:
    """Return the fields of how and when the bank was told to pay; nothing is transferred to an unknown account."""
    methods = {name: name for name in PAYMENT_METHODS if has_account or name != BANK_TRANSFER}
    return (
        Choice("method", "Method", value=BANK_TRANSFER if has_account else None, options=methods),
        Day("value_on", "Value date", value=clock.today()),
    )


_UNNAMED = "No account is named, so nothing can be transferred: a supervisor sets the payee with an account first."


def paying(row: HandOver) -> Action:
    """Return the dialog that makes a payment."""

    def show_chain(_: Values) -> None:
        if not row.payee.hint:
            st.warning(_UNNAMED, icon=":material/account_balance:")
        draw_chain(row.links)

    def pay(session: ScopedSession, typed: Values, by: Person) -> None:
        given = {name: value for name, value in typed.items() if value}
        reference = given.pop("payment_reference", None)
        claim_paying.pay(session, row.id, payment_reference=reference, payment=given, person=by, version=row.version)

    method = _payment(has_account=bool(row.payee.hint))
    return action(
        title=f"Pay {words.plain(row.reference)}",
        icon="payments",
        says=f"**{words.naira(row.amount_minor)}** to **{words.plain(row.payee.name)}**,"
        f" {words.plain(describe_account(row))}. Approved by {words.plain(row.approved_name)}, handed over by"
        f" {words.plain(row.by)}, {words.moment(row.at)}." + (f"  \n{words.plain(row.note)}" if row.note else ""),
        fields=[show_chain, Text("payment_reference", "Payment reference", longest=60), *method],
        confirm=f"Pay {words.naira(row.amount_minor)}",
        work=pay,
        done=f"{row.reference} is Paid.",
    )


def paying_together(rows: Sequence[HandOver], what: str) -> Action:
    """Return the dialog that pays several claims of one insurer by one transfer, or without an account otherwise."""
    shown = {row.id.hex: f"{row.reference}, {words.naira(row.amount_minor)} to {row.payee.name}" for row in rows}

    def show_chosen(typed: Values) -> None:
        chosen = [row for row in rows if row.id.hex in typed["claims"]]
        st.caption(f"{len(chosen)} chosen, {words.naira(sum(row.amount_minor for row in chosen))}")
        for row in chosen:
            with st.expander(words.plain(f"{row.reference}: who did what")):
                draw_chain(row.links)

    def pay(session: ScopedSession, typed: Values, by: Person) -> int:
        seen = {row.id: row.version for row in rows if row.id.hex in typed["claims"]}
        given = {name: value for name, value in typed.items() if value and name != "claims"}
        claim_paying.pay_together(session, seen, given, person=by)
        return len(seen)

    return action(
        title=f"One {what} for claims of {words.plain(rows[0].provider)}",
        icon="account_tree",
        says="One reference pays all claims that are chosen, or none. The total has to be what they come to.",
        fields=[
            Several("claims", "Claims", value=list(shown), options=shown, placeholder="Two or more", is_live=True),
            show_chosen,
            Text("payment_reference", "Payment reference", longest=60),
            Naira("total", f"Total of the {what} in naira"),
            *_payment(has_account=what == _TRANSFER),
        ],
        confirm="Pay them",
        work=pay,
        done=lambda number: f"{number} claims are Paid by one {what}.",
    )


PLACE = "payment file"
_LABELS = {
    "claim": "Claim",
    "amount": "Amount",
    "reference": "Payment reference",
    "date": "Value date",
    "account": "Account number",
}


def draw_file(paid: Sequence[PaidFile]) -> None:
    """Draw the form that pays from a file, and the files that were paid."""
    with st.expander("Pay from a file", icon=":material/upload_file:", key=f"{PLACE} form", on_change="ignore"):
        st.caption(
            f"One row for each payment: claim, amount, payment reference; value date and account if you have them."
            f" At most {MAX_LINES} rows, CSV or XLSX. All of them are paid, or none. The rows to complete have the last"
            f" four digits of each account; *{ACCOUNT}* in a row of the list shows the whole of it."
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
        _draw_paid(paid)


def _build_form() -> bytes:
    return read_in(frame.scope(), payment_files.build_form)


def _preview(name: str, content: bytes) -> None:
    try:
        file = payment_files.read(name, content)
        guessed = table_files.guess(file.heading, MEANINGS)
        columns = choose_columns(PLACE, file.heading, _LABELS, guessed, side_by_side=3)
        lines = read_in(frame.scope(), payment_files.preview, name, content, columns, by=frame.require(ROLE))
    except CoverdeskError as error:
        st.error(describe_faults(error, _LABELS), icon=":material/error:")
        return
    st.table([_row(line) for line in lines], border="horizontal")
    refused = sum(line.is_refused for line in lines)
    total = sum(line.amount_minor for line in lines)
    if refused:
        st.warning(
            f"{words.count(refused)} of {words.count(len(lines))} rows cannot be paid: nothing is paid from this file"
            " until it is corrected.",
            icon=":material/block:",
        )
    seen = {line.claim.id: line.claim.version for line in lines if line.claim}
    st.button(
        f"Pay {words.counted(len(lines), 'claim', 'claims')}, {words.naira(total)}",
        type="primary",
        key=f"{PLACE}.pay",
        disabled=bool(refused),
        on_click=paying_file(name, content, columns, seen, f"{words.count(len(lines))} paid, {words.naira(total)}.").do,
        args=(_place(name, content),),
    )
    actions.complain(_place(name, content))


def _row(line: PaymentLine) -> Mapping[str, str]:
    claim = line.claim
    return {
        "Row": str(line.number),
        "Claim": words.plain(claim.reference if claim else line.name),
        "Payee": f"{words.plain(claim.payee.name)}, {words.plain(describe_account(claim))}" if claim else "–",
        "Amount": words.naira(line.amount_minor) if line.amount_minor else "–",
        "Reference": words.plain(line.reference) or "–",
        "Value date": words.day(line.value_on) if line.value_on else "–",
        "Result": f":red[{words.plain(line.refusal)}]" if line.refusal else ":green[can be paid]",
    }


def paying_file(
    name: str, content: bytes, columns: Mapping[str, str], seen: Mapping[UUID, int], sentence: str
) -> Action:
    """Return what pays every claim of a file, or none."""
    return action(
        title="Pay from a file",
        work=lambda session, _, by: payment_files.pay(session, name, content, columns, seen=seen, by=by),
        done=sentence,
    )


def _draw_paid(files: Sequence[PaidFile]) -> None:
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
                "SHA-256": f"{each.sha256[:12]}…",
            }
            for each in files
        ],
        border="horizontal",
    )


def _place(name: str, content: bytes) -> str:
    """The refusals of one file: another one begins without them."""
    return f"{PLACE} {name} {len(content)}"
