"""One breach: what was opened in its span, the risk, and who was told."""

import streamlit as st

from core.services.compliance import breaches
from core.services.compliance.breaches import MAX_LISTED, RISKS, BreachRow
from core.services.people.staff import Person
from core.ui.compliance import register_actions
from core.ui.compliance.desk import ROLE, history, read, record
from core.ui.compliance.tables import EXPOSURES
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.lists import tables


def buttons(row: BreachRow, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        register_actions.judging(row).button(
            "Judge the risk", icon="balance", type="primary" if row.risk is None else "secondary"
        )
        if row.risk not in {None, "unlikely"} and row.commission_at is None:
            register_actions.notifying(row).button("Commission notified", icon="outgoing_mail", type="primary")
        if row.risk and row.people_at is None:
            register_actions.telling(row).button("People told", icon="campaign")
        if row.risk and row.decided_by != person.id:
            register_actions.closing(row).button("Close", icon="task_alt")


def deadlines(row: BreachRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Clock**")
        facts.line("Known since", words.moment(row.known_at))
        facts.line("Commission by", words.moment(row.notify_by))
        if row.hours_left is not None:
            facts.line("Hours left", str(row.hours_left))
        facts.line("Risk", RISKS[row.risk] if row.risk else "To be judged")
        facts.line("People", "–" if row.people is None else words.count(row.people))
        facts.line("Commission told", f"{words.moment(row.commission_at)} {row.commission_reference or ''}")
        facts.line("People told", words.moment(row.people_at))


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("breaches", "compliance/breaches.py", "Back to the breaches")
    row = record(breaches.get_breach, "breach")
    frame.page_header(
        f"{words.plain(row.title)} {words.badge(row.state)}",
        f"{row.number}: who judges the risk does not close it.",
        tab=f"{row.number} · Breach",
    )
    actions.run()
    if row.closed_at is None:
        buttons(row, person)
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            st.markdown("**What happened**")
            facts.line("From", words.moment(row.since_at))
            facts.line("To", words.moment(row.until_at))
            facts.line("Suspected", row.actor or "Nobody yet")
            st.caption(words.plain(row.description))
        deadlines(row)
    exposures = read(lambda session: breaches.find_exposures(session, row))
    st.subheader("Opened, shown or exported in the span", anchor=False)
    if exposures:
        more = f" The newest {MAX_LISTED} are shown." if len(exposures) == MAX_LISTED else ""
        st.markdown(f"{EXPOSURES.count_text(len(exposures))} of the audit log.{more}")
        tables.draw_short(EXPOSURES, exposures)
    else:
        st.caption("The audit log has no entry of the kind in this span.")
    with st.expander("Draft of the notice to the Commission", icon=":material/draft:"):
        st.code(breaches.draft_notice(row, exposures), language=None, wrap_lines=True)
    history(f"breach {row.id}")
