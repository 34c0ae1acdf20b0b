"""One return to an authority: prepared, checked and sent."""

import streamlit as st

from core.services.compliance import filings
from core.services.compliance.filings import FilingRow
from core.services.people.staff import Person
from core.ui.compliance import register_actions
from core.ui.compliance.desk import ROLE, history, read
from core.ui.compliance.tables import STATES, days_left
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.lists import tables


def buttons(row: FilingRow, person: Person) -> None:
    if row.id is None:
        register_actions.preparing_return(row.kind, row.period_ends_on).button("Prepared", icon="draw", type="primary")
    elif row.state == "prepared" and row.prepared_by != person.id:
        register_actions.checking_return(row.id).button("Checked", icon="fact_check", type="primary")
    elif row.state == "checked":
        register_actions.sending_return(row, row.id).button("Sent", icon="outgoing_mail", type="primary")


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("filings", "compliance/returns.py", "Back to the returns")
    key = st.query_params.get("id", "")
    row = next((each for each in read(filings.list_calendar) if each.key == key), None)
    if row is None:
        st.error("The address names no return of the calendar.", icon=":material/link_off:")
        return
    frame.page_header(
        f"{row.label} to {words.day(row.period_ends_on)} {words.badge(STATES[row.state])}",
        "Who prepares a return does not check it.",
        tab=f"{row.label} · Return",
    )
    actions.run()
    buttons(row, person)
    with st.container(border=True):
        facts.line("Due", words.day(row.due_on))
        if left := days_left(row.days_left):
            facts.line("Left", left)
        facts.line("Prepared by", row.preparer or "–")
        facts.line("Checked by", row.checker or "–")
        facts.line("Sent", f"{row.sender}, {words.moment(row.sent_at)}" if row.sent_at else "–")
        facts.line("Reference", row.reference or "–")
    if row.id:
        history(f"return {row.id}")
