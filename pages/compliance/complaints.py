"""Complaints by insurer, and premiums whose clock has run out."""

import streamlit as st

from core.services.compliance import complaints
from core.ui.compliance import register_actions
from core.ui.compliance.desk import ROLE, read
from core.ui.compliance.tables import COMPLAINTS, INSURERS
from core.ui.frame import frame
from core.ui.kit import actions
from core.ui.lists import held_rows, tables


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Complaints", "What people complain of, counted for each insurer over twelve months."
    ):
        register_actions.registering_complaint().button("Register a complaint", icon="feedback", type="primary")
    actions.run()
    rows = read(complaints.list_complaints)
    if rows:
        number = tables.page_of(COMPLAINTS, len(rows))
        if number is not None:
            tables.draw(COMPLAINTS, held_rows.page_of(COMPLAINTS, rows, number), number=number, total=len(rows))
    else:
        st.info("Nobody has complained yet. A complaint that arrives by any way is registered here.")
    st.subheader("Insurers", anchor=False)
    st.caption("Premiums and covers are live policies whose insurer had no notice, or that were not placed, in time.")
    tables.draw_short(INSURERS, read(complaints.count_by_insurer))
