"""Tasks on the review of a claim and on the page of a person (contract C18)."""

from collections.abc import Sequence
from datetime import date
from typing import Final
from uuid import UUID

import streamlit as st

from core import clock, seal
from core.services.claims.diary import tasks as claim_tasks
from core.services.claims.diary.tasks import Task
from core.services.claims.review.officers import Officer
from core.services.claims.review.review import ClaimReview
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.ui.claims.claim_actions import adding, draw_form
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Choice, Day, Text, Values

_USUAL_DAYS: Final = 3


def draw(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Draw the tasks of a claim and the form of another one."""
    _make(review, officers, person)
    for task in review.tasks:
        _line(task, is_linked=False)
    if not review.tasks:
        st.caption("Nothing is to be done by a day.")


def draw_list(found: Sequence[Task]) -> None:
    """Draw the tasks of a person, each with its claim."""
    actions.run()
    for task in found:
        _line(task, is_linked=True)


def _line(task: Task, *, is_linked: bool) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        day = words.day(task.due_on)
        due = f":red[:material/warning: {day}]" if task.is_overdue else f":material/event: {day}"
        claim = f"[{words.plain(task.reference)}]({frame.link('claim', id=str(task.claim_id))}) · " if is_linked else ""
        who = f" · {words.plain(task.who)}" if task.who and not is_linked else ""
        rule = " :gray-badge[by rule]" if task.id is None else ""
        st.markdown(f"{due} · {claim}{words.plain(task.text)}{who}{rule}", width="stretch")
        if task.done_at is not None:
            st.markdown(f":green-badge[Done {words.moment(task.done_at)}]")
        elif task.id is not None:
            st.button(
                "Done",
                key=f"task {task.id.hex} {'list' if is_linked else 'claim'}",
                icon=":material/check:",
                on_click=_finishing(task.id).do,
            )


def _finishing(task_id: UUID) -> Action:
    return Action(
        title="Done",
        roles=tuple(CLAIMS_ROLES),
        work=lambda session, _, by: claim_tasks.finish_task(session, task_id, person=by),
        done="The task is done.",
    )


def _make(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    names = {str(officer.id): officer.name for officer in officers}
    mine = str(person.id) if str(person.id) in names else next(iter(names), None)
    add = adding(
        review,
        "Save the task",
        lambda session, typed, by: claim_tasks.add_task(
            session,
            review.id,
            text=typed["task"],
            to=UUID(typed["task_for"]) if typed["task_for"] else by.id,
            due_on=date.fromisoformat(typed["due_on"]) if typed["due_on"] else None,
            person=by,
        ),
        "The task is kept.",
        token=lambda typed, _: _token(review, typed),
        fields=[
            Text("task", "What is to be done", longest=500),
            Choice("task_for", "Who", options=names, value=mine),
            Day("due_on", "By when", value=clock.add_days(clock.today(), _USUAL_DAYS), first=clock.today()),
        ],
    )
    with st.popover("Another task", icon=":material/add_task:"):
        draw_form(review, add, "keep task")


def _token(review: ClaimReview, typed: Values) -> str:
    text = seal.keyed_hash("claim task", typed["task"])
    return f"task {review.id} {len(review.tasks)} {typed['task_for']} {typed['due_on']} {text}"
