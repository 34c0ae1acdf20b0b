"""Bordereaux: premium and claims of a month, reported to each insurer."""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

import streamlit as st

from core import clock
from core.services.finance.bordereaux import issuing, overview
from core.services.finance.bordereaux.overview import DRAFT, BordereauSummary
from core.services.finance.bordereaux.reading import BordereauRow
from core.services.finance.statements import overview as statement_overview
from core.states.finance import BordereauState
from core.store.access import reading, store
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, held_rows, table_choices
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action, choose_month, overdue_beside


def _due(row: BordereauSummary) -> str:
    if not row.is_overdue:
        return words.day(row.due_on)
    return f"{words.day(row.due_on)}, overdue: {'send it' if row.bordereau_id else 'issue it'}"


BORDEREAUX: Table[BordereauSummary] = held_rows.sortable(
    Table(
        name="bordereaux",
        noun=("bordereau", "bordereaux"),
        opens="finance/bordereau.py",
        narrow=("party", "kind", "state", "main"),
        key=lambda row: row.key,
        columns={
            "party": columns.text("Insurer", lambda row: row.party, 190),
            "kind": columns.text("Kind", lambda row: row.kind_name, 90),
            "number": columns.text("Number", lambda row: row.number, 90),
            "state": columns.state("State", lambda row: row.state),
            "rows": columns.number("Rows", lambda row: row.rows),
            "main": columns.naira("Gross premium, or incurred", lambda row: row.main_minor),
            "due": Column(
                "Due",
                _due,
                190,
                colour=lambda row: "red" if row.is_overdue else "",
                sort_key=lambda row: row.due_on,
            ),
        },
    ),
    usual="By insurer and kind",
)


def issuing_all(month: date, number: int) -> Action:
    """Return the dialog that issues every bordereau of a month that is next."""
    return action(
        title=f"Issue {month:%B %Y}",
        icon="assignment_turned_in",
        says=f"{number} are frozen, each with the next number of its insurer and a hash. A row that comes later goes"
        " into the next one.",
        confirm="Issue them",
        items=lambda: ((name, (provider_id, kind)) for provider_id, name, kind in _list_due(month)),
        work=lambda session, due, by: issuing.issue(session, due[0], due[1], month, by=by),
        done=lambda count: f"{words.count(count)} bordereaux are issued",
    )


def _list_due(month: date) -> Sequence[tuple[UUID, str, str]]:
    with store().reading(frame.scope()) as session:
        return overview.list_due(session, month)


def sending_all(month: date, rows: Sequence[BordereauRow]) -> Action:
    """Return the dialog that marks the issued bordereaux of a month as sent."""
    return action(
        title=f"Mark {len(rows)} of {month:%B %Y} as sent",
        icon="outgoing_mail",
        says=", ".join(f"**{row.number}** to {words.plain(row.party)}" for row in rows) + ".",
        confirm="Mark them as sent",
        items=lambda: ((f"{row.number} of {row.party}", row.id) for row in rows),
        work=lambda session, bordereau_id, by: issuing.move(session, bordereau_id, BordereauState.SENT, by=by),
        done=lambda count: f"{words.count(count)} bordereaux are sent",
    )


def month_buttons(month: date) -> None:
    with reading(frame.scope()) as session:
        due, unsent = overview.list_due(session, month), overview.list_unsent(session, month)
    if due and clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now():
        issuing_all(month, len(due)).button(f"Issue {len(due)} of {month:%B %Y}", type="primary")
    if unsent:
        look = "secondary" if due else "primary"
        sending_all(month, unsent).button(f"Mark {len(unsent)} as sent", type=look)


def draw() -> None:
    frame.require(ROLE)
    beside = frame.header_with_views("Bordereaux", "Premium and claims reported to each insurer, month by month.")
    if not frame.mode():
        st.info("Bordereaux are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with reading(frame.scope()) as session:
        months = statement_overview.list_months(session)
    with beside:
        month = choose_month(months, is_labelled=False)
        month_buttons(month)
        overdue_beside()
    actions.run()
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = overview.list_month(session, month)
    if not rows:
        st.info("There is nothing to report for this month. Choose another month above.", icon=":material/event_busy:")
        return
    draw_head(rows)
    held_rows.draw(BORDEREAUX, rows)
    if any(row.state == DRAFT for row in rows):
        st.caption("The rows of a draft change until it is issued; months are reported one after the other.")


def draw_head(rows: Sequence[BordereauSummary]) -> None:
    """Draw how many bordereaux stand in which state, and what each kind comes to."""
    counts = {state: sum(row.state == state for row in rows) for state in dict.fromkeys(row.state for row in rows)}
    said = " · ".join(f"{words.badge(state)} {words.count(number)}" for state, number in counts.items())
    sums = {
        name: sum(row.main_minor or 0 for row in rows if row.kind_name == name)
        for name in dict.fromkeys(row.kind_name for row in rows)
    }
    kinds = " · ".join(f"{name}: {words.naira(minor)}" for name, minor in sums.items())
    table_choices.head(f"{BORDEREAUX.count_text(len(rows))} · {said} · {kinds}", BORDEREAUX)
