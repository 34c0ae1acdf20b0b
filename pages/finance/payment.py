"""One payment: its amounts, what it settles, and what may be done with it now."""

import streamlit as st

from core.services.finance import parties
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments import transitions
from core.services.finance.payments.reading import PaymentRow, Settled
from core.services.people.staff import Person
from core.states.finance import PaymentState
from core.store.access import reading
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.finance._shared import ROLE, action, bank_answer, bank_return

LABELS = {"approve": "Confirm", "confirm": "The bank has paid", "return": "Returned", "withdraw": "Give up"}


def of_payment(row: PaymentRow, verb: str) -> Action:
    """Return the dialog of one step of a payment: approve, confirm, return or withdraw."""
    return {"approve": _approving, "confirm": _confirming, "return": _returning, "withdraw": _withdrawing}[verb](row)


def _approving(row: PaymentRow) -> Action:
    return action(
        title="Confirm the payment",
        icon="task_alt",
        says=f"**{words.naira(-row.net_minor)}** of {words.plain(row.name)}, reference"
        f" {words.plain(row.bank_reference)}, {words.day(row.value_on)}. Compare it with the bank's statement.",
        confirm="Confirm it",
        work=lambda session, _, by: transitions.approve_receipt(session, row.id, by=by),
        done="The payment is confirmed.",
    )


def _confirming(row: PaymentRow) -> Action:
    return action(
        title="The bank has paid",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)}.",
        fields=bank_answer(),
        confirm="Confirm it",
        work=lambda session, typed, by: transitions.confirm(session, row.id, typed, by=by),
        done="The payment is confirmed: its statements are settled.",
    )


def _returning(row: PaymentRow) -> Action:
    return action(
        title="The bank has returned it",
        icon="undo",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)} is due again.",
        fields=bank_return(row.bank_reference),
        confirm="Note the return",
        work=lambda session, typed, by: transitions.return_payment(session, row.id, typed, by=by),
        done="The payment came back: its statements are due again.",
    )


def _withdrawing(row: PaymentRow) -> Action:
    return action(
        title="Give the payment up",
        icon="block",
        says="Nobody can approve it any more; what it would have paid stays due.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Give it up",
        work=lambda session, typed, by: transitions.withdraw(session, row.id, reason=typed["reason"], by=by),
        done="The payment is given up.",
    )


def show_who_acts(row: PaymentRow, person: Person) -> None:
    """Say to who prepared a payment out what somebody else does with it (contract K16)."""
    waits = {
        PaymentState.PREPARED: "approves its payout",
        PaymentState.APPROVED: "notes what the bank says of it",
        PaymentState.CONFIRMED: "notes it where the bank returns it",
    }
    if row.direction == "out" and row.prepared_by == person.id and row.state in waits:
        st.caption(f"You prepared this payment: somebody else of finance {waits[PaymentState(row.state)]}.")


def amounts(row: PaymentRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Money**")
        facts.line("Gross", words.naira(row.gross_minor))
        facts.line("VAT", words.naira(row.vat_minor))
        facts.line("Withholding tax", words.naira(-row.withheld_minor))
        facts.line("Net", words.naira(row.net_minor))
        st.caption("Positive is paid by the platform, negative is received.")


def progress(row: PaymentRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**People and dates**")
        facts.line("Prepared", f"{row.preparer}, {words.moment(row.prepared_at)}")
        facts.line("Approved", f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–")
        facts.line("Bank reference", row.bank_reference or "–")
        facts.line("Value date", words.day(row.value_on))
        if row.bank:
            facts.line("Paid to", row.bank)
        if row.returned_on:
            facts.line("Returned", words.day(row.returned_on))
        if row.note:
            facts.line("Note", row.note)


def settles(parts: list[Settled]) -> None:
    st.subheader("Settles", anchor=False)
    facts.ledger(
        [
            {
                "Statement": words.plain(part.number),
                "Month": f"{part.month:%B %Y}",
                "VAT": words.naira(part.vat_minor),
                "Withholding tax": words.naira(part.withheld_minor),
                "Net": words.naira(part.net_minor),
            }
            for part in parts
        ],
        right=("VAT", "Withholding tax", "Net"),
        total={
            "Statement": "Total",
            "VAT": words.naira(sum(part.vat_minor for part in parts)),
            "Withholding tax": words.naira(sum(part.withheld_minor for part in parts)),
            "Net": words.naira(sum(part.net_minor for part in parts)),
        },
    )
    for part in parts:
        page_links.link(
            "finance/statement.py",
            label=f"Open {part.number}",
            icon=":material/request_quote:",
            query_params={"id": str(part.statement_id), **frame.mode_query()},
        )


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("payments", "finance/payments.py", "Back to the payments")
    row, parts = record_pages.load("payment", payment_reading.get_payment, is_of_mode=True)
    with frame.header_with_buttons(
        f"{words.plain(row.name)}, {words.naira(abs(row.net_minor))} {words.badge(row.state)}",
        f"{row.direction_name}{f' with {row.batch}' if row.batch else ''}, until statement {row.statement}",
        tab=f"{row.name} · Payment",
    ):
        for verb in payment_reading.list_allowed(row, person):
            look = "primary" if verb in ("approve", "confirm") else "secondary"
            actions.button(LABELS[verb], of_payment(row, verb), type=look)
    show_who_acts(row, person)
    actions.run()
    with reading(frame.scope()) as session:
        facts.own_interest(parties.list_own_staff(session, row.party))
    with st.grid(2, min_column_width=320, gap="small"):
        amounts(row)
        progress(row)
    settles(parts)
    if row.batch_id:
        page_links.link(
            "finance/payout.py",
            label=f"Open {row.batch}",
            icon=":material/payments:",
            query_params={"id": str(row.batch_id), **frame.mode_query()},
        )
    st.caption(f"Payment {row.id}")
