"""One erasure: what it takes, who decided, and its certificate."""

import streamlit as st

from core.services.compliance import erasures
from core.services.compliance.erasures import ErasureRow
from core.services.compliance.retention import CLASSES
from core.services.people.staff import Person
from core.ui.compliance import erasure_actions
from core.ui.compliance.desk import ROLE, history, record
from core.ui.compliance.tables import STATES
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.lists import tables


def buttons(row: ErasureRow, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if row.prepared_by == person.id:
            erasure_actions.taking_back(row).button("Take it back", icon="undo")
        else:
            erasure_actions.deciding(row).button("Carry it out", icon="delete_forever", type="primary")
            erasure_actions.refusing(row).button("Refuse", icon="block")


def certificate(row: ErasureRow) -> None:
    with st.container(border=True):
        st.markdown("**Certificate of erasure**")
        facts.line("Number", row.number)
        facts.line("Carried out", f"{words.moment(row.decided_at)} (Lagos)")
        facts.line("By", f"{row.preparer or 'another store'}, and {row.decider or 'a restore'}")
        for name, count in row.outcome.items():
            facts.line(f"Changed in {words.title(name).lower()}", words.count(count))
        st.code(f"SHA-256 {row.sha256}", language=None)


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("erasures", "compliance/retention.py", "Back to retention")
    row = record(erasures.get_erasure, "erasure")
    frame.page_header(
        f"{row.number} {words.badge(STATES[row.state])}",
        "An erasure is prepared by one person and carried out by another; it cannot be undone.",
        tab=f"{row.number} · Erasure",
    )
    actions.run()
    if row.state == "open":
        buttons(row, person)
    with st.container(border=True):
        facts.line("Of", CLASSES[row.record_class][0])
        facts.line("Records of people", words.count(len(row.customers)))
        facts.line("Reason", row.reason)
        facts.line("Prepared", f"{row.preparer or '–'}, {words.moment(row.prepared_at)}")
        if row.is_early:
            facts.line("Before the end of its time", "Yes")
        if row.refusal:
            facts.line("Refused", row.refusal)
    if row.state == "erased":
        certificate(row)
    history(f"erasure {row.id}")
