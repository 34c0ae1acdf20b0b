"""Changes of a claim from its review: the version that was seen, the open transition, and what is typed (C5, C7).

What is typed is kept until it was carried out; its keys contain the claim id, so that it never shows on another claim.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import ids, seal
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import moves as claim_moves
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES, ClaimStatus, ClaimTransition
from core.store.access import Scope, read_in, transact
from core.ui.kit import actions
from core.ui.kit.actions import Action, Once, Values, Work

MOVE: Final = "move"
DECIDED: Final = "decided"
# The value that a file on disk has in the work: it is not part of what was typed.
STORED: Final = "stored"
# What usually comes next without waiting for anybody: its form opens by itself.
_FOLLOWING: Final[Mapping[str, ClaimStatus]] = {ClaimStatus.APPROVED: ClaimStatus.OFFER_SENT}
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenForm:
    """The transition whose form is open, with the claim version that the officer has seen.

    One that is proposed opened by itself after the one before, and goes where it is not possible.
    """

    to: str
    version: int
    is_proposed: bool = False


def open_review(claim_id: UUID, *, person: Person, is_live: bool) -> ClaimReview:
    """Return the review of a claim and set a Pending one to Viewed; NotFound if it is unknown in this mode."""
    scope = Scope.staff(is_live=is_live)
    found = _review(scope, claim_id, person)
    if found.status != ClaimStatus.PENDING:
        return found
    transact(scope, lambda session: claim_moves.open_claim(session, claim_id, person=person))
    return _review(scope, claim_id, person)


def _review(scope: Scope, claim_id: UUID, person: Person) -> ClaimReview:
    return read_in(scope, claim_review.get_review, claim_id, person=person)


def changing(
    review: ClaimReview,
    title: str,
    work: Work,
    done: str | Callable[[Any], str],
    *,
    version: int | None = None,
    given: object = "",
    then: Callable[[], object] | None = None,
    **more: Any,
) -> Action:
    """Return an action on the version of the claim that was seen, made once for each person and values.

    A version changes only once, so no other token is needed. `given` is what was typed besides the fields; `more` is
    that of `adding`.
    """
    seen = review.version if version is None else version

    def token(typed: Values, by: Person) -> str:
        values = (f"{name} {typed[name]}" for name in typed if name != STORED)
        what = "\n".join((str(by.id), str(review.id), title, str(given), *values))
        return f"claim {seen} {seal.keyed_hash('claim change', what)}"

    more["on_stale"] = lambda: _note_seen(review.id, seen)
    return adding(
        review, title, work, done, token=token, then=then or (lambda: _take_version_over(review, seen)), **more
    )


def adding(
    review: ClaimReview,
    title: str,
    work: Work,
    done: str | Callable[[Any], str],
    *,
    token: str | Callable[[Values, Person], str],
    clears: Mapping[str, Any] = _NOTHING,
    then: Callable[[], object] | None = None,
    of_any: bool = False,
    **more: Any,
) -> Action:
    """Return an action that adds to the claim at any version, such as a note; it is carried out once for its token.

    `clears` maps names of fields to what they are after it; `more` is given to Action.
    """

    def finish() -> None:
        acknowledge(review.id)
        if then:
            then()
        for name, value in clears.items():
            st.session_state[key(review.id, name)] = value

    return Action(
        title=title,
        work=work,
        done=done,
        roles=tuple(CLAIMS_ROLES),
        # The desk sees every distributor: a duplicate may have come through another one.
        scope=lambda: Scope.staff(is_live=review.is_live),
        once=Once(scope=Scope.of(review.distributor_id, is_live=review.is_live), token=token, of_any=of_any),
        then=lambda _: finish(),
        **more,
    )


def draw_form(review: ClaimReview, action: Action, name: str, *, prefix: str = "", is_primary: bool = True) -> None:
    """Draw the form of an action on the claim, whose button has this name."""
    action.form(key=key(review.id, name), prefix=key(review.id, prefix), is_primary=is_primary)


# The transitions


def moving(
    review: ClaimReview,
    to: str,
    *,
    given: Mapping[str, Any] = _NOTHING,
    reasons: Mapping[str, str] = _NOTHING,
    payment: Mapping[str, Any] = _NOTHING,
    clears: Mapping[str, Any] = _NOTHING,
) -> Action:
    """Return the action that moves the claim with what was typed: amount, reason, note, payment reference.

    `payment` is the method and value date of a payment.
    """
    open_ = read_open_form(review.id)
    version = open_.version if open_ else review.version
    typed = {name: text or None for name, text in given.items()}
    return deciding(
        review,
        "move",
        lambda session, _, by: claim_moves.move_claim(
            session, review.id, to=to, person=by, version=version, reasons=reasons, payment=payment, **typed
        ),
        lambda change: f"Status changed to {change.claim_status}.",
        version=version,
        given=(str(to), sorted(typed.items(), key=str), sorted(reasons.items()), sorted(payment.items())),
        clears=clears,
    )


def deciding(
    review: ClaimReview, title: str, work: Work, done: str | Callable[[Any], str], *, version: int, **more: Any
) -> Action:
    """Like `changing`, for an action that closes the open transition when it is done."""
    return changing(review, title, work, done, version=version, then=lambda: _close_decided(review, version), **more)


def submit_form(review: ClaimReview, to: str, build: Callable[[], Action]) -> None:
    """Carry the open transition out, as the callback of its button, with what is typed now."""
    open_ = read_open_form(review.id)
    # The second click of a double click: the first one has moved the claim, closed the form or opened the next.
    if open_ is not None and open_.to == to:
        build().do(key(review.id, MOVE))


def _close_decided(review: ClaimReview, version: int) -> None:
    attempt = get_open_form(review)
    close_form(review.id)
    st.session_state[key(review.id, DECIDED)] = True
    if attempt and (following := _FOLLOWING.get(attempt.to)):
        st.session_state[key(review.id, "open")] = OpenForm(to=following, version=version + 1, is_proposed=True)


def _take_version_over(review: ClaimReview, version: int) -> None:
    """Let an open transition take over the version that its own officer has just created."""
    attempt = get_open_form(review)
    if attempt and attempt.version == version:
        st.session_state[key(review.id, "open")] = replace(attempt, version=version + 1)


# What is open, seen and typed


def key(claim_id: UUID, name: str) -> str:
    """Return the session-state key of a widget or note of a claim."""
    return f"claim.{claim_id.hex}.{name}"


def get_typed(claim_id: UUID, name: str) -> Any:  # noqa: ANN401 of the widget's type
    """Return the value of one of the claim's widgets."""
    return st.session_state.get(key(claim_id, name))


