"""State of the review of a claim: the open transition, typed input, and why an attempt was refused.

Input is kept until it was carried out; its keys contain the claim id, so that it never shows on another claim.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import CoverdeskError, InvalidInput, StaleVersion, WrongMediaType
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow.transitions import CLAIMS_ROLES
from core.ui.claims import review_actions
from core.ui.claims.review_actions import Hand
from core.ui.forms import forms
from core.ui.kit import frame, words

MOVE, TALK, DAY, DEDUCTIONS, ASSIGNEE, ANSWER = "move", "talk", "day", "deductions", "assignee", "answer"
DOCUMENT: Final = "document"
_VERSIONED: Final = frozenset({DAY, DEDUCTIONS, ASSIGNEE, DOCUMENT})
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """Why the last attempt of a form was refused: errors by field, and a general one."""

    faults: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """The transition whose form is open, with the claim version that the officer has seen."""

    to: str
    version: int


def key(claim_id: UUID, name: str) -> str:
    """Return the session-state key of a widget or note of a claim."""
    return f"claim.{claim_id.hex}.{name}"


def typed(claim_id: UUID, name: str) -> Any:  # noqa: ANN401 of the widget's type
    """Return the value of one of the claim's widgets."""
    return st.session_state.get(key(claim_id, name))


def current(review: ClaimReview) -> Open | None:
    """Return the transition whose form is open."""
    found: Open | None = st.session_state.get(key(review.id, "open"))
    return found


def begin(review: ClaimReview, to: str) -> None:
    """Open the form of a transition; earlier input is restored."""
    st.session_state[key(review.id, "open")] = Open(to=to, version=review.version)
    st.session_state.pop(key(review.id, f"refused {MOVE}"), None)


def close(claim_id: UUID) -> None:
    """Close the form of a transition; its input is kept for the next one."""
    st.session_state.pop(key(claim_id, "open"), None)
    st.session_state.pop(key(claim_id, f"refused {MOVE}"), None)


def propose(claim_id: UUID, name: str, value: str) -> None:
    """Prefill a field with a value suggested by the records, unless the officer has typed another one."""
    field_, proposed = key(claim_id, name), key(claim_id, f"proposed {name}")
    if st.session_state.get(field_) in {None, st.session_state.get(proposed)}:
        st.session_state[field_] = value
    st.session_state[proposed] = value


def seen_since(review: ClaimReview) -> int | None:
    """Return the version that the officer has seen if somebody has changed the claim since; update the form."""
    noted = key(review.id, "seen")
    attempt = current(review)
    if attempt and attempt.version != review.version:
        st.session_state.setdefault(noted, attempt.version)
        st.session_state[key(review.id, "open")] = replace(attempt, version=review.version)
    seen: int | None = st.session_state.get(noted)
    return seen


def acknowledge(claim_id: UUID) -> None:
    """Mark others' changes as seen by the officer."""
    st.session_state.pop(key(claim_id, "seen"), None)


def said(claim_id: UUID) -> str | None:
    """Return the success message of the last action, once."""
    text: str | None = st.session_state.pop(key(claim_id, "said"), None)
    return text


def token(claim_id: UUID) -> str:
    """Return the idempotency token of the text being written: sent any number of times, it is recorded once."""
    kept: str = st.session_state.setdefault(key(claim_id, "token"), fresh_token())
    return kept


def fresh_token() -> str:
    """Create a new token for the next text."""
    return ids.new_token()


def carry_out(form: str, review: ClaimReview, act: Callable[[Hand], str], clears: Mapping[str, Any] = _NOTHING) -> None:
    """Carry out an action, as the callback of a button; a refusal is stored for the form and the input is kept.

    `clears` maps the fields to reset on success to their new values.
    """
    person, claim_id = frame.require(*CLAIMS_ROLES), review.id
    hand = review_actions.hand(review, person)
    open_ = current(review)
    if form == MOVE:
        if open_ is None:
            # Second click of a double click: the first one has moved the claim and closed the form.
            return
        hand = replace(hand, version=open_.version)
    refused = key(claim_id, f"refused {form}")
    st.session_state.pop(refused, None)
    try:
        done = act(hand)
    except StaleVersion:
        st.session_state.setdefault(key(claim_id, "seen"), hand.version)
    except InvalidInput as error:
        st.session_state[refused] = Refusal(faults={fault.field: fault.message for fault in error.faults})
    except CoverdeskError as error:
        st.session_state[refused] = _refusal(error)
    else:
        st.session_state[key(claim_id, "said")] = done
        acknowledge(claim_id)
        _go_on(form, review, hand)
        for name, value in clears.items():
            st.session_state[key(claim_id, name)] = value


def _go_on(form: str, review: ClaimReview, hand: Hand) -> None:
    """Close a completed transition; an open one takes over the version that its own officer has just created."""
    attempt = current(review)
    if form == MOVE:
        close(review.id)
    elif form in _VERSIONED and attempt and attempt.version == hand.version:
        st.session_state[key(review.id, "open")] = replace(attempt, version=hand.version + 1)


def _refusal(error: CoverdeskError) -> Refusal:
    """Convert an error: shown beside the input that it names, if any, using that input's label."""
    if isinstance(error, WrongMediaType):
        return Refusal(faults={fault["field"]: fault["message"] for fault in error.detail})
    about = error.detail.get("field") if isinstance(error.detail, dict) else None
    return Refusal(faults={about: str(error)}) if about else Refusal(text=str(error))


def blame(claim_id: UUID, form: str, name: str) -> None:
    """Show the error of a field below it."""
    message = _last(claim_id, form).faults.get(name)
    if message:
        st.markdown(forms.complaint(message))


def complain(claim_id: UUID, form: str, *shown: str) -> None:
    """Show the general error, and errors of fields that are not in `shown`."""
    refusal = _last(claim_id, form)
    others = [f"{words.title(name)} {text}" for name, text in refusal.faults.items() if name not in shown]
    for text in (*([refusal.text] if refusal.text else []), *others):
        st.error(f"{words.plain(text)}.", icon=":material/block:")


def _last(claim_id: UUID, form: str) -> Refusal:
    kept: Refusal = st.session_state.get(key(claim_id, f"refused {form}")) or Refusal()
    return kept
