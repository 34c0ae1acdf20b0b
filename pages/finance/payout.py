"""One payout: its payments, its bank file, and what may be done with it now."""

from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from core.errors import CoverdeskError
from core.services.finance import parties
from core.services.finance.payments import bank_answers, payouts
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.bank_answers import WITHOUT_REFERENCE, AnswerLine
from core.services.finance.payments.reading import BatchRow, PaymentRow
from core.services.finance.reconciling import table_files
from core.services.people.staff import Person
from core.states.finance import BatchState
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action, choose_columns, describe_faults
from pages.finance.payments import PAYMENTS

PLACE = "bank answer"
COLUMNS = {
    "amount": "Amount",
    "narration": "Our narration",
    "account": "Account number",
    "status": "Status",
    "reference": "Bank reference",
    "date": "Value date",
    "reason": "Reason of a return",
}


def approving(row: BatchRow, *, anew: bool = False) -> Action:
    """Return the dialog that approves somebody else's payout, or again where its approval lapsed."""
    payments = words.counted(row.payments, "payment", "payments")
    prepared = f"{'as prepared' if anew else 'prepared'} by {words.plain(row.preparer)}"
    file = "Its bank file can be opened again by that." if anew else "The bank file is made now, and its hash is kept."
    approve = payouts.approve_anew if anew else payouts.approve
    again = " again" if anew else ""
    return action(
        title=f"Approve {row.number}{again}",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** in {payments}, {prepared}. {file}",
        confirm=f"Approve the payout{again}",
        work=lambda session, _, by: approve(session, row.id, by=by),
        done=f"{row.number} is approved: send its file.",
    )


def giving_up(row: BatchRow) -> Action:
    """Return the dialog that gives a prepared payout up."""
    return action(
        title=f"Give {row.number} up",
        icon="block",
        says="Nobody can approve it any more; what it would have paid stays due.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Give it up",
        work=lambda session, typed, by: payouts.withdraw(session, row.id, reason=typed["reason"], by=by),
        done=f"{row.number} is given up.",
    )


OF_BATCH: Table[PaymentRow] = Table(
    name="of_batch",
    noun=("payment", "payments"),
    opens="finance/payments.py#payment",
    narrow=("party", "state", "net"),
    columns={
        name: PAYMENTS.columns[name]
        for name in ("party", "state", "statement", "gross", "vat", "withheld", "net", "reference")
    },
    unsorted="As in the bank file",
)


def buttons(row: BatchRow, person: Person, *, is_lapsed: bool, refusal: str | None) -> None:
    is_refused = bool(refusal) or not person.may_approve
    if is_lapsed and row.prepared_by != person.id:
        approving(row, anew=True).button("Approve again", type="primary", disabled=is_refused)
    if row.state != BatchState.PREPARED:
        return
    if row.prepared_by != person.id:
        approving(row).button("Approve", type="primary", disabled=is_refused)
    giving_up(row).button("Give up")


def show_who_acts(row: BatchRow, person: Person, *, is_lapsed: bool, refusal: str | None) -> None:
    """Say beside the buttons why somebody cannot approve it."""
    if row.state != BatchState.PREPARED and not is_lapsed:
        return
    if row.prepared_by == person.id:
        st.caption("You prepared this payout: somebody else of finance approves it.")
    elif not person.may_approve:
        facts.show_resting(person)
    elif refusal:
        st.caption(f"{words.plain(refusal)}.")


def answers(row: BatchRow, person: Person) -> None:
    """Draw the bank's answer as a file: mapped, shown row by row, and noted together."""
    if row.state != BatchState.APPROVED or row.answered == row.payments:
        return
    if row.prepared_by == person.id:
        st.caption("You prepared this payout: somebody else of finance notes what the bank says of it.")
        return
    with st.expander("The bank's answer as a file", icon=":material/upload_file:", key=f"{PLACE} form"):
        st.caption(
            "CSV or XLSX of the bank, one row for each payment: the amount and our narration (or the account), its"
            " status, the bank's reference, the date and the reason of a return. Without a status every row is paid."
        )
        sent = st.file_uploader("File of the bank", type=["csv", "xlsx"], key=f"{PLACE}.file")
        if sent is not None:
            preview(row, sent.name, sent.getvalue())


def preview(row: BatchRow, name: str, content: bytes) -> None:
    """Draw the rows as they are understood, and the button that notes those that can be."""
    try:
        file = bank_answers.read(name, content)
        guessed = table_files.guess(file.heading, bank_answers.MEANINGS, [cells for _, cells in file.rows[:200]])
        columns = choose_columns(PLACE, file.heading, COLUMNS, guessed, side_by_side=4)
        lines = read_in(frame.scope(), bank_answers.match, file, columns, row)
    except CoverdeskError as error:
        st.error(describe_faults(error, COLUMNS), icon=":material/error:")
        return
    st.table([cells_of(line) for line in lines], border="horizontal", hide_index=True, alt="The bank's answer by row")
    good = [line for line in lines if line.is_to_note]
    if unclear := sum(line.is_unclear for line in lines):
        some = f"{words.count(unclear)} of {words.counted(len(lines), 'row', 'rows')}"
        is_unmapped = not columns.get("reference") and any(line.refusal == WITHOUT_REFERENCE for line in lines)
        advice = "choose the column with the bank's reference" if is_unmapped else "ask the bank"
        st.warning(f"{some} cannot be noted: {advice}.", icon=":material/block:")
    lead_to_others(lines)
    if not good and not unclear:
        st.caption("No row of this file answers a payment that waits for the bank.")
    if not good:
        return
    noting(good, name).button(label_of(good), key=f"{PLACE}.note", type="primary", icon="task_alt")