def get_open_form(review: ClaimReview) -> OpenForm | None:
    """Return the transition whose form is open."""
    found = read_open_form(review.id)
    if found and found.is_proposed and find_possible(review, found.to) is None:
        close_form(review.id)
        return None
    return found


def find_possible(review: ClaimReview, to: str) -> ClaimTransition | None:
    """Return the transition if it exists now and this person may make it; what only typing can meet may be missing."""
    return next((move for move in review.transitions_allowed if move.to == to and not move.missing), None)


def read_open_form(claim_id: UUID) -> OpenForm | None:
    """Return the transition whose form is open, possible or not."""
    found: OpenForm | None = st.session_state.get(key(claim_id, "open"))
    return found


def open_form(review: ClaimReview, to: str) -> None:
    """Open the form of a transition; earlier input is restored.

    A form that opened by itself stays the same one, with its buttons: a click on them that is under way is not lost.
    """
    found = read_open_form(review.id)
    is_proposed = found is not None and found.to == to and found.is_proposed
    st.session_state[key(review.id, "open")] = OpenForm(to=to, version=review.version, is_proposed=is_proposed)
    actions.forget(key(review.id, MOVE))


def close_form(claim_id: UUID) -> None:
    """Close the form of a transition; its input is kept for the next one."""
    st.session_state.pop(key(claim_id, "open"), None)
    actions.forget(key(claim_id, MOVE))


def propose(claim_id: UUID, name: str, value: str) -> None:
    """Prefill a field with a value suggested by the records, unless the officer has typed another one."""
    field_, proposed = key(claim_id, name), key(claim_id, f"proposed {name}")
    if st.session_state.get(field_) in {None, st.session_state.get(proposed)}:
        st.session_state[field_] = value
    st.session_state[proposed] = value


def seen_since(review: ClaimReview) -> int | None:
    """Return the version that the officer has seen if somebody has changed the claim since; update the form."""
    attempt = get_open_form(review)
    if attempt and attempt.version != review.version:
        _note_seen(review.id, attempt.version)
        st.session_state[key(review.id, "open")] = replace(attempt, version=review.version)
    seen: int | None = st.session_state.get(key(review.id, "seen"))
    return seen


def _note_seen(claim_id: UUID, version: int) -> None:
    st.session_state.setdefault(key(claim_id, "seen"), version)


def acknowledge(claim_id: UUID) -> None:
    """Mark others' changes as seen by the officer."""
    st.session_state.pop(key(claim_id, "seen"), None)


def get_token(claim_id: UUID) -> str:
    """Return the token of the text being written: sent any number of times, it is recorded once."""
    kept: str = st.session_state.setdefault(key(claim_id, "token"), ids.new_token())
    return kept
