"""Returns to authorities and licences of distributors; and one return, prepared, checked and sent."""

from datetime import date
from uuid import UUID

import streamlit as st

from core.services.compliance import filings
from core.services.compliance.filings import FilingRow, Licence
from core.services.people.staff import Person
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import (
    LEFT,
    ROLE,
    STATES,
    action,
    days_left,
    draw_history,
    draw_register,
    late_badge,
    read,
)

CALENDAR: Table[FilingRow] = Table(
    name="filings",
    noun=("return", "returns"),
    opens="compliance/returns.py#filing",
    key=lambda row: row.key,
    narrow=("label", "due", "left", "state"),
    columns={
        "label": columns.text("Return", lambda row: row.label, 210),
        "period": columns.day("Period to", lambda row: row.period_ends_on),
        "due": columns.day("Due", lambda row: row.due_on),
        "left": LEFT,
        "state": columns.state("State", lambda row: STATES[row.state]),
        "preparer": columns.text("Prepared by", lambda row: row.preparer, 140),
        "checker": columns.text("Checked by", lambda row: row.checker, 140),
        "reference": columns.text("Reference", lambda row: row.reference, 140),
    },
    unsorted="Next due first",
)


LICENCES: Table[Licence] = Table(
    name="licences",
    noun=("distributor", "distributors"),
    key=lambda row: row.distributor_id,
    columns={
        "distributor": columns.text("Distributor", lambda row: row.distributor, 260),
        "number": columns.text("Licence", lambda row: row.number, 180),
        "expires": columns.day("Until", lambda row: row.expires_on),
        "state": columns.state("State", lambda row: row.state),
    },
)


def draw_calendar(rows: list[FilingRow]) -> None:
    """Draw the returns; where none is due yet, say from when on they are."""
    if rows:
        of = " of periods that ended in the last year"
        draw_register(CALENDAR, rows, is_open=lambda row: row.days_left is not None, closed="Sent", of=of)
        return
    first_on = read(filings.find_first_day)
    begun = f"Business began on {words.day(first_on)}" if first_on else "There is no live sale and no agreement yet"
    st.info(
        f"No return is due yet. {begun}: the first returns are those of the month, quarter and year of the first sale,"
        " and each is listed once its period has ended.",
        icon=":material/event_available:",
    )


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Returns and licences", "What is due to authorities: prepared, checked by somebody else, and sent."
    )
    with st.skeleton(height=300):
        rows, licences = read(filings.list_calendar), read(filings.list_licences)
    draw_calendar(rows)
    st.subheader("Licences", anchor=False)
    if licences:
        st.caption("From the agreement of each distributor that is active; an admin keeps it.")
        tables.draw_short(LICENCES, licences)
    else:
        st.info("There is no active distributor.")


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
        preparing_return(row.kind, row.period_ends_on).button("Mark as prepared", icon="draw", type="primary")
    elif row.state == "prepared" and row.prepared_by != person.id:
        checking_return(row.id).button("Mark as checked", icon="fact_check", type="primary")
    elif row.state == "checked":
        sending_return(row, row.id).button("Mark as sent", icon="outgoing_mail", type="primary")


def draw_filing() -> None:
    person = frame.require(ROLE)
    tables.back_link("filings", "compliance/returns.py", "Back to the returns")
    key = st.query_params.get("id", "")
    row = next((each for each in read(filings.list_calendar) if each.key == key), None)
    if row is None:
        st.error("The address names no return of the calendar.", icon=":material/link_off:")
        return
    with frame.header_with_buttons(
        f"{row.label} to {words.day(row.period_ends_on)} {words.badge(STATES[row.state])}{late_badge(row)}",
        "Whoever prepares a return cannot check it.",
        tab=f"{row.label} · Return",
    ):
        buttons(row, person)
    actions.run()
    if row.state == "prepared" and row.prepared_by == person.id:
        st.caption(":material/lock: You prepared it: somebody else checks it.")
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
