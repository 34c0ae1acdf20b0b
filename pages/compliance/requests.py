"""Requests of people about their data: the register, by the days left."""

import streamlit as st

from core.services.compliance import requests
from core.services.compliance.request_forms import KINDS
from core.services.compliance.requests import RequestRow
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Choice, Day, Text
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table
from pages.compliance._shared import LEFT, ROLE, STATES, action, read

REQUESTS: Table[RequestRow] = held_rows.sortable(
    Table(
        name="data_requests",
        noun=("request", "requests"),
        opens="compliance/request.py",
        narrow=("number", "kind", "state", "left"),
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "kind": columns.text("Asks for", lambda row: KINDS[row.kind], 130),
            "name": columns.text("Name", lambda row: row.name, 200),
            "state": columns.state("State", lambda row: STATES[row.state]),
            "received": columns.day("Received", lambda row: row.received_at),
            "due": columns.day("Answer by", lambda row: row.last_day),
            "left": LEFT,
            "identity": columns.text("Identity", lambda row: "Checked" if row.identity_at else "Not yet", 90),
        },
    ),
    usual="Next due first",
)


def registering() -> Action:
    """Return the dialog that registers a request."""
    return action(
        title="Register a request",
        icon="contact_mail",
        says="Records with the same e-mail are found at once. The days to acknowledge and to answer begin to count.",
        confirm="Register it",
        fields=[
            Choice("kind", "What the person asks for", options=KINDS),
            Text("name", "Name", longest=200),
            Text("email", "E-mail", longest=254),
            Text("phone", "Phone", longest=32),
            Text("details", "In their words", longest=2_000, is_long=True),
            Day("received_on", "Received on, if not today"),
        ],
        work=lambda session, typed, by: requests.register(session, typed, by=by),
        done="The request is registered.",
    )


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Data requests", "What people ask about their data, over all distributors; the next due is first."
    ):
        registering().button("Register a request", icon="contact_mail", type="primary")
    actions.run()
    rows = read(requests.list_requests)
    if not rows:
        st.info("No request yet. Register every request here, whether by letter, e-mail or phone.")
        return
    late = sum((row.days_left or 0) < 0 for row in rows)
    open_ = sum(row.is_open for row in rows)
    st.markdown(f"{REQUESTS.count_text(len(rows))} · {words.count(open_)} open · {words.count(late)} late")
    held_rows.draw(REQUESTS, rows)
