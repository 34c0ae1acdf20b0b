"""One complaint and its answer."""

from uuid import UUID

import streamlit as st

from core.errors import NotFound
from core.services.compliance import complaints
from core.services.compliance.complaints import CATEGORIES, ComplaintRow
from core.store.access import ScopedSession
from core.ui.compliance import register_actions
from core.ui.compliance.desk import ROLE, history, record
from core.ui.compliance.tables import days_left
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.lists import tables


def found(session: ScopedSession, id_: UUID) -> ComplaintRow:
    for each in complaints.list_complaints(session):
        if each.id == id_:
            return each
    raise NotFound("There is no such complaint")


def draw() -> None:
    frame.require(ROLE)
    tables.back_link("complaints", "compliance/complaints.py", "Back to the complaints")
    row = record(found, "complaint")
    frame.page_header(
        f"{row.number} {words.badge('Answered' if row.answered_at else 'Waiting')}",
        f"A complaint about {CATEGORIES[row.category].lower()}.",
        tab=f"{row.number} · Complaint",
    )
    actions.run()
    if row.answered_at is None:
        register_actions.answering_complaint(row).button("Answer", icon="task_alt", type="primary")
    with st.container(border=True):
        facts.line("Name", row.name)
        facts.line("Contact", row.contact or "–")
        facts.line("Insurer", row.insurer or "–")
        facts.line("Policy", row.policy_number or "–")
        facts.line("Received", words.moment(row.received_at))
        facts.line("Answer by", words.day(row.due_on))
        if left := days_left(row.days_left):
            facts.line("Left", left)
        st.caption(words.plain(row.text))
        if row.outcome:
            st.markdown(f"**Answer** of {words.moment(row.answered_at)}")
            st.caption(words.plain(row.outcome))
    history(f"complaint {row.id}")
