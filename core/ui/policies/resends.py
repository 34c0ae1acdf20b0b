"""Resending policies to insurers, from any screen: button callbacks and their messages."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import streamlit as st

from core.errors import StateForbids
from core.services.insurers import resending
from core.store.access import ScopedSession, transact
from core.ui.frame import frame
from core.ui.kit import attempts, words
from core.ui.lists import tables
from core.ui.lists.tables import Table

_PLACE = "resends"


def one(policy_id: UUID) -> None:
    """Resend one policy, as the callback of a button."""
    person = frame.require(*resending.SENDING_ROLES)

    def work(session: ScopedSession) -> str:
        resending.resend(session, policy_id, person=person)
        return "The policy stands first in the queue and is sent within seconds."

    _do(work)


def report_by_hand(policy_id: UUID) -> None:
    """Record that the insurer was informed of a policy by other means, as the callback of a button."""
    person = frame.require(*resending.SENDING_ROLES)

    def work(session: ScopedSession) -> str:
        resending.record_reported(session, policy_id, person=person)
        return "The policy is noted as reported to its insurer."

    _do(work)


def all_of(provider_id: UUID, name: str) -> None:
    """Resend everything set aside for an insurer, as the callback of a button."""
    person = frame.require(*resending.SENDING_ROLES)

    def work(session: ScopedSession) -> str:
        count = resending.resend_all(session, provider_id, person=person)
        noun = "policy is" if count == 1 else "policies are"
        return (
            f"{words.count(count)} {noun} queued again for {name}." if count else f"Nothing was set aside for {name}."
        )

    _do(work)


def act_on_selected(policy_ids: Sequence[UUID], act: Callable[..., None], done: str, table: Table[Any]) -> None:
    """Do the same to the chosen policies, as the callback of a button; the ticks go when it is done for any of them."""
    person = frame.require(*resending.SENDING_ROLES)

    def work(session: ScopedSession) -> str:
        found = resending.act_on_each(session, policy_ids, act, person=person)
        noun = "policy" if found.done == 1 else "policies"
        reasons = "; ".join(f"{number}: {reason}" for reason, number in found.left_out.items())
        if not found.done:
            raise StateForbids(f"Nothing was changed. Left out {reasons}")
        return f"{words.count(found.done)} {noun} {done}." + (f" Left out {reasons}." if reasons else "")

    if _do(work):
        tables.let_go(table)


def show_result() -> None:
    """Show the result of the last action, once."""
    if done := attempts.take_message(_PLACE):
        st.success(words.plain(done), icon=":material/check_circle:")
    if refused := attempts.get_refusal(_PLACE).text:
        attempts.forget(_PLACE)
        st.error(words.plain(f"{refused}."), icon=":material/error:")


def _do(work: Callable[[ScopedSession], str]) -> bool:
    """Return True if it was done; a refusal is kept for `show_result`."""
    done = attempts.carry_out(_PLACE, lambda: transact(frame.scope(), work))
    if done:
        attempts.keep_message(_PLACE, done)
    return bool(done)
