"""One purchase: its customer, policy, split of the money, submitted data and history."""

import streamlit as st

from core.services.lists.sale_columns import SOURCES
from core.services.people.staff import Person
from core.services.views import sale as sale_view
from core.services.views.sale import SaleDetail
from core.ui.buying import receipts
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import facts, reveal_dialog, words
from core.ui.lists import tables
from core.ui.sales import money_table

_MOST_INSURED = 4
PURCHASES, POLICY, CUSTOMER = "sales/purchases.py", "policies/policy.py", "sales/customer.py"


def money(sale: SaleDetail) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Split of the money**")
        st.metric("Total", words.naira(sale.total_minor))
        money_table.draw_split(sale)


def policy(sale: SaleDetail, person: Person) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown(f"**Policy** {words.badge(sale.stage)}")
        facts.grid(
            {
                "Number": sale.policy_number or "Not given yet",
                "Product": sale.product,
                "Insurer": sale.provider,
                **dict(sale.insured[:_MOST_INSURED]),
                **facts.list_days_of_cover(sale),
            }
        )
        if person.has_role("operations", "claims"):
            page_links.link(
                POLICY,
                label="Open the policy",
                icon=":material/policy:",
                query_params={"id": str(sale.policy_id), **frame.mode_query()},
            )
        if sale.certificate_url:
            st.link_button("Open the certificate", sale.certificate_url, icon=":material/verified:")
        elif sale.ended_at is None:
            st.caption("The certificate follows when the policy is activated.")


def customer(sale: SaleDetail, person: Person) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Customer**")
        facts.grid(
            {
                "Name": sale.customer,
                "Phone": words.phone(sale.phone) or "–",
                "E-mail": sale.email,
                "Place": sale.place or "–",
            }
        )
        if person.has_role("operations", "claims"):
            page_links.link(
                CUSTOMER,
                label="Open the customer",
                icon=":material/person:",
                query_params={"id": str(sale.customer_id), **frame.mode_query()},
            )
        page_links.link(
            PURCHASES,
            label="All purchases of this customer",
            icon=":material/person_search:",
            query_params={"email": sale.email, **frame.mode_query()},
        )


def origin(sale: SaleDetail) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Sale**")
        facts.grid(
            {
                "Sold": words.moment(sale.created_at),
                "Distributor": sale.distributor,
                "Category": sale.category,
                "Source": SOURCES.get(sale.request_source or "", sale.request_source or "–"),
                "Payment": ", ".join(SOURCES.get(word, words.title(word)) for word in sale.payment) or "–",
                "Premium paid": words.title(sale.premium_frequency),
            }
        )


def draw() -> None:
    person = frame.require("operations", "finance")
    tables.back_link("purchases", PURCHASES, "Back to the purchases")
    sale = record_pages.load("purchase", sale_view.get_sale, is_of_mode=True)
    frame.page_header(
        facts.policy_title(sale),
        f"Purchase of {words.moment(sale.created_at)}",
        tab=f"{sale.policy_number or 'Without a number'} · Purchase",
    )
    if person.has_role("operations"):
        receipts.draw(sale)
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(height="stretch", gap="small"):
            money(sale)
            customer(sale, person)
        with st.container(height="stretch", gap="small"):
            policy(sale, person)
            origin(sale)
    facts.draw_steps(sale.explained)
    reveal_dialog.values(sale.hidden, within="submitted", kind="policy", record_id=sale.policy_id, by=person)
    facts.draw_submitted(sale.submitted)
    facts.history(sale.history)
    st.caption(f"Purchase {sale.id} · policy {sale.policy_id} · customer {sale.customer_id}")
