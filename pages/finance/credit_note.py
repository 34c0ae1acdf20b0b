"""One credit note: the term, the arithmetic, the three shares, and what may be done with it now."""

import streamlit as st

from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import pdf as credit_note_pdf
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.states.finance import CreditNoteState
from core.store.access import reading
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.finance._shared import ROLE, action, bank_answer, bank_return

LABELS = {
    "approve": "Approve",
    "anew": "Another payee or account",
    "pay": "It was paid",
    "return": "The bank returned it",
}


def build_dialog(row: CreditNoteRow, verb: str) -> Action:
    """Return the dialog of one step of a credit note."""
    return {"approve": _approving, "anew": _approving, "pay": _paying, "return": _returning}[verb](row)


def describe_account(row: CreditNoteRow) -> str:
    """Describe the account that was approved, by its last four digits."""
    return f"account ending in {row.payee_hint} at {row.payee_bank}" if row.payee_hint else "account not named"


def _approving(row: CreditNoteRow) -> Action:
    held = f" (empty: as approved, ending in {row.payee_hint})" if row.payee_hint else ""
    return action(
        title=f"Approve {row.number}",
        icon="fact_check",
        says=f"**{words.naira(row.total_minor)}** to {words.plain(row.customer)}: {words.plain(row.reason)}."
        f" One person approves up to {words.naira(deciding.LIMIT)}, an admin up to {words.naira(deciding.ADMIN_LIMIT)};"
        " above it, for another payee than the customer, and for an account that another customer has, two do.",
        fields=[
            Text("payee", "Pay to", value=row.payee or row.customer, longest=200),
            Text("payee_bank", "Bank", value=row.payee_bank, longest=200),
            Text("payee_account", f"Account number{held}", longest=32),
        ],
        confirm="Approve it",
        work=lambda session, typed, by: deciding.approve(
            session, row.id, {name: text for name, text in typed.items() if text}, by=by
        ),
        done=_describe_approval,
    )


def _describe_approval(state: CreditNoteState) -> str:
    if state == CreditNoteState.SECOND_PERSON:
        return (
            "Approved by you: above your limit, for another payee than the customer, and for an account that another"
            " customer has, somebody else of finance approves it as well."
        )
    return "Approved: somebody else of finance notes the payment."


def _paying(row: CreditNoteRow) -> Action:
    return action(
        title=f"{row.number} was paid",
        icon="task_alt",
        says=f"**{words.naira(row.total_minor)}**, to {words.plain(row.payee or row.customer)},"
        f" {words.plain(describe_account(row))}, approved by"
        f" {words.plain(row.approver or '')}.",
        fields=bank_answer(),
        confirm="Note the payment",
        work=lambda session, typed, by: deciding.pay(session, row.id, typed, by=by),
        done="The credit note is paid.",
    )


def _returning(row: CreditNoteRow) -> Action:
    return action(
        title=f"The bank returned {row.number}",
        icon="undo",
        says=f"**{words.naira(row.total_minor)}** waits for the customer again.",
        fields=bank_return(row.reference),
        confirm="Note the return",
        work=lambda session, typed, by: deciding.return_payment(session, row.id, typed, by=by),
        done="The payment came back: it can be paid once more.",
    )


def shares(row: CreditNoteRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Refund**")
        facts.line("Given back", words.naira(row.parts.total_minor))
        facts.line("Insurer's share", words.naira(row.parts.provider_share_minor))
        facts.line("Platform commission", words.naira(row.parts.mca_profit_minor))
        facts.line("Distributor commission", words.naira(row.parts.distributor_profit_minor))
        facts.line("Reason", row.reason)
        if row.term_start_at and row.term_end_at:
            facts.line("Term", f"{words.day(row.term_start_at)} to {words.day(row.term_end_at)}")


def progress(row: CreditNoteRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**People and dates**")
        facts.line("Policy ended", f"{row.maker}, {words.moment(row.created_at)}")
        if row.first:
            facts.line("Approved first", f"{row.first}, {words.moment(row.first_at)}")
        facts.line("Approved", f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–")
        facts.line("Payment noted", f"{row.payer}, {words.moment(row.paid_at)}" if row.payer else "–")
        facts.line("Paid to", f"{row.payee}, {describe_account(row)}" if row.payee else "–")
        facts.line("Bank reference", row.reference or "–")
        facts.line("Value date", words.day(row.value_on))
        if row.returned_on:
            facts.line("Returned", f"{words.day(row.returned_on)}: {row.note}")


def arithmetic(row: CreditNoteRow) -> None:
    st.subheader("How it was computed", anchor=False)
    facts.table_of(row.explained)


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("credit_notes", "finance/credit_notes.py", "Back to the credit notes")
    row = record_pages.load("credit note", credit_note_reading.get_note, is_of_mode=True)
    with reading(frame.scope()) as session:
        giver, own = deciding.describe_giver(session, row.id), deciding.list_own_staff(session, row.id)
    with frame.header_with_buttons(
        f"{row.number} of {words.plain(row.provider)} {words.badge(row.state)}",
        f"To {row.customer}, policy {row.policy_number or 'without a number'}, {row.age_days} days old",
        tab=f"{row.number} · Credit note",
    ):
        for verb in deciding.list_allowed(row, person):
            if giver and verb != "return":
                continue
            look = "secondary" if verb in ("return", "anew") else "primary"
            actions.button(LABELS[verb], build_dialog(row, verb), type=look)
    actions.run()
    facts.own_interest(own)
    if giver:
        st.info(f"{words.plain(giver)}.")
    with st.grid(2, min_column_width=320, gap="small"):
        shares(row)
        progress(row)
    if row.explained:
        arithmetic(row)
    with st.container(horizontal=True, gap="xsmall"):
        for copy in credit_note_pdf.COPIES:
            st.link_button(
                f"PDF for the {copy}", f"/credit-notes/{row.id}/{copy}.pdf", icon=":material/picture_as_pdf:"
            )
    if person.has_role("operations", "claims", "supervisor"):
        page_links.link(
            "policies/policy.py",
            label="Open the policy",
            icon=":material/policy:",
            query_params={"id": str(row.policy_id), **frame.mode_query()},
        )
    st.caption(f"Credit note {row.id}")
