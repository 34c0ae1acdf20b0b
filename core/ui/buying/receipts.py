"""The receipt of a sale: the policy, the money, sending the certificate, and what to do next."""

from urllib.parse import quote, urlencode
from uuid import UUID

import streamlit as st

from core.ui.buying import known_customer
from core.ui.buying.selling import Counter, Receipt
from core.ui.frame import frame, page_links
from core.ui.kit import words
from core.ui.letters import certificate_mail

_SAME = "Same customer, another cover"


def show(key: str, receipt: Receipt, counter: Counter | None = None) -> None:
    """Show the receipt, with links to the purchase, the certificate and the next sale."""
    with st.container(border=True, gap="medium"):
        seller = f" for {words.plain(receipt.distributor)}" if receipt.distributor else ""
        st.success(f"Sold to {words.plain(receipt.name)}{seller}.", icon=":material/check_circle:")
        facts = st.grid(3, min_column_width=300)
        facts.metric("Policy number", receipt.policy_number or "Awaiting the insurer")
        facts.metric("Premium", words.naira_of(receipt.total))
        facts.metric("Cover until", words.day(receipt.expiration_date))
        if receipt.distributor_profit is not None:
            facts.metric("Distributor commission", words.naira_of(receipt.distributor_profit))
            facts.metric("Platform commission", words.naira_of(receipt.mca_profit))
            facts.metric("Insurer's share", words.naira_of(receipt.provider_share))
        if receipt.possible_duplicate_of:
            st.warning(
                "The same customer already has a policy for this amount and this loan start. Is it a second loan?",
                icon=":material/content_copy:",
            )
            st.page_link(
                "policies/policy.py",
                label="Open the earlier policy",
                icon=":material/policy:",
                query_params={"id": receipt.possible_duplicate_of, **frame.mode_query()},
            )
        if receipt.certificate_url:
            _sending(receipt, receipt.certificate_url)
        certificate_mail.outcome()
        _next(key, receipt, counter)


def _sending(receipt: Receipt, certificate_url: str) -> None:
    """Draw the links that send the certificate: by e-mail, and by WhatsApp and SMS with the words filled in."""
    number = f" {receipt.policy_number}" if receipt.policy_number else ""
    said = f"Your policy{number} is in force. The certificate: {certificate_url}"
    phone = "".join(letter for letter in receipt.phone or "" if letter.isdigit())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Send the certificate", width="content")
        if receipt.email:
            certificate_mail.button(
                UUID(receipt.policy_id), receipt.email, key=f"mail {receipt.policy_id}", label="By e-mail"
            )
        st.link_button(
            "By WhatsApp", f"https://wa.me/{_abroad(phone)}?{urlencode({'text': said})}", icon=":material/chat:"
        )
        if phone:
            st.link_button("By SMS", f"sms:{quote(receipt.phone or '')}?&body={quote(said)}", icon=":material/sms:")


def _abroad(phone: str) -> str:
    """Return a phone number with the country's code and no plus sign, as WhatsApp wants it."""
    return f"234{phone[1:]}" if phone.startswith("0") else phone


def _next(key: str, receipt: Receipt, counter: Counter | None) -> None:
    with st.container(horizontal=True):
        if st.button("Open the purchase", type="primary", icon=":material/receipt:"):
            _leave(key)
            page_links.go("sales/purchase.py", id=receipt.purchase_id)
        if st.button("Open the policy", icon=":material/policy:"):
            _leave(key)
            page_links.go("policies/policy.py", id=receipt.policy_id)
        if receipt.certificate_url:
            st.link_button("Certificate", receipt.certificate_url, icon=":material/picture_as_pdf:")
        if st.button("Sell another", icon=":material/add:"):
            _leave(key)
            st.rerun()
        if receipt.customer_id and counter is not None:
            st.button(_SAME, icon=":material/person_add:", on_click=_again, args=(key, receipt))
        elif receipt.customer_id and st.button(_SAME, icon=":material/person_add:"):
            _again(key, receipt)
            page_links.go("buy/buy.py", on_behalf_of=receipt.distributor or "")


def _again(key: str, receipt: Receipt) -> None:
    _leave(key)
    known_customer.choose(receipt.customer_id)
    for choice in ("cover", "sold"):
        st.session_state[choice] = None


def _leave(key: str) -> None:
    st.session_state.pop(f"{key}.receipt", None)
