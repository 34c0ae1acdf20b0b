"""One policy: cover, certificate, submitted and sent data, money, and the possible actions."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.desk import sale
from core.desk.sale import PolicyDetail, RefundLine, TermLine
from core.services.claims.review import related
from core.services.insurers import resending
from core.services.insurers.resending import SubmissionDetail
from core.services.mail.mail import MailLine
from core.services.people.staff import Person
from core.services.policies import certificates
from core.services.policies.certificates import CertificateFacts
from core.states.claims import CLAIMS_ROLES
from core.states.policies import AnswerStatus, PolicyAction, SubmissionState
from core.store.access import read_in
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, policy_actions, reveal_dialog, url_state, words
from core.ui.lists import claims as claim_lists
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.policies._shared import draw_endorsements, list_present, reporting, resending_one


def certificate_address(code: str) -> str:
    """Return the URL path of a certificate; relative, so that the browser stays on its current host."""
    return f"/certificates/{code}.pdf"


def download_certificate(code: str) -> None:
    """Draw a download button; the certificate is generated on click."""
    st.download_button(
        "Download",
        data=lambda: certificates.render_certificate(_facts_of(code)),
        file_name=_facts_of(code).file_name,
        mime="application/pdf",
        icon=":material/download:",
        on_click="ignore",
    )


def _facts_of(code: str) -> CertificateFacts:
    return read_in(frame.scope(), certificates.get_by_code, code)


_METHODS = {
    "full": "All of it, as cover never began",
    "pro_rata": "Pro rata by days",
    "short_rate": "Short rate, as the customer ended it",
    "level": "Months left of the loan",
    "decreasing": "Months left of a falling loan",
    "claim_paid": "Nothing, as a claim was paid out of this term",
}


def draw_cover(policy: PolicyDetail) -> None:
    """Draw the cover and its dates."""
    values = {"Product": policy.sale.product, "Insurer": policy.sale.provider}
    if policy.registration:
        values["Plate"] = policy.registration
    if policy.sum_insured_minor is not None:
        values["Sum insured"] = words.naira(policy.sum_insured_minor)
    values |= {**list_present(policy), **facts.list_days_of_cover(policy.sale)}
    if policy.renewal_window:
        window = policy.renewal_window
        values["Can be renewed"] = f"{words.day(window.opens_on)} to {words.day(window.closes_on)}"
    elif PolicyAction.RENEW in policy.state.actions and not policy.is_live:
        values["Can be renewed"] = "On any day, as a test"
    with facts.card("**Cover**", gap="xsmall"):
        facts.grid(values)


def draw_holder(policy: PolicyDetail) -> None:
    """Draw the policyholder."""
    values = {
        "Phone": words.phone(policy.sale.phone) or "–",
        "Place": policy.sale.place or "–",
        **({"Born": words.day(policy.date_of_birth)} if policy.date_of_birth else {}),
        "Role": "Beneficiary" if policy.is_for_beneficiary else "Principal",
    }
    with facts.card("**Policyholder**", gap="xsmall"):
        # A name and an e-mail have the width to themselves, so that they are not broken in their middle.
        facts.grid({"Name": policy.sale.customer, "E-mail": words.email(policy.sale.email)}, columns=1)
        facts.grid(values)
        with st.container(horizontal=True, gap="xsmall"):
            page_links.link_to(
                "sales/customers.py#customer", "Open the customer", "person", id=str(policy.sale.customer_id)
            )
            page_links.link_to("policies/search.py", "All policies", "person_search", find=policy.sale.email)


def draw_sale(policy: PolicyDetail, person: Person) -> None:
    """Draw the time, distributor and premium of the sale, with a link to the purchase."""
    values = {
        "Sold": words.moment(policy.sale.created_at),
        "Distributor": policy.sale.distributor,
        "Premium": words.naira(policy.sale.total_minor),
        "Premium paid": words.title(policy.sale.premium_frequency),
        **({"Given back": words.naira(policy.refunded_minor)} if policy.refunded_minor else {}),
    }
    with facts.card("**Sale**", gap="xsmall"):
        facts.grid(values)
        if (line := policy.book_line) and person.has_role("operations", "supervisor"):
            page_links.link_to(
                "buy/loan_book.py",
                f"Line {words.count(line.line)} of {words.plain(line.file_name)}, {line.month:%B %Y}",
                "menu_book",
                id=str(line.book_id),
            )
        if person.has_role("operations", "finance"):
            page_links.link_to("sales/purchases.py#purchase", "Open the purchase", "receipt", id=str(policy.sale.id))


def draw_certificate(policy: PolicyDetail, *, beside: Callable[[], None] = lambda: None) -> None:
    """Show the certificate in the page, with a download and what `beside` draws next to it."""
    code = policy.certificate_code
    if code is None:
        st.caption("The certificate follows when the policy is activated.")
        return
    with st.container(horizontal=True, gap="xsmall"):
        download_certificate(code)
        st.link_button("Open in a tab", certificate_address(code), icon=":material/open_in_new:")
        st.link_button("Verify", f"/verify/{code}", icon=":material/qr_code:")
        beside()
    facts.embed_pdf(certificate_address(code), title="Certificate", name="certificate-viewer")


def draw_money(policy: PolicyDetail) -> None:
    """Draw the premium with its steps and split, and the refunds."""
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True):
            st.metric("Premium", words.naira(policy.sale.total_minor))
            facts.draw_split(policy.sale)
        with st.container(border=True):
            st.markdown("**How the premium was calculated**")
            facts.table_of(policy.sale.explained)
        for refund in policy.refunds:
            _refund(refund)


def _refund(refund: RefundLine) -> None:
    with st.container(border=True):
        of_what = "of the renewal" if refund.of_renewal else "of the purchase"
        st.metric(f"Given back {of_what}", words.naira(refund.parts.total_minor))
        for label, minor in (
            ("By the insurer", refund.parts.provider_share_minor),
            ("By the platform", refund.parts.mca_profit_minor),
            ("By the distributor", refund.parts.distributor_profit_minor),
        ):
            facts.line(label, words.naira(minor))
        facts.line("On", words.moment(refund.created_at))
        facts.line("Rule", _METHODS.get(refund.method, words.title(refund.method)))
        facts.line("Reason", refund.reason)
        facts.table_of(refund.explained)


def draw_terms(policy: PolicyDetail) -> None:
    """Draw every paid term with its certificate."""
    if not policy.terms:
        st.caption("Cover has not begun: there is no paid term yet.")
        return
    lines = "\n".join(map(_term, policy.terms))
    st.markdown(f"| Term | From | To | Premium | Certificate |\n|:---|:---|:---|---:|:---|\n{lines}")


def _term(term: TermLine) -> str:
    """Return one row of a Markdown table, which can align money to the right."""
    cells = (
        "Renewal" if term.is_renewal else "First term",
        words.day(term.start_at),
        words.day(term.expiration_at),
        words.naira(term.total_minor),
        f"[Open]({certificate_address(term.certificate_code)})" if term.certificate_code else "–",
    )
    return f"| {' | '.join(cells)} |"


# The claims on a policy, on its screen; people who handle claims can open them and lodge another.


def draw_claims(policy: PolicyDetail, person: Person) -> None:
    """Draw every claim with its state; who works claims can open them."""
    lines = read_in(frame.scope(), related.list_by_policy, policy.id)
    claim_lists.draw_claims(lines, linked=person.has_role(*CLAIMS_ROLES), empty="Nobody has claimed on this policy.")


# The submission of one policy to its insurer: the card at the top, and the history in its tab.

_MEANS = {
    "Delegated": "Issued here under the insurer's authority; to be reported by bordereau.",
    "Accepted": "The insurer has accepted it.",
    "Declined": "The insurer has declined it.",
    "Withdrawn": "It ended before the insurer took it.",
    "Queued": "Waiting to be sent to the insurer.",
    "Being sent": "A worker is talking to the insurer about it now.",
    "Deciding": "The insurer has it and is still deciding; it is asked again.",
    "Trying again": "The insurer did not take it yet; it is tried again.",
    "Set aside": "It is not tried any more: somebody has to look at it.",
    "Not connected": "This insurer has no connection here: tell it by hand.",
}


def draw_submission(policy: PolicyDetail, person: Person) -> None:
    """Draw the state of the submission and the possible actions."""
    sending = policy.submission
    with st.container(border=True, gap="xsmall"):
        if sending is None:
            st.caption("**With the insurer:** nothing was noted for it.")
            return
        tries = f", {words.counted(sending.attempts, 'try', 'tries')}" if sending.attempts else ""
        st.markdown(
            f"**With the insurer** {words.badge(sending.situation)} {_means(sending)}"
            f" :small[Since {words.moment(sending.updated_at)}{tries}]"
        )
        by_hand = (event for event in policy.sale.history if event.action == "policy issued by hand")
        if sending.waits and (issued := next(by_hand, None)):
            st.caption(
                f"Issued by hand by {words.plain(issued.actor_name or issued.actor)}, {words.moment(issued.at)}: it is"
                " in force here, and the insurer has not accepted it."
            )
        if sending.last_error:
            st.caption(words.plain(sending.last_error))
        if person.has_role(*resending.SENDING_ROLES):
            _actions(policy, sending)


def _means(sending: SubmissionDetail) -> str:
    """Return the meaning of the state; an acceptance without a stored answer of the insurer was set at the desk."""
    if sending.state == SubmissionState.ACCEPTED and sending.answer != AnswerStatus.ACCEPTED:
        return "Settled at the desk: no answer of the insurer is kept here."
    return _MEANS.get(sending.situation, "")


def _actions(policy: PolicyDetail, sending: SubmissionDetail) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if sending.resendable:
            resend = resending_one(policy.id)
            st.button(resend.title, icon=":material/send:", key="policy.resend", on_click=resend.do)
        if sending.reportable:
            report = reporting(policy.id)
            st.button(
                report.title,
                icon=":material/task_alt:",
                key="policy.reported",
                on_click=report.do,
                help="The insurer knows of it by another way, such as the bordereau.",
            )


def draw_submission_story(policy: PolicyDetail) -> None:
    """Draw the events of the submission, above the payload that was sent."""
    sending = policy.submission
    if sending is None:
        return
    with st.container(border=True):
        facts.grid(_facts(sending), columns=4)


def _facts(sending: SubmissionDetail) -> dict[str, str]:
    shown = {
        "State": sending.situation,
        "Noted": words.moment(sending.created_at),
        "Times sent": words.count(sending.attempts),
        "Next try": words.moment(sending.next_try_at) if sending.next_try_at else None,
        "Last answer": sending.last_error,
        "Answer": words.title(sending.answer) if sending.answer else None,
        "Answered": words.moment(sending.answered_at) if sending.answered_at else None,
        "Number at the insurer": sending.insurer_number,
        "Certificate at the insurer": sending.insurer_certificate_url,
    }
    return {label: value for label, value in shown.items() if value}


# The e-mails about a record: when, to whom, by whom, and what became of them.

LETTER_STATES = {"queued": "Waiting", "sent": "Sent", "dead": "Given up"}
LETTERS: Table[MailLine] = Table(
    name="letters",
    noun=("e-mail", "e-mails"),
    narrow=("at", "subject", "to", "state"),
    columns={
        "at": columns.moment("Asked for", lambda row: row.created_at),
        "subject": columns.text("Subject", lambda row: row.subject, 260),
        "to": columns.text("To", lambda row: row.recipient, 200),
        "by": columns.text("By", lambda row: row.sent_by and row.sent_by.removeprefix("staff "), 200),
        "state": columns.state("State", lambda row: LETTER_STATES[row.state]),
        "error": columns.text("Why", lambda row: row.last_error, 240),
    },
)


def draw_letters(letters: Sequence[MailLine]) -> None:
    """Draw the e-mails about a record; says so where there is none."""
    if not letters:
        st.caption("No e-mail was sent about this.")
        return
    tables.draw_short(LETTERS, letters)
    if waiting := sum(letter.state == "queued" for letter in letters):
        st.caption(f"{words.count(waiting)} waiting to be sent.")


SEARCH = "policies/search.py"


def draw_header(policy: PolicyDetail, person: Person) -> None:
    with frame.header_with_buttons(
        facts.policy_title(policy.sale),
        f"{words.plain(policy.sale.product)} of {words.plain(policy.sale.customer)}",
        tab=f"{policy.sale.policy_number or 'Without a number'} · Policy",
    ):
        if policy.certificate_code:
            st.link_button("Certificate", certificate_address(policy.certificate_code), icon=":material/verified:")
        if person.has_role(*CLAIMS_ROLES) and policy.sale.policy_number:
            page_links.link_to("claims/lodge.py", "Lodge a claim", "note_add", policy=policy.sale.policy_number)
        if person.has_role("operations"):
            policy_actions.buttons(policy)
    if policy.possible_duplicate_of:
        st.warning(
            "The same customer has an earlier policy for this amount and this loan start. Is it a second loan?",
            icon=":material/content_copy:",
        )
        page_links.link_to(
            "policies/policy.py", "Open the earlier policy", "policy", id=str(policy.possible_duplicate_of)
        )


def draw_details(policy: PolicyDetail, person: Person) -> None:
    papers, money, terms, endorsed, claims, letters, submitted, sent, history = url_state.tabs(
        *("Certificate", "Money", "Terms and renewals", "Endorsements", "Claims", "E-mail", "Submitted"),
        *("Sent to the insurer", "History"),
    )
    with papers:
        draw_certificate(policy, beside=lambda: send_certificate(policy, person))
    with money:
        draw_money(policy)
        facts.papers(read_in(frame.scope(), sale.list_of_policy, policy.id), person)
    with terms:
        draw_terms(policy)
        policy_actions.draw_switch(policy.sale.customer_id, person)
        policy_actions.draw_calls(policy.id)
    with endorsed:
        draw_endorsements(policy, person)
    with claims:
        draw_claims(policy, person)
    with letters:
        draw_letters(policy.letters)
    with submitted:
        reveal_personal(policy, "submitted", person)
        facts.draw_masked(policy.sale.submitted)
    with sent:
        reveal_personal(policy, "payload", person)
        draw_submission_story(policy)
        # With the field names of the insurer.
        facts.draw_masked(policy.insurer_payload, named=str)
    with history:
        facts.log(policy.sale.history)


def send_certificate(policy: PolicyDetail, person: Person) -> None:
    if person.has_role("operations"):
        policy_actions.draw_send_certificate(policy.id, policy.sale.email, key="mail certificate")


def reveal_personal(policy: PolicyDetail, within: str, person: Person) -> None:
    reveal_dialog.values(policy.sale.hidden, within=within, kind="policy", record_id=policy.id, by=person)


def draw() -> None:
    person = frame.require("operations", "claims", "supervisor")
    tables.back_link("policies", SEARCH, "Back to the search")
    policy = page_links.load_record("policy", sale.get_policy, is_of_mode=True)
    draw_header(policy, person)
    policy_actions.follow_address(policy)
    actions.run()
    with st.grid(3, min_column_width=300, gap="small"):
        draw_cover(policy)
        draw_holder(policy)
        draw_sale(policy, person)
    draw_submission(policy, person)
    draw_details(policy, person)
    st.caption(f"Policy {policy.id} · purchase {policy.sale.id} · customer {policy.sale.customer_id}")
