"""One payment: its amounts, what it settles, and what may be done with it now."""

import streamlit as st

from core import clock
from core.services.finance import parties
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments import transitions
from core.services.finance.payments.reading import PaymentRow, Settled
from core.store.access import reading
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.kit.dialogs import Decision
from core.ui.lists import tables
from pages.finance._shared import ROLE, bank_answer, giving_up, made, submitted

LABELS = {"approve": "Confirm", "confirm": "The bank has paid", "return": "Returned", "withdraw": "Give up"}


def of_payment(row: PaymentRow, verb: str) -> Decision:
    """Return the dialog of one step of a payment: approve, confirm, return or withdraw."""
    return {"approve": _approving, "confirm": _confirming, "return": _returning, "withdraw": _withdrawing}[verb](row)


def _approving(row: PaymentRow) -> Decision:
    return Decision(
        title="Confirm the payment",
        icon="task_alt",
        says=f"**{words.naira(-row.net_minor)}** of {words.plain(row.name)}, reference"
        f" {words.plain(row.bank_reference)}, {words.day(row.value_on)}. Compare it with the bank's statement.",
        confirm="Confirm it",
        act=lambda: made(
            lambda session, by: transitions.approve_receipt(session, row.id, by=by), "The payment is confirmed."
        ),
    )


def _confirming(row: PaymentRow) -> Decision:
    return Decision(
        title="The bank has paid",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)}.",
        asks=bank_answer,
        given={"bank_reference": "", "value_on": clock.today()},
        confirm="Confirm it",
        act=submitted(
            (
                "bank_reference",
                "value_on",
            ),
            lambda session, typed, by: transitions.confirm(session, row.id, typed, by=by),
            "The payment is confirmed: its statements are settled.",
        ),
    )


def _returning(row: PaymentRow) -> Decision:
    def ask() -> None:
        dialogs.day("returned_on", "Returned on")
        dialogs.field("bank_reference", "The bank's reference of the return", longest=60)
        dialogs.field("reason", "What the bank says", longest=500)

    return Decision(
        title="The bank has returned it",
        icon="undo",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)} is due again.",
        asks=ask,
        given={"returned_on": clock.today(), "reason": "", "bank_reference": row.bank_reference or ""},
        confirm="Note the return",
        act=submitted(
            (
                "returned_on",
                "reason",
                "bank_reference",
            ),
            lambda session, typed, by: transitions.return_payment(session, row.id, typed, by=by),
            "The payment came back: its statements are due again.",
        ),
    )


def _withdrawing(row: PaymentRow) -> Decision:
    return giving_up(
        "the payment",
        lambda reason: made(
            lambda session, by: transitions.withdraw(session, row.id, reason=reason, by=by), "The payment is given up."
        ),
    )


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
            dialogs.button(
                LABELS[verb],
                of_payment(row, verb),
                is_primary=verb in ("approve", "confirm"),
            )
    dialogs.run(ROLE)
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
