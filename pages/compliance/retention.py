"""Retention: what was kept for long enough, the erasures, and what is on hold."""

import streamlit as st

from core.services.compliance import erasures, retention
from core.services.compliance.retention import Hold, Preview
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, held_rows, tables
from core.ui.lists.tables import Table
from pages.compliance._shared import ERASURES, ROLE, action, read

PREVIEWS: Table[Preview] = Table(
    name="retention",
    noun=("class", "classes"),
    key=lambda row: row.record_class,
    columns={
        "label": columns.text("Records", lambda row: row.label, 280),
        "trigger": columns.text("Kept from", lambda row: row.trigger, 210),
        "period": columns.text("For", lambda row: row.period, 90),
        "count": columns.number("Due", lambda row: row.count),
        "oldest": columns.day("Oldest", lambda row: row.oldest_at),
    },
)


def preparing(preview: Preview) -> Action:
    """Return the dialog that prepares the erasure of what is due of a class."""
    return action(
        title="Prepare the erasure",
        icon="auto_delete",
        says=f"**{words.plain(preview.label)}** that were kept for {preview.period}: {words.count(preview.count)} are"
        f" due (people: {retention.MOST_AT_ONCE} at once, the oldest first). Somebody else carries it out.",
        confirm="Prepare it",
        work=lambda session, _, by: erasures.prepare_due(session, preview.record_class, by=by),
        done="The erasure is prepared: somebody else of compliance carries it out.",
    )


def lifting(hold: Hold) -> Action:
    """Return the dialog that lifts somebody else's hold."""
    return action(
        title="Lift the hold",
        icon="lock_open",
        says=f"Set by **{words.plain(hold.setter)}**: {words.plain(hold.reason)}.",
        confirm="Lift it",
        work=lambda session, _, by: retention.lift_hold(session, hold.id, by=by),
        done="The hold is lifted.",
    )


def draw() -> None:
    person = frame.require(ROLE)
    frame.page_header(
        "Retention", "Records past their retention period are erased by two people; sums stay as they were."
    )
    actions.run()
    with st.skeleton(height=240):
        previews = read(retention.list_previews)
    tables.draw_short(PREVIEWS, previews)
    with st.container(horizontal=True, gap="xsmall"):
        for preview in previews:
            if preview.count:
                preparing(preview).button(
                    f"Prepare: {preview.label.lower()}", icon="auto_delete", key=f"prepare.{preview.record_class}"
                )
    st.subheader("Erasures", anchor=False)
    rows = read(erasures.list_erasures)
    if rows:
        held_rows.draw(ERASURES, rows)
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
                lifting(hold).button("Lift", icon="lock_open", key=f"lift.{hold.id}")
