"""Reminders of the end of a term on the screens: sent to the chosen customers, and switched off for one of them."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from core.outbound import mail as smtp
from core.services.admin import automations
from core.services.people.staff import Person
from core.services.renewals import reminders
from core.services.renewals.due import DueRow
from core.services.renewals.reminders import Reminded
from core.store.access import Scope, reading
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.letters.certificate_mail import WAITS
from core.ui.lists import tables
from core.ui.lists.record_tables import DUE

_SWITCH = "reminders_off"


def button(picked: Sequence[DueRow]) -> None:
    """Draw the button that sends a reminder to the chosen customers."""
    st.button(
        f"Remind ({len(picked)})" if len(picked) > 1 else "Remind",
        icon=":material/mail:",
        disabled=not picked or not frame.mode(),
        help="By e-mail, 60, 30, 7 and 1 days before the end, each once."
        if frame.mode()
        else "Test policies send no e-mail: the address may be a stranger's.",
        on_click=lambda: actions.open_(_reminding(picked)),
    )


def _reminding(picked: Sequence[DueRow]) -> Action:
    return Action(
        title="Send reminders",
        icon="mail",
        says="One e-mail to each customer, with the day on which cover ends and the price of one more term. Left out"
        " is whoever was reminded already, wants no reminders, or cannot renew.",
        fields=[lambda _: _show(picked)],
        confirm=f"Remind {len(picked)} customers" if len(picked) > 1 else "Remind",
        roles=("operations",),
        work=lambda session, _, by: reminders.remind(session, [row.id for row in picked], by=by),
        done=lambda found: summarise(found) + ("" if smtp.can_send() or not found.queued else WAITS),
        then=lambda _: tables.let_go(DUE),
    )


def _show(picked: Sequence[DueRow]) -> None:
    """Draw whom it goes to, and the same as a text message."""
    for row in picked[:5]:
        st.caption(
            f"{words.plain(row.customer)} · {words.plain(row.email)} · {_ends(row)} {words.day(row.expiration_at)}"
        )
    if len(picked) > 5:
        st.caption(f"and {len(picked) - 5} more")
    if len(picked) == 1:
        st.caption("As a text message, to copy:")
        st.code(text_message(picked[0]), language=None, wrap_lines=True)


def text_message(row: DueRow) -> str:
    """Return the reminder as a text message."""
    price = f" One more term costs {words.naira(row.next_minor)}." if row.next_minor is not None else ""
    return (
        f"{row.customer}, your {row.product} cover with {row.provider} {_ends(row)} on"
        f" {words.day(row.expiration_at)}.{price}"
    )


def _ends(row: DueRow) -> str:
    return "ended" if row.is_over else "ends"


def summarise(found: Reminded) -> str:
    """Return what became of a request in words: "12 reminders are queued; left out: 2 reminded already"."""
    number = {0: "No reminder is", 1: "1 reminder is"}.get(found.queued, f"{found.queued} reminders are")
    queued = f"{number} queued"
    reasons = ", ".join(f"{number} {reason}" for reason, number in found.left_out.items())
    return f"{queued}; left out: {reasons}." if reasons else f"{queued}."


def draw_automatic_note() -> None:
    """Say that reminders go out by themselves, while an admin has switched that on."""
    with reading(Scope.system()) as session:
        state = automations.get_state(session, automations.RENEWAL_REMINDERS)
    if state.is_on:
        sent = f" {words.count(state.done)} went out on {words.day(state.day)}." if state.day else ""
        st.caption(f"Reminders go out by themselves every day.{sent}")


def opt_out(customer_id: UUID, person: Person) -> None:
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
