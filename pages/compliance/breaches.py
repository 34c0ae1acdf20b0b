"""The register of breaches of personal data."""

import streamlit as st

from core.services.compliance import breaches
from core.services.compliance.breaches import BreachRow
from core.ui.frame import frame
from core.ui.kit import actions
from core.ui.kit.actions import Action, Day, Text
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table
from pages.compliance._shared import ROLE, action, read

BREACHES: Table[BreachRow] = held_rows.sortable(
    Table(
        name="breaches",
        noun=("breach", "breaches"),
        opens="compliance/breach.py",
        narrow=("number", "title", "state", "left"),
        columns={
            "number": columns.text("Number", lambda row: row.number, 120),
            "title": columns.text("What", lambda row: row.title, 320),
            "state": columns.state("State", lambda row: row.state),
            "known": columns.moment("Known since", lambda row: row.known_at),
            "left": columns.text(
                "Notify within",
                lambda row: None if row.hours_left is None else f"{row.hours_left} h",
                110,
                right=True,
                sort_key=lambda row: row.hours_left,
            ),
            "people": columns.number("People", lambda row: row.people),
        },
    ),
    usual="Newest first",
)


def registering_breach() -> Action:
    """Return the dialog that registers a breach."""
    return action(
        title="Register a breach",
        icon="gpp_bad",
        says="The clock to the Commission runs from the day on which it was known.",
        confirm="Register it",
        fields=[
            Text("title", "What happened, in a line", longest=120),
            Text("description", "What is known", longest=4_000, is_long=True),
            Text("actor", "Actor of the audit log, if one is suspected (staff name@…)", longest=120),
            Day("known_on", "Known since"),
            Day("since_on", "From"),
            Day("until_on", "To"),
        ],
        work=lambda session, typed, by: breaches.register(session, typed, by=by),
        done="The breach is registered.",
    )


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Breaches", "What happened to personal data, the risk to people, and who was told in time."
    ):
        registering_breach().button("Register a breach", icon="gpp_bad", type="primary")
    actions.run()
    rows = read(breaches.list_breaches)
    if not rows:
        st.info("No breach is known. One that is suspected is registered too: the clock runs from when it was known.")
        return
    held_rows.draw(BREACHES, rows)
