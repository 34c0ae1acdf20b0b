"""What is under way on the review of a claim: the move that is open, what was typed, and why a try was refused.

Everything typed stays until it was carried out: its keys carry the claim, so that nothing goes over to another.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import CoverdeskError, InvalidInput, StaleVersion, WrongMediaType
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow.transitions import DESK
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
    """Why the last try of a form was refused: what is wrong with a field, and what is wrong as a whole."""

    faults: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """The move whose form is open, on the version of the claim that its officer has seen."""

    to: str
    version: int


def key(claim_id: UUID, name: str) -> str:
    """The key of a widget or of a note about a claim."""
    return f"claim.{claim_id.hex}.{name}"


def typed(claim_id: UUID, name: str) -> Any:
    """What a widget of the claim holds."""
    return st.session_state.get(key(claim_id, name))


def current(review: ClaimReview) -> Open | None:
    """The move whose form is open."""
    found: Open | None = st.session_state.get(key(review.id, "open"))
    return found


def begin(review: ClaimReview, to: str) -> None:
    """Open the form of a move; what was typed for it before is there again."""
    st.session_state[key(review.id, "open")] = Open(to=to, version=review.version)
    st.session_state.pop(key(review.id, f"refused {MOVE}"), None)


def close(claim_id: UUID) -> None:
    """Put the form of a move away; what was typed stays for the next one."""
    st.session_state.pop(key(claim_id, "open"), None)
    st.session_state.pop(key(claim_id, f"refused {MOVE}"), None)


def propose(claim_id: UUID, name: str, value: str) -> None:
    """Fill a field with what the records suggest, as long as nobody has typed something else there."""
    field_, proposed = key(claim_id, name), key(claim_id, f"proposed {name}")
    if st.session_state.get(field_) in {None, st.session_state.get(proposed)}:
        st.session_state[field_] = value
    st.session_state[proposed] = value


def seen_since(review: ClaimReview) -> int | None:
    """The version that its officer has seen, when somebody else has changed the claim since; the form then follows."""
    noted = key(review.id, "seen")
    attempt = current(review)
    if attempt and attempt.version != review.version:
        st.session_state.setdefault(noted, attempt.version)
        st.session_state[key(review.id, "open")] = replace(attempt, version=review.version)
    seen: int | None = st.session_state.get(noted)
    return seen


def acknowledge(claim_id: UUID) -> None:
    """The officer has looked at what others changed."""
    st.session_state.pop(key(claim_id, "seen"), None)


def said(claim_id: UUID) -> str | None:
    """What was just done, once."""
    text: str | None = st.session_state.pop(key(claim_id, "said"), None)
    return text


def token(claim_id: UUID) -> str:
    """The token of what is being written: however often it is sent, it is said once."""
    kept: str = st.session_state.setdefault(key(claim_id, "token"), fresh_token())
    return kept


def fresh_token() -> str:
    """A token for the next thing to say."""
    return ids.token()


def carry_out(form: str, review: ClaimReview, act: Callable[[Hand], str], clears: Mapping[str, Any] = _NOTHING) -> None:
    """Do it, as the callback of a button; what was refused is kept for the form, with all that was typed.

    `clears` are the fields that are set back once it is done, with what they then hold.
    """
    person, claim_id = frame.require(*DESK), review.id
    hand = review_actions.hand(review, person)
    open_ = current(review)
    if form == MOVE:
        if open_ is None:
            # A second click, whose first one has moved the claim and closed the form.
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
    """A move that is done is closed; one that is open has seen what its own officer has just changed."""
    attempt = current(review)
    if form == MOVE:
        close(review.id)
    elif form in _VERSIONED and attempt and attempt.version == hand.version:
        st.session_state[key(review.id, "open")] = replace(attempt, version=hand.version + 1)


def _refusal(error: CoverdeskError) -> Refusal:
    """A refusal stands beside the input that it is about, if it names one, and calls it by its label."""
    if isinstance(error, WrongMediaType):
        return Refusal(faults={fault["field"]: fault["message"] for fault in error.detail})
    about = error.detail.get("field") if isinstance(error.detail, dict) else None
    return Refusal(faults={about: str(error)}) if about else Refusal(text=str(error))


def blame(claim_id: UUID, form: str, name: str) -> None:
    """What is wrong with a field, below it."""
    message = _last(claim_id, form).faults.get(name)
    if message:
        st.markdown(forms.complaint(message))


def complain(claim_id: UUID, form: str, *shown: str) -> None:
    """What is wrong as a whole, and with fields that are not among those `shown`."""
    refusal = _last(claim_id, form)
    others = [f"{words.title(name)} {text}" for name, text in refusal.faults.items() if name not in shown]
    for text in (*([refusal.text] if refusal.text else []), *others):
        st.error(f"{words.plain(text)}.", icon=":material/block:")


def _last(claim_id: UUID, form: str) -> Refusal:
    kept: Refusal = st.session_state.get(key(claim_id, f"refused {form}")) or Refusal()
    return kept
