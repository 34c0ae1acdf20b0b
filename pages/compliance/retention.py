"""Retention: what was kept for long enough, the erasures, and what is on hold."""

import streamlit as st

from core.services.compliance import erasures, retention
from core.ui.compliance import erasure_actions
from core.ui.compliance.desk import ROLE, read
from core.ui.compliance.tables import ERASURES, PREVIEWS
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.lists import held_rows, tables


def draw() -> None:
    person = frame.require(ROLE)
    frame.page_header("Retention", "What was kept for long enough is erased in two hands; sums stay as they were.")
    actions.run()
    with st.skeleton(height=240):
        previews = read(retention.list_previews)
    tables.draw_short(PREVIEWS, previews)
    with st.container(horizontal=True, gap="xsmall"):
        for preview in previews:
            if preview.count:
                erasure_actions.preparing(preview).button(
                    f"Prepare: {preview.label.lower()}", icon="auto_delete", key=f"prepare.{preview.record_class}"
                )
    st.subheader("Erasures", anchor=False)
    rows = read(erasures.list_erasures)
    if rows:
        number = tables.page_of(ERASURES, len(rows))
        if number is not None:
            tables.draw(ERASURES, held_rows.page_of(ERASURES, rows, number), number=number, total=len(rows))
    else:
        st.info("Nothing was erased yet. A class above is prepared when something of it is due.")
    st.subheader("Legal holds", anchor=False)
    holds = read(retention.list_holds)
    if not holds:
        st.caption("No record is on hold. A hold is set on the records of a data request.")
    for hold in holds:
        with st.container(border=True, horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(
                f"**{words.plain(hold.customer)}**: {words.plain(hold.reason)} · {words.plain(hold.setter)},"
                f" {words.moment(hold.set_at)}"
            )
            if hold.set_by != person.id:
                erasure_actions.lifting(hold).button("Lift", icon="lock_open", key=f"lift.{hold.id}")
