"""One credit note: the term, the arithmetic, the three shares, and what may be done with it now."""

import streamlit as st

from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import pdf as credit_note_pdf
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.store.access import reading
from core.ui.finance.credit_notes import actions
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.lists import tables


def shares(row: CreditNoteRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**What goes back**")
        facts.line("Given back", words.naira(row.parts.total_minor))
        facts.line("Insurer's share", words.naira(row.parts.provider_share_minor))
        facts.line("Platform commission", words.naira(row.parts.mca_profit_minor))
        facts.line("Distributor commission", words.naira(row.parts.distributor_profit_minor))
        facts.line("Reason", row.reason)
        if row.term_start_at and row.term_end_at:
            facts.line("Term", f"{words.day(row.term_start_at)} to {words.day(row.term_end_at)}")


def progress(row: CreditNoteRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Who and when**")
        facts.line("Policy ended", f"{row.made_by}, {words.moment(row.created_at)}")
        if row.first:
            facts.line("Approved first", f"{row.first}, {words.moment(row.first_at)}")
        facts.line("Approved", f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–")
        facts.line("Payment noted", f"{row.payer}, {words.moment(row.paid_at)}" if row.payer else "–")
        facts.line("Paid to", f"{row.payee}, {actions.describe_account(row)}" if row.payee else "–")
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
    with frame.header_with_buttons(
        f"{row.number} of {words.plain(row.provider)} {words.badge(row.state)}",
        f"To {row.customer}, policy {row.policy_number or 'without a number'}, {row.age_days} days old",
        tab=f"{row.number} · Credit note",
    ):
        for verb in deciding.list_allowed(row, person):
            dialogs.button(
                actions.LABELS[verb],
                actions.build_dialog(row, verb),
                is_primary=verb not in ("return", "anew"),
            )
    dialogs.run(ROLE)
    with reading(frame.scope()) as session:
        facts.own_interest(deciding.list_own_staff(session, row.id))
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
