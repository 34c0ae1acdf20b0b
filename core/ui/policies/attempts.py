"""State of an open policy dialog: the action, the person, and why the last attempt was refused."""

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
    """An open dialog: its action, the request it makes, and the result of the last attempt.

    `about` names the policy when the dialog is on a screen with many. `now` is the state of the policy after somebody
    else has changed it; `hand` then has that version.
    """

    action: Action
    hand: Hand
    about: str = ""
    refusal: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    now: PolicyState | None = None


def current() -> Attempt | None:
    """Return the attempt whose dialog is open."""
    attempt: Attempt | None = st.session_state.get(_OPEN)
    return attempt


def begin(action: Action, policy: PolicyDetail, person: Person, *, about: str = "") -> None:
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
    st.session_state[_OPEN] = Attempt(action=action, hand=hand, about=about)


def close() -> None:
    """Close the dialog and discard its input."""
    st.session_state.pop(_OPEN, None)


def said() -> str | None:
    """Return the success message of the last action, once."""
    text: str | None = st.session_state.pop(_SAID, None)
    return text


def carry_out(act: Callable[[Hand], str]) -> None:
    """Carry out the action, as the callback of the confirm button; a refusal is stored and the dialog stays open."""
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
    """Show the error of a field below it."""
    attempt = current()
    message = attempt.faults.get(name) if attempt else None
    if message:
        st.markdown(forms.complaint(message))


def confirm(label: str, act: Callable[[Hand], str]) -> None:
    """Draw the confirm button of the dialog."""
    st.button(label, type="primary", width="stretch", key="policy.confirm", on_click=carry_out, args=(act,))
