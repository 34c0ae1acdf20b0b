"""One insurer: contact and connection, waiting submissions, and its products and sales."""

from collections.abc import Callable, Mapping

import streamlit as st

from core.services.catalogue import changes
from core.services.insurers import awaiting
from core.services.insurers.awaiting import InsurerRow
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.admin._shared import COMPANY_FIELDS, action, agreement_link, log_link

CONTACT: Mapping[str, Callable[[InsurerRow], str]] = {
    "Contact": lambda row: f"{row.first_name} {row.last_name}",
    "E-mail": lambda row: row.email,
    "Phone": lambda row: row.phone_number,
    "Office": lambda row: row.business_email or "–",
    "Claims": lambda row: row.claim_email or "–",
    "Support": lambda row: row.support_email or "–",
}


def changing_insurer(of: InsurerRow) -> Action:
    """Return the dialog that changes an insurer's name, class and addresses."""
    held = {name: getattr(of, "name" if name == "company_name" else name) or "" for name in COMPANY_FIELDS}
    return action(
        title="Change the insurer",
        icon="edit",
        says="The name shows everywhere, also on certificates. The connection is a setting of the server.",
        fields=[Text(name, label, longest=200, value=held[name]) for name, label in COMPANY_FIELDS.items()],
        confirm="Save",
        work=lambda session, typed, by: changes.change_insurer(session, of.id, typed, seen_at=of.updated_at, by=by),
        done=lambda typed: f"{typed['company_name'].strip()} is saved.",
    )


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
    insurer = record_pages.load("insurer", awaiting.get_insurer)
    with frame.header_with_buttons(
        words.plain(insurer.name),
        "An insurer: it carries the risk of what is sold here.",
        tab=f"{insurer.name} · Insurer",
    ):
        changing_insurer(insurer).button("Change")
        agreement_link("provider", insurer.id)
        log_link("insurer", insurer.id)
    actions.run()
    with st.grid(3, min_column_width=300, gap="small"):
        connection(insurer)
        business(insurer)
        with st.container(border=True, height="stretch"):
            st.markdown("**People**")
            for label, of in CONTACT.items():
                facts.line(label, of(insurer))
    st.caption(f"Insurer {insurer.id}")
