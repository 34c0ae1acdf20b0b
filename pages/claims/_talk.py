"""Conversation, tasks and history on the review of a claim (contract C6, C18)."""

from datetime import date
from typing import Final
from uuid import UUID

import streamlit as st

from core import clock, ids, seal
from core.services.claims.review.officers import Officer
from core.services.claims.review.review import ClaimReview, Message
from core.services.claims.workflow import questions
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow.tasks import Task
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.store.access import ScopedSession
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Choice, Day, Text, Values
from pages.claims import _shared
from pages.claims._actions import adding, draw_form, get_token, key

_TALK: Final = "talk"
_NOTE, _COMMENT, _QUESTION = "Note for the desk", "Comment for the claimant", "Question to the claimant"
_ABOUT: Final = {
    _NOTE: "Only people who work claims read it.",
    _COMMENT: "It appears in the claim that the distributor reads.",
    _QUESTION: "It appears in the claim that the distributor reads; the 60 days stand still until the answer is in.",
}


def time_line(review: ClaimReview) -> None:
    """Draw every status with its time, author and note, oldest first."""
    lodged = next((event for event in review.history if event.action == "claim lodged"), None)
    lodger = _shared.actor(lodged) if lodged else "the distributor"
    for step in review.status_steps:
        st.markdown(f"{words.badge(step.status)} {words.moment(step.at)} · {words.plain(step.by or lodger)}")
        if step.note:
            st.caption(words.plain(step.note))


def conversation(review: ClaimReview) -> None:
    """Draw the messages, newest first, below the field for a new one."""
    _write(review)
    for message in review.messages:
        with st.container(border=True, gap="xxsmall"):
            by = words.plain(message.by or "Somebody who left")
            st.markdown(f"**{by}** · {words.moment(message.at)} · {_to_whom(message)}")
            st.text(message.text)
            if message.answer:
                st.text(f"Answer: {message.answer}")
    if not review.messages:
        st.caption("No comment on this claim yet.")


def _to_whom(message: Message) -> str:
    if not message.is_question:
        return ":violet-badge[For the claimant]" if message.for_claimant else ":gray-badge[For the desk]"
    if message.is_open:
        due = f", due {words.day(message.due_on)}" if message.due_on else ""
        return f":orange-badge[Asked, no answer yet{due}]"
    if message.closed_at:
        return f":gray-badge[Asked, closed unanswered {words.moment(message.closed_at)}]"
    return f":green-badge[Asked, answered {words.moment(message.answered_at)}]"


def _write(review: ClaimReview) -> None:
    kinds = [_NOTE, _COMMENT] if review.is_decided or review.open_question else [_NOTE, _COMMENT, _QUESTION]
    chooser, box = key(review.id, "kind"), key(review.id, "text")
    with st.container(border=True, gap="xsmall"):
        kind = st.segmented_control("To whom", kinds, default=_NOTE, required=True, key=chooser) or _NOTE
        st.caption(_ABOUT[kind])
        st.text_area(
            "What to say",
            key=box,
            height=90,
            max_chars=2000,
            label_visibility="collapsed",
            persist_state="page",
            on_change="ignore",
        )
        actions.blame(key(review.id, _TALK), "text")
        actions.complain(key(review.id, _TALK), "text")
        st.button(
            "Ask" if kind == _QUESTION else "Save the note" if kind == _NOTE else "Send the comment",
            key=key(review.id, "say"),
            type="primary",
            on_click=_write_message,
            args=(review, kind, get_token(review.id)),
        )


def _write_message(review: ClaimReview, kind: str, token: str) -> None:
    if token != get_token(review.id):
        # Second click of a double click: the first one has sent it.
        return
    is_question, for_claimant = kind == _QUESTION, kind == _COMMENT
    done = "The comment can be read by the claimant." if for_claimant else "The note is saved, for the desk alone."

    def write(session: ScopedSession, typed: Values, by: Person) -> None:
        if is_question:
            questions.ask_claimant(session, review.id, text=typed["text"], person=by)
        else:
            questions.add_comment(session, review.id, text=typed["text"], person=by, for_claimant=for_claimant)

    say = adding(
        review,
        kind,
        write,
        "The claimant is asked; the clock stands still until the answer is in." if is_question else done,
        token=token,
        clears={"text": "", "token": ids.new_token()},
        fields=[Text("text", "What to say", longest=2000)],
    )
    say.do(key(review.id, _TALK), key(review.id, ""))


def log(review: ClaimReview, officers: list[Officer]) -> None:
    """Draw the log entries about the claim, oldest first."""
    names = _shared.names(officers)
    st.subheader("All that was done", anchor=False)
    for event in review.history:
        st.markdown(
            f"**{words.plain(_shared.action(event))}** · {words.moment(event.at)} · {words.plain(_shared.actor(event))}"
        )
        if message := _shared.facts(event, names):
            st.caption(words.plain(message))


_USUAL_DAYS: Final = 3


def draw_tasks(review: ClaimReview, officers: list[Officer], person: Person) -> None:
    """Draw the tasks of a claim and the form of a new one."""
    _add_task(review, officers, person)
    for task in review.tasks:
        _task_line(task)
    if not review.tasks:
        st.caption("No task is open on this claim.")


def _task_line(task: Task) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        day = words.day(task.due_on)
        due = f":red[:material/warning: {day}]" if task.is_overdue else f":material/event: {day}"
        who = f" · {words.plain(task.who)}" if task.who else ""
        rule = " :gray-badge[by rule]" if task.id is None else ""
        st.markdown(f"{due} · {words.plain(task.text)}{who}{rule}", width="stretch")
        if task.done_at is not None:
            st.markdown(f":green-badge[Done {words.moment(task.done_at)}]")
        elif task.id is not None:
            st.button("Done", key=f"task {task.id.hex}", icon=":material/check:", on_click=finishing(task.id).do)


def finishing(task_id: UUID) -> Action:
    """Return the action that marks a task as done."""
    return Action(
        title="Done",
        roles=tuple(CLAIMS_ROLES),
        work=lambda session, _, by: claim_tasks.finish_task(session, task_id, person=by),
        done="The task is done.",
    )


def _add_task(review: ClaimReview, officers: list[Officer], person: Person) -> None:
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
        "The task is saved.",
        token=lambda typed, _: _task_token(review, typed),
        fields=[
            Text("task", "What is to be done", longest=500),
            Choice("task_for", "Who", options=names, value=mine),
            Day("due_on", "By when", value=clock.add_days(clock.today(), _USUAL_DAYS), first=clock.today()),
        ],
    )
    with st.popover("New task", icon=":material/add_task:"):
        draw_form(review, add, "keep task")


def _task_token(review: ClaimReview, typed: Values) -> str:
    text = seal.keyed_hash("claim task", typed["task"])
    return f"task {review.id} {len(review.tasks)} {typed['task_for']} {typed['due_on']} {text}"
