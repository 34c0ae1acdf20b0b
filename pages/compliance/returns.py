"""The calendar of returns to authorities, and the licences of distributors."""

import streamlit as st

from core.services.compliance import filings
from core.services.compliance.filings import FilingRow, Licence
from core.ui.frame import frame
from core.ui.kit import words
from core.ui.lists import columns, held_rows, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import LEFT, ROLE, STATES, read

CALENDAR: Table[FilingRow] = held_rows.sortable(
    Table(
        name="filings",
        noun=("return", "returns"),
        opens="compliance/filing.py",
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
    ),
    usual="Next due first",
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
        late = sum((row.days_left or 0) < 0 for row in rows)
        ended = "of periods that ended in the last year"
        st.markdown(f"{CALENDAR.count_text(len(rows))} {ended} · {words.count(late)} late")
        held_rows.draw(CALENDAR, rows)
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
