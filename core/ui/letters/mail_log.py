"""The e-mails about a record: when, to whom, by whom, and what became of them."""

from collections.abc import Sequence

import streamlit as st

from core.services.mail.mail import MailLine
from core.ui.kit import words
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table

STATES = {"queued": "Waiting", "sent": "Sent", "dead": "Given up"}
LETTERS: Table[MailLine] = Table(
    name="letters",
    noun=("e-mail", "e-mails"),
    narrow=("at", "subject", "to", "state"),
    columns={
        "at": columns.moment("Asked for", lambda row: row.created_at),
        "subject": columns.text("Subject", lambda row: row.subject, 260),
        "to": columns.text("To", lambda row: row.recipient, 200),
        "by": columns.text("By", lambda row: row.sent_by and row.sent_by.removeprefix("staff "), 200),
        "state": columns.state("State", lambda row: STATES[row.state]),
        "error": columns.text("Why", lambda row: row.last_error, 240),
    },
)


def draw(letters: Sequence[MailLine]) -> None:
    """Draw the e-mails about a record; says so where there is none."""
    if not letters:
        st.caption("No e-mail was sent about this.")
        return
    tables.draw_short(LETTERS, letters)
    if any(letter.state == "queued" for letter in letters):
        st.caption(f"{words.count(sum(letter.state == 'queued' for letter in letters))} waiting to be sent.")
