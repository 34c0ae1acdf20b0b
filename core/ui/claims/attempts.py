"""State of the review of a claim: the open transition, typed input, and why an attempt was refused.

Input is kept until it was carried out; its keys contain the claim id, so that it never shows on another claim.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import StaleVersion
from core.services.claims.review.review import ClaimReview
from core.states.claims import CLAIMS_ROLES, ClaimStatus
from core.ui.claims import review_actions
from core.ui.claims.review_actions import Hand
from core.ui.frame import frame
from core.ui.kit import attempts

MOVE, TALK, DAY, DEDUCTIONS, ASSIGNEE, ANSWER = "move", "talk", "day", "deductions", "assignee", "answer"
DECIDED: Final = "decided"
DOCUMENT: Final = "document"
RESERVE: Final = "reserve form"
REFERRAL: Final = "referral form"
HAND_OVER: Final = "hand-over form"
PAYEE: Final = "payee form"
PART: Final = "part form"
AMOUNTS: Final = "amounts form"
CLAIMANT: Final = "claimant form"
TASK: Final = "task form"
LETTER: Final = "letter form"
RENEWAL: Final = "renewal form"
SECOND: Final = "second submission form"
LETTER_SENT: Final = "letter sent form"
_VERSIONED: Final = frozenset(
    {
        DAY,
        DEDUCTIONS,
        ASSIGNEE,
        DOCUMENT,
        RESERVE,
        REFERRAL,
        HAND_OVER,
        PAYEE,
        PART,
        AMOUNTS,
        CLAIMANT,
        LETTER,
        RENEWAL,
        SECOND,
    }
)
# What usually comes next without waiting for anybody: its form opens by itself.
_FOLLOWING: Final[Mapping[str, ClaimStatus]] = {ClaimStatus.APPROVED: ClaimStatus.OFFER_SENT}
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Open:
    """The transition whose form is open, with the claim version that the officer has seen.

    One that is proposed opened by itself after the one before, and goes where it is not possible.
    """

    to: str
    version: int
    is_proposed: bool = False


def key(claim_id: UUID, name: str) -> str:
    """Return the session-state key of a widget or note of a claim."""
    return f"claim.{claim_id.hex}.{name}"


def get_typed(claim_id: UUID, name: str) -> Any:  # noqa: ANN401 of the widget's type
    """Return the value of one of the claim's widgets."""
    return st.session_state.get(key(claim_id, name))


def current(review: ClaimReview) -> Open | None:
    """Return the transition whose form is open."""
    found = _read_open(review.id)
    if found and found.is_proposed and not _is_possible(review, found.to):
        close(review.id)
        return None
    return found


def _read_open(claim_id: UUID) -> Open | None:
    found: Open | None = st.session_state.get(key(claim_id, "open"))
    return found


def _is_possible(review: ClaimReview, to: str) -> bool:
    return any(move.to == to and not move.missing for move in review.transitions_allowed)


def begin(review: ClaimReview, to: str) -> None:
    """Open the form of a transition; earlier input is restored.

    A form that opened by itself stays the same one, with its buttons: a click on them that is under way is not lost.
    """
    found = _read_open(review.id)
    is_proposed = found is not None and found.to == to and found.is_proposed
    st.session_state[key(review.id, "open")] = Open(to=to, version=review.version, is_proposed=is_proposed)
    attempts.forget(key(review.id, MOVE))


def close(claim_id: UUID) -> None:
    """Close the form of a transition; its input is kept for the next one."""
    st.session_state.pop(key(claim_id, "open"), None)
    attempts.forget(key(claim_id, MOVE))


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


def get_token(claim_id: UUID) -> str:
    """Return the idempotency token of the text being written: sent any number of times, it is recorded once."""
    kept: str = st.session_state.setdefault(key(claim_id, "token"), fresh_token())
    return kept


def fresh_token() -> str:
    """Create a new token for the next text."""
    return ids.new_token()


def carry_out(
    form: str,
    review: ClaimReview,
    act: Callable[[Hand], str],
    clears: Mapping[str, Any] = _NOTHING,
    to: str | None = None,
) -> None:
    """Carry out an action, as the callback of a button; a refusal is stored for the form and the input is kept.

    `clears` maps the fields to reset on success to their new values; `to` is the transition of a decision.
    """
    person, claim_id = frame.require(*CLAIMS_ROLES), review.id
    hand = review_actions.hand(review, person)
    open_ = _read_open(claim_id)
    if form == MOVE:
        if open_ is None or (to is not None and open_.to != to):
            # Second click of a double click: the first one has moved the claim, closed the form or opened the next.
            return
        hand = replace(hand, version=open_.version)
    try:
        done = attempts.carry_out(key(claim_id, form), lambda: act(hand))
    except StaleVersion:
        st.session_state.setdefault(key(claim_id, "seen"), hand.version)
        return
    if done is not None:
        attempts.keep_message(key(claim_id, "claim"), done)
        acknowledge(claim_id)
        _go_on(form, review, hand)
        for name, value in clears.items():
            st.session_state[key(claim_id, name)] = value


def _go_on(form: str, review: ClaimReview, hand: Hand) -> None:
    """Close a completed transition; an open one takes over the version that its own officer has just created."""
    attempt = current(review)
    if form == MOVE:
        close(review.id)
        st.session_state[key(review.id, DECIDED)] = True
        if attempt and (following := _FOLLOWING.get(attempt.to)):
            st.session_state[key(review.id, "open")] = Open(to=following, version=hand.version + 1, is_proposed=True)
    elif form in _VERSIONED and attempt and attempt.version == hand.version:
        st.session_state[key(review.id, "open")] = replace(attempt, version=hand.version + 1)
