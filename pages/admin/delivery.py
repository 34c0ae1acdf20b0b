"""One delivery: the bytes that were sent, and every try with the start of its answer."""

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.services.webhooks import log
from core.services.webhooks.log import DeliveryDetail
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import dialogs, facts, words
from core.ui.lists import tables
from core.ui.webhooks import endpoint_actions, endpoint_tables


def found() -> DeliveryDetail | None:
    """Return the delivery named in the URL; if there is none, show a message and return None."""
    try:
        with reading(frame.scope()) as session:
            return log.get_delivery(session, ids.parse(st.query_params.get("id", "")))
    except InvalidInput:
        st.error("The address names no delivery: its id has to be a UUID.", icon=":material/link_off:")
    except NotFound as error:
        st.error(f"{error}.", icon=":material/search_off:")
    return None


frame.require("admin")
tables.back_link("deliveries", "admin/webhooks.py", "Back to the deliveries")
detail = found()
if detail is None:
    st.stop()
of = detail.delivery
frame.page_header(
    f"{words.plain(of.event_type)} {words.badge(endpoint_tables.DELIVERY_STATES[of.state])}",
    "One event for one endpoint.",
    tab=f"{of.event_type} · Delivery",
)
dialogs.button("Send it again", endpoint_actions.sending_again(of), icon=":material/replay:")
dialogs.run("admin")
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
        st.markdown(f"**Try {each.attempt}** · {words.moment(each.started_at)} · {each.milliseconds} ms · {answered}")
        if each.answer:
            st.code(each.answer, language=None, wrap_lines=True)
st.subheader("Body", anchor=False)
st.code(detail.body.decode(), language="json", wrap_lines=True)
st.page_link(
    "admin/webhook.py",
    label="Its endpoint",
    icon=":material/webhook:",
    query_params={"id": str(of.endpoint_id), **frame.mode_query()},
)
