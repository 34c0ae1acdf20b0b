"""My tasks: the list of what a person has to do on claims, by the day it is due."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import streamlit as st

from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow.tasks import Task
from core.store.access import read_in
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.lists import columns, tables
from core.ui.lists.columns import TableColumn
from core.ui.lists.tables import Table
from pages.claims import _talk

NAME = "claim_tasks"
COLUMNS: Mapping[str, TableColumn[Task]] = {
    "task": columns.text("Task", lambda task: task.text, 420),
    "claimant": columns.text("Claimant", lambda task: task.claimant, 170),
    "cover": columns.text("Cover", lambda task: task.claim_type, 110),
    "amount": columns.naira("Amount", lambda task: task.amount_minor or None, says="Offered, approved or claimed"),
    "due": TableColumn(
        "Due",
        lambda task: f"{words.day(task.due_on)}, overdue" if task.is_overdue else words.day(task.due_on),
        colour=lambda task: "red" if task.is_overdue else "",
        sort_key=lambda task: task.due_on,
    ),
    "claim": columns.text("Claim", lambda task: task.reference, 110),
}


def _key(task: Task) -> UUID | str:
    """Return the key of a row: what a rule asks for has no id, and a claim may be asked for several things."""
    return task.id or f"{task.claim_id} {task.text}"


def _build_table(found: Sequence[Task]) -> Table[Task]:
    claims = {_key(task): task.claim_id for task in found}
    return Table(
        name=NAME,
        noun=("task", "tasks"),
        columns=COLUMNS,
        unsorted="By the day due",
        opens="claims/claim.py",
        home=("claims/tasks.py", "Back to my tasks"),
        narrow=("task", "due", "claimant", "amount"),
        act=lambda task: "Done" if task.id else "",
        key=_key,
        query=lambda key: {"id": str(claims[key])},
    )


def draw() -> None:
    person = frame.require("claims", "supervisor")
    clicked: UUID | None = tables.get_clicked(_build_table(()))[0]
    if clicked is not None:
        _talk.finishing(clicked).do()
        # The menu, which is drawn before the page, counts them.
        st.rerun()
    frame.page_header(
        "My tasks", "What you have to do on claims: given to you, or due by rule on claims that are yours."
    )
    actions.run()
    found = read_in(frame.scope(), claim_tasks.list_mine, person)
    if not found:
        st.info("Nothing is due. Tasks are assigned on the page of a claim.", icon=":material/task_alt:")
        return
    table, late = _build_table(found), sum(task.is_overdue for task in found)
    tables.head(f"{table.count_text(len(found))}, {words.count(late)} overdue", table)
    tables.draw_held(table, found)
