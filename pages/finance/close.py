"""Month close: the check list of a month, its steps, and its journal."""

from datetime import date

import streamlit as st

from core import clock
from core.services.closing import closing
from core.services.closing.checks import Check
from core.services.finance import months
from core.services.finance.statements import overview as statement_overview
from core.services.people.staff import Person
from core.states.months import MonthState
from core.store.access import reading
from core.ui.finance import close_actions
from core.ui.finance.finance_writes import ROLE
from core.ui.finance.months import choose_month
from core.ui.frame import frame, page_links
from core.ui.kit import dialogs, facts, words

SHOWN = 10


def buttons(month: date, steps: list[months.Step], earlier: date | None, person: Person) -> None:
    state = steps[-1].state if steps else MonthState.OPEN
    if earlier and state != MonthState.CLOSED:
        page_links.link(
            "finance/close.py",
            label=f"{earlier:%B %Y} comes first: months are closed one after the other",
            icon=":material/event_busy:",
            query_params={"month": f"{earlier:%Y-%m}"},
        )
    with st.container(horizontal=True, gap="xsmall"):
        for to in closing.list_allowed(steps, person):
            dialogs.button(
                close_actions.label_of(state, to),
                close_actions.stepping(month, state, to),
                key=f"step.{to}",
                is_primary=to in (MonthState.CLOSING, MonthState.CLOSED),
                disabled=to == MonthState.CLOSING and earlier is not None,
            )
        st.link_button("Journal, CSV", f"/closes/{month:%Y-%m}/journal.csv", icon=":material/download:")


def check(found: Check) -> None:
    number = len(found.rows)
    if not number and found.unproved:
        st.markdown(f":material/remove: {words.plain(found.name)}: {words.plain(found.unproved)}")
        return
    if not number:
        st.markdown(f":material/check_circle: {words.plain(found.name)}")
        return
    icon = ":material/block:" if found.is_blocking else ":material/visibility:"
    kind = "stands against it" if found.is_blocking else "to be looked at"
    with st.expander(f"{found.name}: {words.count(number)}, {kind}", icon=icon):
        for row in found.rows[:SHOWN]:
            st.markdown(words.plain(row))
        if number > SHOWN:
            st.caption(f"and {words.count(number - SHOWN)} more")


def history(steps: list[months.Step]) -> None:
    if not steps:
        return
    st.subheader("Steps", anchor=False)
    for step in steps:
        note = f": {step.note}" if step.note else ""
        facts.line(step.state, f"{step.person}, {words.moment(step.at)}{note}")
        if step.sha256:
            st.code(f"SHA-256 of the journal {step.sha256}", language=None)


def draw() -> None:
    person = frame.require(ROLE)
    frame.page_header("Month close", "What has to be right before a month is closed, by two people, and its journal.")
    if not frame.mode():
        st.info("The books are of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with reading(frame.scope()) as session:
        month = choose_month(statement_overview.list_months(session))
        steps = list(months.list_steps(session, month))
        earlier = closing.get_earlier(session, month)
    state = steps[-1].state if steps else MonthState.OPEN
    st.markdown(f"**{month:%B %Y}** {words.badge(state)}")
    dialogs.run(ROLE)
    if clock.lagos_midnight(clock.add_months(month, 1)) > clock.now():
        st.info("The month runs still: it is closed when it is over.", icon=":material/event_upcoming:")
        return
    buttons(month, steps, earlier, person)
    history(steps)
    st.subheader("Checklist", anchor=False)
    if st.toggle("Run the checklist now", value=state == MonthState.CLOSING, key=f"checks.{state}"):
        with st.spinner("Reading the whole store: minutes at a million purchases"), reading(frame.scope()) as session:
            found = closing.list_checks(session, month)
        for each in found:
            check(each)
    else:
        st.caption("It reads the whole store, and runs again when the month is closed.")
