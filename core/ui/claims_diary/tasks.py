"""Tasks on the review of a claim and on the page of a person (contract C18)."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, seal
from core.services.claims.diary import tasks as claim_tasks
from core.services.claims.diary.tasks import Task
from core.services.claims.review.officers import Officer
from core.services.claims.review.review import ClaimReview
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.store.access import Scope, ScopedSession, transact
from core.ui.claims import attempts as claim_attempts
from core.ui.claims.attempts import TASK, key
from core.ui.claims.review_actions import Hand
from core.ui.frame import frame
from core.ui.kit import attempts, words

_FIELDS: Final = ("task", "due_on", "task_for")
_USUAL_DAYS: Final = 3
_DONE: Final = "tasks"


def draw(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Draw the tasks of a claim and the form of another one."""
    _make(review, officers, person)
    for task in review.tasks:
        _line(task, is_linked=False)
    if not review.tasks:
        st.caption("Nothing is to be done by a day.")


def draw_list(found: Sequence[Task]) -> None:
    """Draw the tasks of a person, each with its claim."""
    if said := attempts.take_message(_DONE):
        st.success(words.plain(said), icon=":material/check_circle:")
    attempts.complain(_DONE)
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
                on_click=_finish,
                args=(task.id,),
            )


def _finish(task_id: UUID) -> None:
    person = frame.require(*CLAIMS_ROLES)

    def work(session: ScopedSession) -> str:
        claim_tasks.finish_task(session, task_id, person=person)
        return "The task is done."

    scope = Scope.staff(is_live=frame.mode())
    done = attempts.carry_out(_DONE, lambda: transact(scope, work))
    if done is not None:
        attempts.keep_message(_DONE, done)


def _make(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    names: dict[Any, str] = {officer.id: officer.name for officer in officers}
    place, day, chooser = key(review.id, TASK), key(review.id, "due_on"), key(review.id, "task_for")
    st.session_state.setdefault(day, clock.add_days(clock.today(), _USUAL_DAYS))
    if names:
        st.session_state.setdefault(chooser, person.id if person.id in names else next(iter(names)))
    with st.popover("Another task", icon=":material/add_task:"):
        st.text_input("What is to be done", key=key(review.id, "task"), max_chars=500, autocomplete="off")
        attempts.blame(place, "task")
        st.selectbox("Who", list(names), format_func=names.__getitem__, key=chooser, on_change="ignore")
        attempts.blame(place, "task_for")
        st.date_input("By when", key=day, min_value=clock.today(), format="DD/MM/YYYY", on_change="ignore")
        attempts.blame(place, "due_on")
        attempts.complain(place, *_FIELDS)
        st.button(
            "Save the task",
            key=key(review.id, "keep task"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(TASK, review, lambda hand: _add(review, hand), {"task": ""}),
        )


def _add(review: ClaimReview, hand: Hand) -> str:
    text = claim_attempts.get_typed(review.id, "task") or ""
    to: UUID = claim_attempts.get_typed(review.id, "task_for")
    due_on: date | None = claim_attempts.get_typed(review.id, "due_on")

    def work(session: ScopedSession) -> str:
        claim_tasks.add_task(session, hand.claim_id, text=text, to=to, due_on=due_on, person=hand.person)
        return "The task is kept."

    token = _token(review, text, to, due_on)
    return attempts.run_once(hand.scope, token, work, text, str(to), str(due_on))


def _token(review: ClaimReview, text: str, to: UUID, due_on: date | None) -> str:
    return f"task {review.id} {len(review.tasks)} {to} {due_on} {seal.keyed_hash('claim task', text)}"
