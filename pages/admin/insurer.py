"""One insurer: contact and connection, waiting submissions, and its products and sales."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.services.insurers import list as insurer_list
from core.services.insurers.list import InsurerRow
from core.ui.admin import partner_actions, partner_pages
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.lists import tables

CONTACT: Mapping[str, Callable[[InsurerRow], str]] = {
    "Contact": lambda row: f"{row.first_name} {row.last_name}",
    "E-mail": lambda row: row.email,
    "Phone": lambda row: row.phone_number,
    "Office": lambda row: row.business_email or "–",
    "Claims": lambda row: row.claim_email or "–",
    "Support": lambda row: row.support_email or "–",
}


def connection(of: InsurerRow) -> None:
    health = of.health
    with st.container(border=True, height="stretch"):
        st.markdown(f"**Connection** {words.badge(health.health)}")
        facts.line("Policies go to", of.connection)
        facts.line("Queued", words.count(health.queued))
        facts.line("Set aside", words.count(health.dead))
        facts.line("Oldest waits since", words.moment(health.oldest_at))
        facts.line("Last answer", words.moment(health.last_success_at))
        if health.last_error:
            st.caption(words.plain(health.last_error))
        page_links.link(
            "policies/awaiting.py",
            label="What waits for insurers",
            icon=":material/hourglass_top:",
            query_params=frame.mode_query(),
        )


def business(of: InsurerRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Business**")
        facts.line("Segment of the path", of.segment)
        facts.line("Class", of.business_type or "–")
        facts.line("Products", words.count(of.products))
        facts.line("Policies", words.count(of.policies))
        facts.line("Premium of 12 months", words.naira(of.premium_minor))
        page_links.link(
            "admin/products.py",
            label="Its products",
            icon=":material/inventory_2:",
            query_params={"provider": str(of.id), **frame.mode_query()},
        )


def draw() -> None:
    frame.require("admin")
    tables.back_link("insurers", "admin/partners.py", "All insurers")
    insurer = record_pages.load("insurer", insurer_list.get_insurer)
    with frame.header_with_buttons(
        words.plain(insurer.name),
        "An insurer: it carries the risk of what is sold here.",
        tab=f"{insurer.name} · Insurer",
    ):
        partner_actions.changing_insurer(insurer).button("Change")
        partner_pages.agreement_link("provider", insurer.id)
        partner_pages.log_link("insurer", insurer.id)
    actions.run()
    with st.grid(3, min_column_width=300, gap="small"):
        connection(insurer)
        business(insurer)
        with st.container(border=True, height="stretch"):
            st.markdown("**People**")
            for label, of in CONTACT.items():
                facts.line(label, of(insurer))
    st.caption(f"Insurer {insurer.id}")