def lead_to_others(lines: Sequence[AnswerLine]) -> None:
    """Say how many rows belong to each other payout, and link to it: they are noted there."""
    counts = Counter(line.other for line in lines if line.other)
    for other, number in counts.items():
        belong = words.counted(number, "row belongs", "rows belong")
        st.info(f"{belong} to payout {other.number}: note the file there as well.", icon=":material/call_split:")
        page_links.link_to("finance/payout.py", f"Open {other.number}", "payments", id=str(other.id))


def cells_of(line: AnswerLine) -> Mapping[str, str]:
    """Return the cells of a row as it is understood; of one that cannot be read, as the file has them."""
    if line.texts:
        meanings = {"Amount": "amount", "Answer": "status", "Reference": "reference", "Date": "date"}
        held = {label: words.plain(line.texts.get(meaning)) or "–" for label, meaning in meanings.items()}
        party = words.plain(line.texts.get("narration") or line.texts.get("account")) or "–"
        return {"Row": str(line.number), "Party": party, **held, "Result": f":red[{words.plain(line.refusal)}]"}
    verdict = f":red[{words.plain(line.refusal)}]" if line.refusal else words.plain(line.note)
    answer = line.answer.capitalize() + (f": {words.plain(line.reason)}" if line.answer == table_files.RETURNED else "")
    return {
        "Row": str(line.number),
        "Party": words.plain(line.payment.name) if line.payment else "–",
        "Amount": words.naira(line.amount_minor) if line.amount_minor else "–",
        "Answer": answer or "–",
        "Reference": words.plain(line.reference) or "–",
        "Date": words.day(line.on) if line.on else "–",
        "Result": verdict or ":green[can be noted]",
    }


def label_of(lines: Sequence[AnswerLine]) -> str:
    """Return "Note 12 paid, ₦1,000.00, and 1 returned, ₦20.00"."""
    parts = []
    for answer, label in ((table_files.CONFIRMED, "paid"), (table_files.RETURNED, "returned")):
        amounts = [line.amount_minor for line in lines if line.answer == answer]
        if amounts:
            parts.append(f"{words.count(len(amounts))} {label}, {words.naira(sum(amounts))}")
    return f"Note {' and '.join(parts)}"


def noting(lines: Sequence[AnswerLine], file_name: str) -> Action:
    """Return the action that notes the rows, each by itself; what is refused is named and stays as it was."""
    return action(
        title="Note the bank's answer",
        icon="task_alt",
        says=f"**{label_of(lines)}**. Each is noted by itself, as if it were typed.",
        confirm="Note the answer",
        items=lambda: ((f"row {line.number}", line) for line in lines),
        work=lambda session, line, by: bank_answers.note(session, line, file_name=file_name, by=by),
        done=lambda number: f"{words.counted(number, 'answer of the bank is', 'answers of the bank are')} noted",
    )


def people(row: BatchRow, superseded: str | None, *, is_lapsed: bool) -> None:
    with st.container(border=True):
        facts.grid(
            {
                "Amount": words.naira(row.net_minor),
                "Answered by the bank": f"{row.answered} of {row.payments}",
                "Paid by the bank": words.naira(row.paid_minor),
                **({"Returned": words.naira(row.returned_minor)} if row.returned_minor else {}),
                "Prepared": f"{row.preparer}, {words.moment(row.prepared_at)}",
                "Approved": f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–",
                **({"Note": row.note} if row.note else {}),
            },
            columns=3,
        )
    if superseded:
        st.warning(f"{superseded}.", icon=":material/block:")
    elif row.sha256 and not is_lapsed:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.link_button(
                *("Bank file, CSV", f"/payouts/{row.id}.csv"),
                icon=":material/account_balance:",
                # What comes next, until the answer of the bank is here.
                type="secondary" if row.answered or st.session_state.get(f"{PLACE}.file") else "primary",
            )
            st.caption("It has the whole account numbers: each opening of it is in the audit log.", width="content")


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("payouts", "finance/payments.py", "Back to the payments")
    row = page_links.load_record("payout", payment_reading.get_batch, is_of_mode=True)
    with reading(frame.scope()) as session:
        rows = payment_reading.list_of_batch(session, row.id)
        superseded = payouts.find_superseded(session, row.id)
        lapsed = None if superseded else payouts.find_lapse(session, row.id)
        is_lapsed = lapsed is not None
        is_open = is_lapsed or row.state == BatchState.PREPARED
        refusal = payouts.find_refusal_to_approve(session, row.id, person) if is_open else None
        own = parties.list_own_staff(session, *{each.party for each in rows})
    with frame.header_with_buttons(
        f"{row.number} {words.badge(row.progress)}",
        "Payments that one person prepared, another approves, and the bank answers line by line.",
        tab=f"{row.number} · Payout",
    ):
        buttons(row, person, is_lapsed=is_lapsed, refusal=refusal)
    actions.run()
    show_who_acts(row, person, is_lapsed=is_lapsed, refusal=refusal)
    facts.own_interest(own)
    facts.lapsed_approval(lapsed)
    people(row, superseded, is_lapsed=is_lapsed)
    answers(row, person)
    total = words.naira(sum(each.net_minor for each in rows))
    st.markdown(f"{OF_BATCH.count_text(len(rows))} · {total}")
    tables.draw_held(OF_BATCH, rows)
    if row.sha256 and (superseded or not is_lapsed):
        st.caption(f"SHA-256 of the bank file {row.sha256}")
