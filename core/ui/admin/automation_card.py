"""The daily jobs of the desk on the System screen: what each does, and the switch of an admin."""

import streamlit as st

from core import clock
from core.services.admin import automations
from core.services.admin.automations import AutomationState
from core.services.renewals import reminders
from core.store.access import Scope, reading
from core.ui.admin.desk import action
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action

_SAYS = {
    automations.RENEWAL_REMINDERS: "An e-mail to every customer whose cover ends in 60, 30, 7 and 1 days, each once,"
    " between 8 and 20 o'clock. Whoever wants no reminders gets none.",
}


def draw() -> None:
    """Draw each job with its state and its button."""
    with reading(Scope.system()) as session:
        states = automations.list_states(session)
    st.subheader("What the desk does by itself", anchor=False)
    for state in states:
        with st.container(border=True):
            _job(state)


def _job(state: AutomationState) -> None:
    badge = ":green-badge[On]" if state.is_on else ":gray-badge[Off]"
    st.markdown(f"**{words.title(state.name)}** {badge}")
    st.caption(_SAYS[state.name])
    if state.day:
        pace = "" if state.is_finished and state.day <= clock.today() else " so far"
        st.caption(f"{words.day(state.day)}: {words.count(state.done)} sent{pace}.")
    if state.changed_by:
        by = words.plain(state.changed_by.removeprefix("staff "))
        st.caption(f"Switched {'on' if state.is_on else 'off'} by {by} on {words.moment(state.changed_at)}.")
    actions.button(
        "Switch off" if state.is_on else "Switch on",
        lambda: _switching(state),
        key=f"automation {state.name}",
        icon="toggle_off" if state.is_on else "toggle_on",
    )


def _switching(state: AutomationState) -> Action:
    frame.require("admin")
    verb = "off" if state.is_on else "on"
    return action(
        title=f"{words.title(state.name)}: switch {verb}",
        icon="mail",
        says=_consequence(state),
        confirm=f"Switch {verb}",
        work=lambda session, _, by: automations.switch(session, state.name, on=not state.is_on, by=by),
        done=f"{words.title(state.name)}: switched {verb}.",
    )


def _consequence(state: AutomationState) -> str:
    if state.is_on:
        return "Nothing more goes out by itself. Reminders can still be sent from the list of what is due."
    with reading(Scope.system()) as session:
        waiting = reminders.count_due(session)
    return (
        f"**{words.count(waiting)}** policies have a reminder due now: they get it at once, or from 8 o'clock on."
        " After that each policy gets its own on the day."
    )
