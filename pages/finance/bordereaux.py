"""Bordereaux: premium and claims of a month, reported to each insurer."""

from datetime import date

import streamlit as st

from core import clock
from core.services.finance.bordereaux import overview
from core.services.finance.bordereaux.overview import DRAFT
from core.services.finance.statements import overview as statement_overview
from core.store.access import reading
from core.ui.finance import bordereau_actions, finance_alerts
from core.ui.finance.bordereau_table import BORDEREAUX
from core.ui.finance.finance_writes import ROLE
from core.ui.finance.months import choose_month
from core.ui.frame import frame
from core.ui.kit import dialogs, words
from core.ui.lists import held_rows, tables


def month_buttons(month: date) -> None:
    with reading(frame.scope()) as session:
        due, unsent = overview.list_due(session, month), overview.list_unsent(session, month)
    if due and clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now():
        dialogs.button(
            f"Issue {len(due)} of {month:%B %Y}",
            bordereau_actions.issuing_all(month, len(due)),
            is_primary=True,
            icon=":material/assignment_turned_in:",
        )
    if unsent:
        dialogs.button(
            f"Mark {len(unsent)} as sent",
            bordereau_actions.sending_all(month, unsent),
            is_primary=not due,
            icon=":material/outgoing_mail:",
        )


def draw() -> None:
    frame.require(ROLE)
    frame.page_header("Bordereaux", "What was written and claimed on each insurer's authority, month by month.")
    if not frame.mode():
        st.info("Bordereaux are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    finance_alerts.overdue_bordereaux()
    with reading(frame.scope()) as session:
        months = statement_overview.list_months(session)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        month = choose_month(months)
        month_buttons(month)
    dialogs.run(ROLE)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = overview.list_month(session, month)
    if not rows:
        st.info("There is nothing to report of this month.", icon=":material/event_busy:")
        return
    counts = {state: sum(row.state == state for row in rows) for state in dict.fromkeys(row.state for row in rows)}
    said = " · ".join(f"{words.badge(state)} {words.count(number)}" for state, number in counts.items())
    st.markdown(f"{BORDEREAUX.count_text(len(rows))} · {said}")
    if any(row.state == DRAFT for row in rows):
        st.caption("The rows of a draft change until it is issued; months are reported one after the other.")
    number = tables.page_of(BORDEREAUX, len(rows))
    if number is not None:
        tables.draw(BORDEREAUX, held_rows.page_of(BORDEREAUX, rows, number), number=number, total=len(rows))
