"""The receipt of a sale: the page of its purchase, opened by the sale, with what to do next.

A sale puts its purchase into the session and both screens that sell open that page, so that a second click, a reload
and Back find it at its own address; what was typed is cleared once the page has opened.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

import streamlit as st

from core.desk.sale import SaleDetail
from core.ui.buying import known_customer
from core.ui.buying.selling import Receipt
from core.ui.frame import page_links
from core.ui.kit import actions, policy_actions, words

PURCHASE: Final = "sales/purchases.py#purchase"
# In the address of the purchase: it was opened by its sale, and the form that sold it.
OPENED_BY: Final = "opened_by"
SALE: Final = "sale"
_SOLD: Final = "sold_purchase"
_FORM: Final = "last_form"


def keep(receipt: Receipt, page: str, **form: str) -> None:
    """Keep a sale until its receipt has opened, and the address of the form that sold it."""
    st.session_state[_SOLD] = receipt.purchase_id
    st.session_state[_FORM] = (page, form)


def follow() -> None:
    """Open the receipt of the sale that was just made, if there is one."""
    if purchase_id := st.session_state.get(_SOLD):
        # In place of the form, which is empty by then.
        page_links.go(PURCHASE, replaces=True, id=purchase_id, opened_by=SALE)


def draw(sale: SaleDetail) -> None:
    """Draw what is said right after a sale, above its purchase: sending the certificate, and the next sale."""
    if st.query_params.get(OPENED_BY) != SALE:
        return
    st.session_state.pop(_SOLD, None)
    with st.container(border=True, gap="small"):
        st.success(
            f"Sold to {words.plain(sale.customer)} for {words.plain(sale.distributor)}.", icon=":material/check_circle:"
        )
        if sale.possible_duplicate_of:
            st.warning(
                "The same customer already has a policy for this amount and this loan start. Is it a second loan?",
                icon=":material/content_copy:",
            )
            page_links.link_to(
                "policies/policy.py", "Open the earlier policy", "policy", id=str(sale.possible_duplicate_of)
            )
        if sale.certificate_url:
            _sending(sale, sale.certificate_url)
        actions.run()
        _next(sale)


def _sending(sale: SaleDetail, certificate_url: str) -> None:
    """Draw the links that open the certificate and send it: by e-mail, and by WhatsApp and SMS with the words."""
    number = f" {sale.policy_number}" if sale.policy_number else ""
    text = f"Your policy{number} is in force. The certificate: {certificate_url}"
    phone = "".join(letter for letter in sale.phone or "" if letter.isdigit())
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("The certificate", width="content")
        st.link_button("Open", certificate_url, icon=":material/verified:", help="To look at it or to print it")
        policy_actions.draw_send_certificate(
            sale.policy_id, sale.email, key=f"mail {sale.policy_id}", label="By e-mail"
        )
        st.link_button(
            "By WhatsApp", f"https://wa.me/{_abroad(phone)}?{urlencode({'text': text})}", icon=":material/chat:"
        )
        if phone:
            st.link_button("By SMS", f"sms:{quote(sale.phone or '')}?&body={quote(text)}", icon=":material/sms:")


def _abroad(phone: str) -> str:
    """Return a phone number with the country's code and no plus sign, as WhatsApp wants it."""
    return f"234{phone[1:]}" if phone.startswith("0") else phone


def _next(sale: SaleDetail) -> None:
    another: tuple[str, Mapping[str, str]] = ("buy/buy.py", {"on_behalf_of": sale.distributor})
    page, form = st.session_state.get(_FORM, another)
    with st.container(horizontal=True):
        if st.button("Sell another", type="primary", icon=":material/add:"):
            page_links.go(page, **form)
        if st.button("Same customer, another cover", icon=":material/person_add:"):
            known_customer.begin(sale.customer_id)
            page_links.go("buy/buy.py", on_behalf_of=sale.distributor)
