"""State of an open policy dialog: the action, the person, and why the last attempt was refused."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from core import ids
from core.errors import StaleVersion
from core.services.people.staff import Person
from core.services.policies.policies import PolicyState
from core.services.views.policy import PolicyDetail
from core.states.policies import PolicyAction
from core.ui.frame import frame
from core.ui.kit import attempts
from core.ui.policies import page_actions
from core.ui.policies.page_actions import Hand

PLACE, _OPEN = "policy", "policy.open"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """An open dialog: its action and the request it makes.

    `about` names the policy when the dialog is on a screen with many. `now` is the state of the policy after somebody
    else has changed it; `hand` then has that version.
    """

    action: PolicyAction
    hand: Hand
    about: str = ""
    now: PolicyState | None = None


def current() -> Attempt | None:
    """Return the attempt whose dialog is open."""
    attempt: Attempt | None = st.session_state.get(_OPEN)
    return attempt


def begin(action: PolicyAction, policy: PolicyDetail, person: Person, *, about: str = "") -> None:
    """Open the dialog of an action on the policy version that is on the screen."""
    hand = Hand(
        policy_id=policy.id,
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        person=person,
        version=policy.state.version,
        # Idempotency token of this dialog: it acts once, however often its button is clicked.
        token=ids.new_token(),
    )
    attempts.forget(PLACE)
    st.session_state[_OPEN] = Attempt(action=action, hand=hand, about=about)


def close() -> None:
    """Close the dialog and discard its input."""
    attempts.forget(PLACE)
    st.session_state.pop(_OPEN, None)


def carry_out(act: Callable[[Hand], str]) -> None:
    """Carry out the action, as the callback of the confirm button; a refusal is stored and the dialog stays open."""
    attempt = current()
    if attempt is None:
        return
    frame.require("operations")
    try:
        done = attempts.carry_out(PLACE, lambda: act(attempt.hand))
    except StaleVersion:
        now = page_actions.state(attempt.hand)
        st.session_state[_OPEN] = replace(attempt, hand=replace(attempt.hand, version=now.version), now=now)
        return
    if done is not None:
        attempts.keep_message(PLACE, ": ".join(filter(None, (attempt.about, done))))
        close()
    else:
        st.session_state[_OPEN] = replace(attempt, now=None)


def confirm(label: str, act: Callable[[Hand], str]) -> None:
    """Draw the confirm button of the dialog."""
    st.button(label, type="primary", width="stretch", key="policy.confirm", on_click=carry_out, args=(act,))
