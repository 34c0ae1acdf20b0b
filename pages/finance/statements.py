"""Statements: the accounts of a month, with what is drafted, prepared, approved and sent."""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Final

import streamlit as st

from core import clock
from core.services.finance.parties import Party
from core.services.finance.statements import overview as statement_overview
from core.services.finance.statements import preparing as statements
from core.services.finance.statements import states as statement_states
from core.services.finance.statements.overview import DRAFT, StatementSummary
from core.services.finance.statements.reading import StatementRow
from core.services.people.staff import Person
from core.states.finance import StatementState
from core.store.access import reading, store
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, held_rows, table_choices
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action, choose_month, lacks_withholding, show_resting, warn_of_withholding

STATEMENTS: Table[StatementSummary] = held_rows.sortable(
    Table(
        name="statements",
        noun=("account", "accounts"),
        opens="finance/statement.py",
        narrow=("party", "account", "state", "closing"),
        key=lambda row: row.key,
        columns={
            "party": columns.text("Party", lambda row: row.name, 190),
            "account": columns.text("Account", lambda row: row.account_name, 110),
            "number": columns.text("Number", lambda row: row.number, 90),
            "state": columns.state("State", lambda row: row.state),
            "lines": columns.number("Lines", lambda row: row.lines),
            "opening": columns.naira("Opening", lambda row: row.opening_minor),
            "month": columns.naira("Of the month", lambda row: row.change_minor),
            "closing": columns.naira("Closing", lambda row: row.closing_minor),
        },
    ),
    usual="By account and party",
)
# The states to which many statements are moved together, each with the label of its button.
MOVES_OF_MANY: Final[Mapping[str, str]] = {
    StatementState.APPROVED: "Approve {}",
    StatementState.SENT: "Mark {} as sent",
}


def preparing_all(month: date) -> Action:
    """Return the dialog that prepares a month for every party that has something to state."""
    lacks = lacks_withholding(month)
    return action(
        title=f"Prepare the statements of {month:%B %Y}",
        icon="draw",
        says=warn_of_withholding(month)
        + "Each is frozen with the next number of its party and a hash. Somebody else of finance approves it."
        " A month of a hundred thousand movements takes about a minute.",
        confirm="Prepare them without withholding tax" if lacks else "Prepare them",
        items=lambda: ((name, party) for party, name in _list_due(month)),
        # The dialog has said so.
        work=lambda session, party, by: statements.prepare(session, party, month, by=by, without_withholding=lacks),
        done=lambda count: f"{words.count(count)} statements are prepared",
    )


def _list_due(month: date) -> Sequence[tuple[Party, str]]:
    with store().reading(frame.scope()) as session:
        return statements.list_due(session, month)


def moving_all(month: date, to: str, rows: Sequence[StatementRow]) -> Action:
    """Return the dialog that moves statements of a month to a state, with the sum of their balances."""
    label = MOVES_OF_MANY[to].format(words.count(len(rows)))
    return action(
        title=f"{label} of {month:%B %Y}",
        icon="task_alt",
        says="  \n".join(_add_up(rows, account) for account in ("distributor", "provider"))
        + f"\n\nEach becomes **{to}**.",
        confirm=label,
        items=lambda: ((f"{row.paper.number} of {row.paper.party}", row.id) for row in rows),
        work=lambda session, statement_id, by: statement_states.move(session, statement_id, to, by=by),
        done=lambda count: f"{words.count(count)} statements are {to.lower()}",
    )


def _add_up(rows: Sequence[StatementRow], account: str) -> str:
    closing = [row.paper.closing_minor for row in rows if row.paper.account == account]
    title = "Distributors" if account == "distributor" else "Insurers"
    return f"{title}: **{words.count(len(closing))}** statements, closing at **{words.naira(sum(closing))}** together."


def counted(rows: list[StatementSummary]) -> None:
    """Draw how many accounts stand in which state, and their balances behind the sentence."""
    number = {state: sum(row.state == state for row in rows) for state in dict.fromkeys(row.state for row in rows)}
    said = " · ".join(f"{words.badge(state)} {words.count(count)}" for state, count in number.items())
    stated = [row for row in rows if row.closing_minor is not None]
    closing = f" · closing {words.naira(sum(row.closing_minor or 0 for row in stated))}" if stated else ""
    sums = partial(draw_sums, stated) if stated else None
    table_choices.head(f"{STATEMENTS.count_text(len(rows))} · {said}{closing}", STATEMENTS, sums=sums)


def draw_sums(stated: Sequence[StatementSummary]) -> None:
    names = ("opening_minor", "change_minor", "closing_minor")
    opening, change, closing = (words.naira(sum(getattr(row, name) for row in stated)) for name in names)
    st.caption(f"{words.count(len(stated))} stated: opening {opening} + of the month {change} = closing {closing}.")


def buttons(month: date, drafts: int, movable: Mapping[str, Sequence[StatementRow]], person: Person) -> None:
    """Draw what may be done with many statements at once; `drafts` are those that are ready to be prepared."""
    if drafts:
        preparing_all(month).button(f"Prepare {drafts} of {month:%B %Y}", type="primary")
    for to, label in MOVES_OF_MANY.items():
        if movable[to]:
            moving_all(month, to, movable[to]).button(
                label.format(words.count(len(movable[to]))),
                type="secondary" if drafts else "primary",
                disabled=to == StatementState.APPROVED and not person.may_approve,
            )
    if movable[StatementState.APPROVED]:
        show_resting(person)


def draw() -> None:
    person = frame.require(ROLE)
    beside = frame.header_with_views(
        "Statements",
        "What each distributor and insurer is owed for a month: prepared by one person, approved by another.",
    )
    if not frame.mode():
        st.info("Statements are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with reading(frame.scope()) as session:
        months = statement_overview.list_months(session)
    with beside:
        month = choose_month(months, is_labelled=False)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = statement_overview.list_month(session, month)
        movable = {to: statement_states.list_movable(session, month, to, by=person) for to in MOVES_OF_MANY}
        for_another = statement_states.count_for_another(session, month, by=person)
    is_over = clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now()
    with beside:
        buttons(month, sum(row.state == DRAFT for row in rows) if is_over else 0, movable, person)
    actions.run()
    if not rows:
        st.info("No money moved in this month: there is nothing to state.", icon=":material/event_busy:")
        return
    if not is_over:
        st.caption("The month is not over yet: its drafts move with every sale, and are prepared when it is over.")
    counted(rows)
    if lacks_withholding(month):
        st.warning(
            f"No rate of withholding tax is on file for {month:%B %Y}: nothing is withheld of its commissions.",
            icon=":material/percent:",
        )
    if for_another:
        st.caption(
            f"You have prepared {words.count(for_another)} of them: somebody else of finance approves"
            f" {'it' if for_another == 1 else 'them'}."
        )
    held_rows.draw(STATEMENTS, rows)
