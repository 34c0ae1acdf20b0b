"""The cards of one policy: cover, holder, sale, certificate, money, terms and the payload sent to the insurer."""

from collections.abc import Callable

import streamlit as st

from core.services.people.staff import Person
from core.services.policies import certificates
from core.services.policies.certificates import CertificateFacts
from core.services.views.policy import PolicyDetail, RefundLine, TermLine
from core.states.policies import PolicyAction
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import documents, facts, words
from core.ui.policies import endorsement_view
from core.ui.sales import sale_split


def address(code: str) -> str:
    """Return the URL path of a certificate; relative, so that the browser stays on its current host."""
    return f"/certificates/{code}.pdf"


def show(code: str) -> None:
    """Show the certificate in the browser's own viewer."""
    documents.embed_pdf(address(code), title="Certificate", name="certificate-viewer")


def download(code: str) -> None:
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
    with reading(frame.scope()) as session:
        return certificates.get_by_code(session, code)


_METHODS = {
    "full": "All of it, as cover never began",
    "pro_rata": "Pro rata by days",
    "short_rate": "Short rate, as the customer ended it",
    "level": "Months left of the loan",
    "decreasing": "Months left of a falling loan",
    "claim_paid": "Nothing, as a claim was paid out of this term",
}


def cover(policy: PolicyDetail) -> None:
    """Draw the cover and its dates."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Cover**")
        facts.line("Product", policy.sale.product)
        facts.line("Insurer", policy.sale.provider)
        if policy.registration:
            facts.line("Plate", policy.registration)
        if policy.sum_insured_minor is not None:
            facts.line("Sum insured", words.naira(policy.sum_insured_minor))
        endorsement_view.draw_present(policy)
        facts.days_of_cover(policy.sale)
        if policy.renewal_window:
            window = policy.renewal_window
            facts.line("Can be renewed", f"{words.day(window.opens_on)} to {words.day(window.closes_on)}")
        elif PolicyAction.RENEW in policy.state.actions and not policy.is_live:
            facts.line("Can be renewed", "On any day, as a test")


def holder(policy: PolicyDetail) -> None:
    """Draw the policyholder."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Policyholder**")
        facts.line("Name", policy.sale.customer)
        facts.line("E-mail", policy.sale.email)
        facts.line("Phone", policy.sale.phone or "–")
        facts.line("Place", policy.sale.place or "–")
        if policy.date_of_birth:
            facts.line("Born", words.day(policy.date_of_birth))
        facts.line("Role", "Beneficiary" if policy.is_for_beneficiary else "Principal")
        page_links.link(
            "sales/customer.py",
            label="Open the customer",
            icon=":material/person:",
            query_params={"id": str(policy.sale.customer_id), **frame.mode_query()},
        )
        page_links.link(
            "policies/search.py",
            label="All policies of this customer",
            icon=":material/person_search:",
            query_params={"find": policy.sale.email, **frame.mode_query()},
        )


def sale(policy: PolicyDetail, person: Person) -> None:
    """Draw the time, distributor and premium of the sale, with a link to the purchase."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Sale**")
        facts.line("Sold", words.moment(policy.sale.created_at))
        facts.line("Distributor", policy.sale.distributor)
        facts.line("Premium", words.naira(policy.sale.total_minor))
        facts.line("Premium paid", words.title(policy.sale.premium_frequency))
        if policy.refunded_minor:
            facts.line("Given back", words.naira(policy.refunded_minor))
        if person.has_role("operations", "finance"):
            page_links.link(
                "sales/purchase.py",
                label="Open the purchase",
                icon=":material/receipt:",
                query_params={"id": str(policy.sale.id), **frame.mode_query()},
            )


def certificate(policy: PolicyDetail, *, beside: Callable[[], None] = lambda: None) -> None:
    """Show the certificate in the page, with a download and what `beside` draws next to it."""
    code = policy.certificate_code
    if code is None:
        st.caption("The certificate follows when the policy is activated.")
        return
    with st.container(horizontal=True, gap="xsmall"):
        download(code)
        st.link_button("Open in a tab", address(code), icon=":material/open_in_new:")
        st.link_button("Verify", f"/verify/{code}", icon=":material/qr_code:")
        beside()
    show(code)


def money(policy: PolicyDetail) -> None:
    """Draw the premium with its steps and split, and the refunds."""
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True):
            st.metric("Premium", words.naira(policy.sale.total_minor))
            sale_split.draw(policy.sale)
        with st.container(border=True):
            st.markdown("**How the premium came about**")
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


def terms(policy: PolicyDetail) -> None:
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
        f"[Open]({address(term.certificate_code)})" if term.certificate_code else "–",
    )
    return f"| {' | '.join(cells)} |"


def draw_payload(policy: PolicyDetail) -> None:
    """Draw the payload sent to the insurer, with the insurer's field names."""
    facts.draw_masked(policy.insurer_payload, named=str)
