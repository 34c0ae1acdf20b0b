"""Complaints: the register, premiums notified too late, and one complaint with its answer."""

from dataclasses import replace
from functools import partial
from uuid import UUID

import streamlit as st

from core.errors import first_of
from core.outbound import mail as smtp
from core.services.compliance import complaints
from core.services.compliance.complaints import CATEGORIES, ComplaintLetter, ComplaintRow, InsurerLine
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Choice, Day, Text, Values
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import (
    LEFT,
    ROLE,
    action,
    day_or_moment,
    days_left,
    draw_history,
    draw_register,
    late_badge,
    read,
    record,
)

COMPLAINTS: Table[ComplaintRow] = Table(
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
    unsorted="Next due first",
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
        done="The complaint is registered: send that it was received.",
        opens="compliance/complaints.py#complaint",
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
        searched = ("number", "policy", "name")
        draw_register(
            COMPLAINTS, rows, is_open=lambda row: row.days_left is not None, closed="Answered", searched=searched
        )
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
        done=f"{row.number} is answered: send the answer.",
    )


def found(session: ScopedSession, id_: UUID) -> ComplaintRow:
    every = [each for each in complaints.list_complaints(session) if each.id == id_]
    return first_of(every, otherwise="There is no such complaint")


def draw_complaint() -> None:
    frame.require(ROLE)
    tables.back_link("complaints", "compliance/complaints.py", "Back to the complaints")
    row = record(found, "complaint")
    with frame.header_with_buttons(
        f"{row.number} {words.badge('Answered' if row.answered_at else 'Waiting')}{late_badge(row)}",
        f"A complaint about {CATEGORIES[row.category].lower()}.",
        tab=f"{row.number} · Complaint",
    ):
        if row.answered_at is None:
            answering_complaint(row).button("Answer", icon="task_alt", type="primary")
    actions.run()
    with st.container(border=True):
        facts.grid(
            {
                "Name": row.name,
                "Contact": row.contact or "–",
                "Insurer": row.insurer or "–",
                "Policy": row.policy_number or "–",
                "Received": day_or_moment(row.received_at),
                "Answer by": words.day(row.due_on),
                **({"Left": left} if (left := days_left(row.days_left)) else {}),
            },
            columns=4,
        )
        st.text(row.text)
        if row.outcome:
            st.markdown(f"**Answer** of {words.moment(row.answered_at)}")
            st.text(row.outcome)
    draw_letters(row)
    draw_history(f"complaint {row.id}")


_PLACE = "complaint.letters"


def draw_letters(row: ComplaintRow) -> None:
    """Draw the letters that the complaint can have by now: the paper, and how it was sent or the ways to send it."""
    by = frame.require(ROLE)
    st.subheader("Letters", anchor=False)
    actions.complain(_PLACE)
    for letter in read(lambda session: complaints.list_letters(session, row.id, by=by)):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            badge = words.badge(f"{letter.way}, {words.day(letter.at)}" if letter.way else "To be sent")
            st.markdown(f"**{letter.title}** {badge}", width="content")
            st.download_button(
                "PDF",
                key=f"{_PLACE}.{letter.kind}",
                data=partial(complaints.render, letter),
                file_name=letter.file_name,
                mime="application/pdf",
                icon=":material/download:",
                type="tertiary",
                on_click="ignore",
            )
            if letter.way is None:
                _offer_ways(row, letter)
        with st.expander("Read it"):
            st.markdown(words.plain(letter.subject))
            st.caption(words.plain(letter.body).replace("\n", "  \n"))
    st.caption("An admin changes the texts of the letters, with the regulator's address, under *E-mail texts*.")


def _offer_ways(row: ComplaintRow, letter: ComplaintLetter) -> None:
    """Draw the ways to send a letter."""
    if letter.email and smtp.can_send():
        _send_button(row, letter, "Send by e-mail", None)
    with st.popover("Mark as sent", icon=":material/outgoing_mail:", type="tertiary"):
        for way in complaints.WAYS:
            _send_button(row, letter, way, way)


def _send_button(row: ComplaintRow, letter: ComplaintLetter, label: str, way: str | None) -> None:
    st.button(
        label,
        key=f"{_PLACE}.{letter.kind}.{way or 'mail'}",
        type="tertiary",
        on_click=_sending(row, letter, way).do,
        args=(_PLACE,),
    )


def _sending(row: ComplaintRow, letter: ComplaintLetter, way: str | None) -> Action:
    """Return the action that notes a letter as sent, or sends its text by e-mail where no way is given."""

    def send(session: ScopedSession, _: Values, by: Person) -> None:
        if way is None:
            complaints.send_by_mail(session, row.id, letter.kind, by=by)
        else:
            complaints.mark_sent(session, row.id, letter.kind, way=way, by=by)

    by_mail = "The text of the letter goes out by e-mail."
    return action(title=f"Send: {letter.title}", work=send, done="The letter is marked as sent." if way else by_mail)
