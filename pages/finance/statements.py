"""Statements: the accounts of a month, with what is drafted, prepared, approved and sent."""

from collections.abc import Mapping, Sequence
from datetime import date

import streamlit as st

from core import clock
from core.services.finance.statements import overview as statement_overview
from core.services.finance.statements import states as statement_states
from core.services.finance.statements.overview import DRAFT, StatementSummary
from core.services.finance.statements.reading import StatementRow
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.finance import statement_actions
from core.ui.finance.finance_writes import ROLE
from core.ui.finance.months import choose_month
from core.ui.finance.statement_table import STATEMENTS
from core.ui.frame import frame
from core.ui.kit import dialogs, words
from core.ui.lists import held_rows, tables


def counted(rows: list[StatementSummary]) -> None:
    number = {state: sum(row.state == state for row in rows) for state in dict.fromkeys(row.state for row in rows)}
    said = " · ".join(f"{words.badge(state)} {words.count(count)}" for state, count in number.items())
    st.markdown(f"{STATEMENTS.count_text(len(rows))} · {said}" if rows else STATEMENTS.count_text(0))


def buttons(month: date, drafts: int, movable: Mapping[str, Sequence[StatementRow]], person: Person) -> None:
    """Draw what may be done with many statements at once; `drafts` are those that are ready to be prepared."""
    if drafts:
        dialogs.button(
            f"Prepare {drafts} of {month:%B %Y}",
            statement_actions.preparing_all(month),
            is_primary=True,
            icon=":material/draw:",
        )
    for to, label in statement_actions.MOVES_OF_MANY.items():
        if movable[to]:
            dialogs.button(
                label.format(words.count(len(movable[to]))),
                statement_actions.moving_all(month, to, movable[to]),
                is_primary=not drafts,
                icon=":material/task_alt:",
                disabled=to == "Approved" and not person.may_approve,
            )


def draw() -> None:
    person = frame.require(ROLE)
    frame.page_header(
        "Statements",
        "What each distributor and insurer is owed for a month: prepared by one person, approved by another.",
    )
    if not frame.mode():
        st.info("Statements are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with reading(frame.scope()) as session:
        months = statement_overview.list_months(session)
    header = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with header:
        month = choose_month(months)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = statement_overview.list_month(session, month)
        movable = {
            to: statement_states.list_movable(session, month, to, by=person) for to in statement_actions.MOVES_OF_MANY
        }
        for_another = statement_states.count_for_another(session, month, by=person)
    is_over = clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now()
    with header:
        buttons(month, sum(row.state == DRAFT for row in rows) if is_over else 0, movable, person)
    dialogs.run(ROLE)
    if not rows:
        st.info("No money moved in this month: there is nothing to state.", icon=":material/event_busy:")
        return
    if not is_over:
        st.caption("The month runs still: its drafts move with every sale, and are prepared when it is over.")
    counted(rows)
    if statement_actions.lacks_withholding(month):
        st.warning(
            f"No rate of withholding tax is on file for {month:%B %Y}: nothing is withheld of its commissions.",
            icon=":material/percent:",
        )
    if for_another:
        st.caption(
            f"You have prepared {words.count(for_another)} of them: somebody else of finance approves"
            f" {'it' if for_another == 1 else 'them'}."
        )
    number = tables.page_of(STATEMENTS, len(rows))
    if number is not None:
        tables.draw(STATEMENTS, held_rows.page_of(STATEMENTS, rows, number), number=number, total=len(rows))
