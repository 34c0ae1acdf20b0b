"""One delivery: the bytes that were sent, and every try with the start of its answer."""

import streamlit as st

from core.services.events.webhooks import desk, log
from core.services.events.webhooks.log import Delivery
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action
from core.ui.lists import tables
from pages.admin._shared import action
from pages.admin._webhooks import DELIVERY_STATES


def sending_again(of: Delivery) -> Action:
    """Return the dialog that sends one delivery again."""
    return action(
        title="Send it again",
        icon="replay",
        says="It is sent under the same id: a receiver that keeps ids takes it once.",
        work=lambda session, _, by: desk.redeliver(session, of.id, by=by),
        done="The delivery is queued again.",
    )


def draw() -> None:
    frame.require("admin")
    tables.back_link("deliveries", "admin/webhooks.py", "Back to the deliveries")
    detail = record_pages.load("delivery", log.get_delivery)
    of = detail.delivery
    frame.page_header(
        f"{words.plain(of.event_type)} {words.badge(DELIVERY_STATES[of.state])}",
        "One event for one endpoint.",
        tab=f"{of.event_type} · Delivery",
    )
    sending_again(of).button("Send it again", icon="replay")
    actions.run()
    with st.container(border=True, width=640):
        facts.line("Event", str(of.event_id))
        facts.line("Queued", words.moment(of.created_at))
        facts.line("Tries", words.count(of.attempts))
        if of.delivered_at:
            facts.line("Accepted", words.moment(of.delivered_at))
        if of.state == "queued" and of.next_try_at:
            facts.line("Next try", words.moment(of.next_try_at))
        if of.last_error:
            facts.line("Last error", of.last_error)
        if of.is_replay:
            facts.line("Replayed", "Yes")
    st.subheader("Tries", anchor=False)
    if not detail.tries:
        st.caption("It was not tried yet.")
    for each in detail.tries:
        with st.container(border=True, width=640):
            answered = words.plain(each.error) if each.error else f"The receiver answered {each.status}"
            st.markdown(
                f"**Try {each.attempt}** · {words.moment(each.started_at)} · {each.milliseconds} ms · {answered}"
            )
            if each.answer:
                st.code(each.answer, language=None, wrap_lines=True)
    st.subheader("Body", anchor=False)
    st.code(detail.body.decode(), language="json", wrap_lines=True)
    page_links.link(
        "admin/webhook.py",
        label="Its endpoint",
        icon=":material/webhook:",
        query_params={"id": str(of.endpoint_id), **frame.mode_query()},
    )
