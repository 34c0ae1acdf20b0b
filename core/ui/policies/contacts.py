"""Calls about the renewal of a policy, and the switch of a customer's reminders by e-mail."""

from uuid import UUID

import streamlit as st

from core.errors import NotFound
from core.services.people.staff import Person
from core.services.renewals import calls, reminders
from core.services.renewals.calls import Call
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import facts, words
from core.ui.kit.actions import Action

_SWITCH = "reminders_off"


def draw_calls(policy_id: UUID) -> None:
    """Draw every call about a policy, the latest first."""
    try:
        with reading(frame.scope()) as session:
            found = calls.list_calls(session, policy_id)
    except NotFound:
        return
    if found:
        st.markdown("**Calls about the renewal**")
    for call in found:
        with st.container(border=True, gap="xsmall"):
            _call(call)


def _call(call: Call) -> None:
    facts.line(words.moment(call.created_at), call.label)
    if call.note:
        st.text(call.note)
    again = f", to call again on {words.day(call.call_again_on)}" if call.call_again_on else ""
    st.caption(f"Called by {words.plain(call.caller)}; owner {words.plain(call.owner)}{again}.")


def draw_switch(customer_id: UUID, person: Person) -> None:
    """Draw the switch of a customer's reminders, which holds for all of their policies; only operations may turn it."""
    with reading(frame.scope()) as session:
        st.session_state[_SWITCH] = customer_id not in reminders.list_opted_out(session, [customer_id])
    st.toggle(
        "Reminders of renewals by e-mail",
        key=_SWITCH,
        help="For all policies of this customer. The audit log says who switched it, and when.",
        disabled=not person.has_role("operations"),
        on_change=_switch,
        args=(customer_id,),
    )


def _switch(customer_id: UUID) -> None:
    is_out = not st.session_state[_SWITCH]
    switch = Action(
        title="Reminders of renewals by e-mail",
        roles=("operations",),
        work=lambda session, _, by: reminders.set_opt_out(session, customer_id, is_out=is_out, by=by),
        done="This customer gets no reminders any more." if is_out else "This customer gets reminders again.",
    )
    switch.do()
