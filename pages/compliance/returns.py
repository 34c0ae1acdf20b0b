"""The calendar of returns to authorities, and the licences of distributors."""

import streamlit as st

from core.services.compliance import filings
from core.ui.compliance.desk import ROLE, read
from core.ui.compliance.tables import CALENDAR, LICENCES
from core.ui.frame import frame
from core.ui.kit import words
from core.ui.lists import held_rows, tables


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Returns and licences", "What is due to authorities: prepared, checked by somebody else, and sent."
    )
    with st.skeleton(height=300):
        rows, licences = read(filings.list_calendar), read(filings.list_licences)
    late = sum((row.days_left or 0) < 0 for row in rows)
    st.markdown(f"{CALENDAR.count_text(len(rows))} of periods that ended in the last year · {words.count(late)} late")
    number = tables.page_of(CALENDAR, len(rows))
    if number is not None:
        tables.draw(CALENDAR, held_rows.page_of(CALENDAR, rows, number), number=number, total=len(rows))
    st.subheader("Licences", anchor=False)
    if licences:
        st.caption("From the agreement of each distributor that is active; an admin keeps it.")
        tables.draw_short(LICENCES, licences)
    else:
        st.info("There is no active distributor.")
