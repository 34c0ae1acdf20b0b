"""One complaint and its answer."""

from uuid import UUID

import streamlit as st

from core.errors import NotFound
from core.services.compliance import complaints
from core.services.compliance.complaints import CATEGORIES, ComplaintRow
from core.store.access import ScopedSession
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.compliance._shared import ROLE, action, days_left, draw_history, late_badge, record


def answering_complaint(row: ComplaintRow) -> Action:
    """Return the dialog that answers a complaint."""
    return action(
        title="Answer the complaint",
        icon="task_alt",
        says="Write what was found and what the person was told.",
        confirm="Close it",
        fields=[Text("outcome", "Answer", longest=4_000, is_long=True)],
        work=lambda session, typed, by: complaints.answer(session, row.id, outcome=typed["outcome"], by=by),
        done=f"{row.number} is answered.",
    )


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
        f"{row.number} {words.badge('Answered' if row.answered_at else 'Waiting')}{late_badge(row)}",
        f"A complaint about {CATEGORIES[row.category].lower()}.",
        tab=f"{row.number} · Complaint",
    )
    actions.run()
    if row.answered_at is None:
        answering_complaint(row).button("Answer", icon="task_alt", type="primary")
    with st.container(border=True):
        facts.grid(
            {
                "Name": row.name,
                "Contact": row.contact or "–",
                "Insurer": row.insurer or "–",
                "Policy": row.policy_number or "–",
                "Received": words.moment(row.received_at),
                "Answer by": words.day(row.due_on),
                **({"Left": left} if (left := days_left(row.days_left)) else {}),
            },
            columns=4,
        )
        st.caption(words.plain(row.text))
        if row.outcome:
            st.markdown(f"**Answer** of {words.moment(row.answered_at)}")
            st.caption(words.plain(row.outcome))
    draw_history(f"complaint {row.id}")
