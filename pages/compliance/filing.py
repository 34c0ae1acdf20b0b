"""One return to an authority: prepared, checked and sent."""

from datetime import date
from uuid import UUID

import streamlit as st

from core.services.compliance import filings
from core.services.compliance.filings import FilingRow
from core.services.people.staff import Person
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.compliance._shared import ROLE, STATES, action, days_left, draw_history, late_badge, read


def preparing_return(kind: str, ends_on: date) -> Action:
    """Return the dialog that notes a return as prepared."""
    return action(
        title="The return is prepared",
        icon="draw",
        says="Somebody else checks it.",
        confirm="Note it",
        work=lambda session, _, by: filings.prepare(session, kind, ends_on, by=by),
        done="The return is noted as prepared.",
    )


def checking_return(filing_id: UUID) -> Action:
    """Return the dialog that notes a return as checked."""
    return action(
        title="The return was checked",
        icon="fact_check",
        says="You have compared it with the books.",
        confirm="Note it",
        work=lambda session, _, by: filings.check(session, filing_id, by=by),
        done="The return is noted as checked.",
    )


def sending_return(row: FilingRow, filing_id: UUID) -> Action:
    """Return the dialog that notes a return as sent."""
    return action(
        title=f"{row.label} was sent",
        icon="outgoing_mail",
        says="The authority's reference proves it.",
        confirm="Note it",
        fields=[Text("reference", "Reference", longest=60)],
        work=lambda session, typed, by: filings.send(session, filing_id, reference=typed["reference"], by=by),
        done="The return is noted as sent.",
    )


def buttons(row: FilingRow, person: Person) -> None:
    if row.id is None:
        preparing_return(row.kind, row.period_ends_on).button("Prepared", icon="draw", type="primary")
    elif row.state == "prepared" and row.prepared_by != person.id:
        checking_return(row.id).button("Checked", icon="fact_check", type="primary")
    elif row.state == "checked":
        sending_return(row, row.id).button("Sent", icon="outgoing_mail", type="primary")


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("filings", "compliance/returns.py", "Back to the returns")
    key = st.query_params.get("id", "")
    row = next((each for each in read(filings.list_calendar) if each.key == key), None)
    if row is None:
        st.error("The address names no return of the calendar.", icon=":material/link_off:")
        return
    frame.page_header(
        f"{row.label} to {words.day(row.period_ends_on)} {words.badge(STATES[row.state])}{late_badge(row)}",
        "Whoever prepares a return cannot check it.",
        tab=f"{row.label} · Return",
    )
    actions.run()
    buttons(row, person)
    with st.container(border=True):
        facts.grid(
            {
                "Due": words.day(row.due_on),
                "Left": days_left(row.days_left) or "–",
                "Prepared by": row.preparer or "–",
                "Checked by": row.checker or "–",
                "Sent": f"{row.sender}, {words.moment(row.sent_at)}" if row.sent_at else "–",
                "Reference": row.reference or "–",
            },
            columns=3,
        )
    if row.id:
        draw_history(f"return {row.id}")
