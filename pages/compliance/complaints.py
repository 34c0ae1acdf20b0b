"""Complaints: the register, premiums notified too late, and one complaint with its answer."""

from dataclasses import replace
from uuid import UUID

import streamlit as st

from core.errors import NotFound
from core.services.compliance import complaints
from core.services.compliance.complaints import CATEGORIES, ComplaintRow, InsurerLine
from core.store.access import ScopedSession
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Choice, Day, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import LEFT, ROLE, action, days_left, draw_history, late_badge, read, record

COMPLAINTS: Table[ComplaintRow] = tables.sortable(
    Table(
        name="complaints",
        noun=("complaint", "complaints"),
        opens="compliance/complaints.py#complaint",
        narrow=("number", "category", "name", "left"),
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "category": columns.text("About", lambda row: CATEGORIES[row.category], 100),
            "insurer": columns.text("Insurer", lambda row: row.insurer, 190),
            "policy": columns.text("Policy", lambda row: row.policy_number, 170),
            "name": columns.text("Name", lambda row: row.name, 170),
            "received": columns.day("Received", lambda row: row.received_at),
            "left": replace(LEFT, of=lambda row: days_left(row.days_left) or "Answered"),
        },
    ),
    usual="Next due first",
)


INSURERS: Table[InsurerLine] = Table(
    name="complaints_of_insurers",
    noun=("insurer", "insurers"),
    narrow=("insurer", "complaints"),
    key=lambda row: row.id or row.insurer,
    columns={
        "insurer": columns.text("Insurer", lambda row: row.insurer, 260),
        "complaints": columns.number("Complaints, 12 months", lambda row: row.complaints),
        "delays": columns.number("Of them delay", lambda row: row.delays),
        "open": columns.number("Open", lambda row: row.open),
        "notice": columns.number("Premiums not notified in time", lambda row: row.notice_late),
        "placing": columns.number("Covers not placed in time", lambda row: row.placing_late),
    },
)


def registering_complaint() -> Action:
    """Return the dialog that registers a complaint."""
    return action(
        title="Register a complaint",
        icon="feedback",
        says="The policy names the insurer that it is counted for.",
        confirm="Register it",
        fields=[
            Choice("category", "About", options=CATEGORIES),
            Text("name", "Name", longest=200),
            Text("contact", "E-mail or phone", longest=254),
            Text("policy_number", "Policy number, if there is one", longest=60),
            Text("text", "In their words", longest=4_000, is_long=True),
            Day("received_on", "Received on, if not today"),
        ],
        work=lambda session, typed, by: complaints.register(session, typed, by=by),
        done="The complaint is registered.",
    )


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Complaints", "What people complain of, counted for each insurer over twelve months."
    ):
        registering_complaint().button("Register a complaint", icon="feedback", type="primary")
    actions.run()
    rows = read(complaints.list_complaints)
    if rows:
        tables.draw_held(COMPLAINTS, rows)
    else:
        st.info("No complaint yet. Register every complaint here, however it arrives.")
    st.subheader("Insurers", anchor=False)
    st.caption("Premiums and covers are live policies whose insurer had no notice, or that were not placed, in time.")
    tables.draw_short(INSURERS, read(complaints.count_by_insurer))


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


def draw_complaint() -> None:
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
