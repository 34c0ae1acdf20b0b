"""The parts of a request's screen: its days, the records of the person, its pack and its erasures."""

import streamlit as st

from core.services.compliance import requests
from core.services.compliance.request_forms import REFUSALS
from core.services.compliance.requests import FoundRecord, RequestRow
from core.ui.compliance import erasure_actions, request_actions
from core.ui.compliance.desk import read
from core.ui.compliance.tables import days_left
from core.ui.kit import facts, words


def person(row: RequestRow) -> None:
    """Draw who asks for what."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Person**")
        facts.line("Name", row.name)
        facts.line("E-mail", row.email or "–")
        facts.line("Phone", row.phone or "–")
        facts.line("Identity", f"{row.identity_method}, {words.day(row.identity_at)}" if row.identity_at else "Not yet")
        st.caption(words.plain(row.details))


def days(row: RequestRow) -> None:
    """Draw the days of a request and its outcome."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Days**")
        facts.line("Received", words.moment(row.received_at))
        acknowledged = (
            words.moment(row.acknowledged_at) if row.acknowledged_at else f"by {words.day(row.acknowledge_by)}"
        )
        facts.line("Acknowledged", acknowledged)
        facts.line("Answer by", words.day(row.last_day))
        if row.extension_reason:
            facts.line("Extended because", row.extension_reason)
        if left := days_left(row.days_left):
            facts.line("Left", left)
        if row.answered_at:
            facts.line("Closed", words.moment(row.answered_at))
        if row.refusal_code:
            facts.line("Refused", REFUSALS[row.refusal_code])
        if row.outcome:
            st.caption(words.plain(row.outcome))


def records(row: RequestRow) -> None:
    """Draw the records that may be the person's, to be ticked while the request is open."""
    found = read(lambda session: requests.find_records(session, row))
    st.subheader("Records", anchor=False)
    if not found:
        st.info("No customer has this e-mail or phone: the request can be answered, or refused as “no data”.")
        return
    chosen = [record.id for record in found if _is_ticked(row, record)]
    if row.is_open:
        keep = request_actions.choosing(row, chosen)
        st.button(keep.title, icon=":material/save:", on_click=keep.do)


def _is_ticked(row: RequestRow, record: FoundRecord) -> bool:
    with st.container(border=True, horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        mode = "" if record.is_live else f" {words.badge('Test')}"
        name = f"{words.plain(record.name)}, {words.plain(record.email)} at {words.plain(record.distributor)}{mode}"
        ticked = st.checkbox(name, value=record.is_chosen, key=f"record.{record.id}", disabled=not row.is_open)
        erasure_actions.holding(record.id, record.name).button("Hold", key=f"hold.{record.id}")
    return ticked


def pack(row: RequestRow) -> None:
    """Draw the link to the pack of an identified person."""
    if row.kind not in {"access", "copy"}:
        return
    if row.identity_at is None:
        st.info("The pack can be made once the identity of the person is checked.", icon=":material/badge:")
        return
    st.link_button(
        "Download the pack",
        f"/data-requests/{row.id}.zip",
        icon=":material/folder_zip:",
        help="JSON, PDF and files of everything that is held of the person, and who looked at it. The log keeps it.",
    )


def buttons(row: RequestRow) -> None:
    """Draw what can be done now."""
    if not row.is_open:
        return
    with st.container(horizontal=True, gap="xsmall"):
        if row.state == "received":
            request_actions.acknowledging(row).button("Acknowledge", icon="mark_email_read", type="primary")
        if row.identity_at is None:
            request_actions.identifying(row).button("Identity checked", icon="badge")
        if row.extended_to is None:
            request_actions.extending(row).button("Take more time", icon="more_time")
        if row.kind == "erasure":
            request_actions.erasing(row).button("Prepare the erasure", icon="auto_delete")
        else:
            request_actions.answering(row).button("Answer", icon="task_alt")
        request_actions.refusing(row).button("Refuse", icon="block")
