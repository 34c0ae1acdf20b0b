"""Resending policies to insurers, from any screen: button callbacks and their messages."""

from collections.abc import Callable
from uuid import UUID

import streamlit as st

from core.errors import CoverdeskError
from core.services.insurers import resending
from core.store.access import ScopedSession, transact
from core.ui.kit import frame, words

_SAID, _REFUSED = "resends.said", "resends.refused"


def one(policy_id: UUID) -> None:
    """Resend one policy, as the callback of a button."""
    person = frame.require(*resending.SENDING_ROLES)

    def work(session: ScopedSession) -> str:
        resending.resend(session, policy_id, person=person)
        return "The policy stands first in the queue and is sent within seconds."

    _do(work)


def reported(policy_id: UUID) -> None:
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


def say() -> None:
    """Show the result of the last action, once."""
    if done := st.session_state.pop(_SAID, None):
        st.success(words.plain(done), icon=":material/check_circle:")
    if refused := st.session_state.pop(_REFUSED, None):
        st.error(words.plain(refused), icon=":material/error:")


def _do(work: Callable[[ScopedSession], str]) -> None:
    try:
        st.session_state[_SAID] = transact(frame.scope(), work)
    except CoverdeskError as error:
        st.session_state[_REFUSED] = f"{error}."
