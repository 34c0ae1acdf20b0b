"""One endpoint: its state, secret, ping, replay, and what was delivered to it."""

import streamlit as st

from core.services.webhooks import desk, endpoints, log
from core.services.webhooks.endpoints import Endpoint
from core.store.access import reading
from core.ui.admin import partner_pages
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, facts, url_state, words
from core.ui.lists import tables
from core.ui.webhooks import endpoint_actions, endpoint_tables
from core.ui.webhooks.endpoint_tables import DELIVERIES


def buttons(of: Endpoint) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        st.button("Ping", icon=":material/network_ping:", type="primary", on_click=endpoint_actions.ping, args=(of.id,))
        if of.state == "disabled":
            endpoint_actions.enabling(of).button("Enable")
        endpoint_actions.replaying(of).button("Replay")
        endpoint_actions.changing(of).button("Change")
        endpoint_actions.rotating(of).button("Rotate the secret")
        endpoint_actions.deleting(of).button("Delete")
        partner_pages.log_link("endpoint", of.id)


def about(of: Endpoint, distributor: str) -> None:
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            facts.line("Distributor", distributor)
            facts.line("Address", of.url)
            facts.line("Events", ", ".join(of.events))
            classic = f"Classic, signed in {of.signature_header}"
            facts.line("Form", "Standard Webhooks" if of.format == "standard" else classic)
        with st.container(border=True, height="stretch"):
            facts.line("Last success", words.moment(of.last_success_at) if of.last_success_at else "Never")
            facts.line("Last failure", words.moment(of.last_failure_at) if of.last_failure_at else "Never")
            if of.last_error:
                facts.line("Last error", of.last_error)
            if of.failing_since:
                facts.line("Failing since", words.moment(of.failing_since))
            if of.disabled_at:
                facts.line("Disabled since", words.moment(of.disabled_at))
            facts.line("Held for it", words.count(of.held))
            if of.old_secret_until:
                facts.line("The old secret signs until", words.moment(of.old_secret_until))


def deliveries(of: Endpoint) -> None:
    st.subheader("Deliveries of the last 90 days", anchor=False)
    state = url_state.one_of("state", endpoint_tables.DELIVERY_STATES)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        url_state.choice("state", "State", endpoint_tables.DELIVERY_STATES, chosen=state)
    with reading(frame.scope()) as session:
        page = log.list_deliveries(session, of.id, DELIVERIES.paging(url_state.page()), state=state)
    number = tables.page_of(DELIVERIES, page.total_count)
    if number is None:
        return
    st.markdown(DELIVERIES.count_text(page.total_count))
    if page.items:
        tables.draw(DELIVERIES, page.items, number=number, total=page.total_count)
    else:
        st.info("Nothing was delivered to it yet.", icon=":material/outbox:")


def draw() -> None:
    frame.require("admin")
    tables.back_link("endpoints", "admin/webhooks.py", "All endpoints")
    endpoint = record_pages.load("endpoint", endpoints.get_endpoint)
    with reading(frame.scope()) as session:
        distributor = desk.list_names(session)[endpoint.distributor_id]
    frame.page_header(
        f"{words.plain(endpoint.description or 'Endpoint')} {words.badge(endpoint_tables.STATES[endpoint.state])}",
        "Where events of this distributor are sent.",
        tab=f"{distributor} · Endpoint",
    )
    buttons(endpoint)
    actions.run()
    endpoint_actions.outcome()
    about(endpoint, distributor)
    deliveries(endpoint)
    st.caption(f"Endpoint {endpoint.id}")
