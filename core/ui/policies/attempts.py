"""The attempt to change a policy that is under way in a dialog: who tries what, and why it was refused."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import streamlit as st

from core import ids
from core.errors import CoverdeskError, InvalidInput, StaleVersion
from core.services.people.staff import Person
from core.services.policies.states import Action, PolicyState
from core.services.views.policy import PolicyDetail
from core.ui.forms import forms
from core.ui.kit import frame
from core.ui.policies import page_actions
from core.ui.policies.page_actions import Hand

_OPEN, _SAID = "policy.open", "policy.said"


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A dialog that is open: what it does, the hand that does it, and what came of the last try.

    `about` names the policy where the dialog stands on a screen of many.
    `now` is where the policy stands once somebody else has changed it: the hand holds that version then.
    """

    action: Action
    hand: Hand
    about: str = ""
    refusal: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    now: PolicyState | None = None


def current() -> Attempt | None:
    """The attempt whose dialog is open."""
    attempt: Attempt | None = st.session_state.get(_OPEN)
    return attempt


def begin(action: Action, policy: PolicyDetail, person: Person, *, about: str = "") -> None:
    """Open the dialog of an action on the version of the policy that is on the screen."""
    hand = Hand(
        policy_id=policy.id,
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        person=person,
        version=policy.state.version,
        # The token of this dialog: however often its button is pressed, it acts once.
        token=ids.token(),
    )
    st.session_state[_OPEN] = Attempt(action=action, hand=hand, about=about)


def close() -> None:
    """Leave the dialog; what was typed is gone with it."""
    st.session_state.pop(_OPEN, None)


def said() -> str | None:
    """What was just done, once."""
    text: str | None = st.session_state.pop(_SAID, None)
    return text


def carry_out(act: Callable[[Hand], str]) -> None:
    """Do it, as the callback of the dialog's button; a refusal is kept for the dialog, which stays open."""
    attempt = current()
    if attempt is None:
        return
    frame.require("operations")
    fresh = replace(attempt, refusal="", faults={}, now=None)
    try:
        st.session_state[_SAID] = ": ".join(filter(None, (attempt.about, act(attempt.hand))))
    except StaleVersion:
        now = page_actions.state(attempt.hand)
        fresh = replace(fresh, hand=replace(attempt.hand, version=now.version), now=now)
    except InvalidInput as error:
        fresh = replace(fresh, faults={fault.field: fault.message for fault in error.faults})
    except CoverdeskError as error:
        fresh = replace(fresh, refusal=str(error))
    else:
        close()
        return
    st.session_state[_OPEN] = fresh


def blame(name: str) -> None:
    """What is wrong with a field, below it."""
    attempt = current()
    message = attempt.faults.get(name) if attempt else None
    if message:
        st.markdown(forms.complaint(message))


def confirm(label: str, act: Callable[[Hand], str]) -> None:
    """The button of the dialog that does it."""
    st.button(label, type="primary", width="stretch", key="policy.confirm", on_click=carry_out, args=(act,))
