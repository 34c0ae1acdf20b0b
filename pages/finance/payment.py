"""One payment: its amounts, what it settles, and what may be done with it now."""

import streamlit as st

from core.services.finance import parties
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.reading import PaymentRow, Settled
from core.store.access import reading
from core.ui.finance import payment_actions
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.lists import tables

LABELS = {"approve": "Confirm", "confirm": "The bank has paid", "return": "Returned", "withdraw": "Give up"}


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
        st.markdown("**Who and when**")
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
    st.table(
        [
            {
                "Statement": part.number,
                "Month": f"{part.month:%B %Y}",
                "VAT": words.naira(part.vat_minor),
                "Withholding tax": words.naira(part.withheld_minor),
                "Net": words.naira(part.net_minor),
            }
            for part in parts
        ],
        border="horizontal",
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
                payment_actions.of_payment(row, verb),
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
