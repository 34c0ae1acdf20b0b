"""One payout: its payments, its bank file, and what may be done with it now."""

import streamlit as st

from core.services.finance import parties
from core.services.finance.payments import batches
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.reading import BatchRow, PaymentRow
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.frame import frame, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.kit.dialogs import Decision
from core.ui.lists import held_rows, tables
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, giving_up, made
from pages.finance.payments import PAYMENTS


def approving_batch(row: BatchRow) -> Decision:
    """Return the dialog that approves somebody else's payout."""
    return Decision(
        title=f"Approve {row.number}",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** in {row.payments} payments, prepared by {words.plain(row.preparer)}."
        " The bank file is made now, and its hash is kept.",
        confirm="Approve the payout",
        act=lambda: made(
            lambda session, by: batches.approve(session, row.id, by=by), f"{row.number} is approved: send its file."
        ),
    )


def approving_batch_anew(row: BatchRow) -> Decision:
    """Return the dialog that approves a payout again whose approval lapsed."""
    return Decision(
        title=f"Approve {row.number} again",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** in {row.payments} payments, as they were prepared by"
        f" {words.plain(row.preparer)}. Its bank file can be opened again by that.",
        confirm="Approve the payout again",
        act=lambda: made(
            lambda session, by: batches.approve_anew(session, row.id, by=by),
            f"{row.number} is approved: send its file.",
        ),
    )


def giving_up_batch(row: BatchRow) -> Decision:
    """Return the dialog that gives a prepared payout up."""
    return giving_up(
        row.number,
        lambda reason: made(
            lambda session, by: batches.withdraw(session, row.id, reason=reason, by=by), f"{row.number} is given up."
        ),
    )


OF_BATCH: Table[PaymentRow] = held_rows.sortable(
    Table(
        name="of_batch",
        noun=("payment", "payments"),
        opens="finance/payment.py",
        narrow=("party", "state", "net"),
        columns={
            name: PAYMENTS.columns[name]
            for name in ("party", "state", "statement", "gross", "vat", "withheld", "net", "reference")
        },
    ),
    usual="As in the bank file",
)


def buttons(row: BatchRow, person: Person, *, is_lapsed: bool) -> None:
    if is_lapsed and row.prepared_by != person.id:
        dialogs.button("Approve again", approving_batch_anew(row), is_primary=True)
    if row.state != "Prepared":
        return
    if row.prepared_by != person.id:
        decision = approving_batch(row)
        dialogs.button("Approve", decision, is_primary=True)
    dialogs.button("Give up", giving_up_batch(row))


def people(row: BatchRow, superseded: str | None, *, is_lapsed: bool) -> None:
    with st.container(border=True):
        facts.line("Amount", words.naira(row.net_minor))
        facts.line("Answered by the bank", f"{row.answered} of {row.payments}")
        facts.line("Prepared", f"{row.preparer}, {words.moment(row.prepared_at)}")
        facts.line("Approved", f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–")
        if row.note:
            facts.line("Note", row.note)
    if superseded:
        st.warning(f"{superseded}.", icon=":material/block:")
        st.code(f"SHA-256 {row.sha256}", language=None)
    elif row.sha256 and not is_lapsed:
        st.link_button("Bank file, CSV", f"/payouts/{row.id}.csv", icon=":material/account_balance:")
        st.code(f"SHA-256 {row.sha256}", language=None)
        st.caption("It has the whole account numbers: each opening of it is in the audit log.")


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("payouts", "finance/payments.py", "Back to the payments")
    row = record_pages.load("payout", payment_reading.get_batch, is_of_mode=True)
    with reading(frame.scope()) as session:
        rows = payment_reading.list_of_batch(session, row.id)
        superseded = batches.find_superseded(session, row.id)
        lapsed = None if superseded else batches.find_lapse(session, row.id)
        own = {name for each in rows for name in parties.list_own_staff(session, each.party)}
    with frame.header_with_buttons(
        f"{row.number} {words.badge(row.progress)}",
        "Payments that one person prepared, another approves, and the bank answers line by line.",
        tab=f"{row.number} · Payout",
    ):
        buttons(row, person, is_lapsed=lapsed is not None)
    dialogs.run(ROLE)
    facts.own_interest(sorted(own))
    facts.lapsed_approval(lapsed)
    people(row, superseded, is_lapsed=lapsed is not None)
    number = tables.page_of(OF_BATCH, len(rows))
    if number is not None:
        tables.draw(OF_BATCH, held_rows.page_of(OF_BATCH, rows, number), number=number, total=len(rows))
