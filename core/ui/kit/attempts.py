"""Attempts: what a button does is done once, and why it was refused is kept for the form that asked for it.

    done = attempts.carry_out("policy", lambda: attempts.run_once(scope, token, work))   # in the callback
    attempts.blame("policy", "reason")                                                   # below the field
    attempts.complain("policy", "reason")                                                # all other errors

A place is a prefix of session-state keys: one form on one record.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.errors import CoverdeskError, InvalidInput, KeyReused, StaleVersion, StateForbids, WrongMediaType
from core.services import idempotency
from core.services.idempotency import WireResponse
from core.store.access import Scope, ScopedSession, transact
from core.ui.forms import forms
from core.ui.kit import words

DONE_ALREADY = "This was done already, with other figures. Look at the history."


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """The refusal of the last attempt: errors by field, and a general one."""

    faults: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


def run_once(
    scope: Scope, token: str, work: Callable[[ScopedSession], str], *given: str, within: Scope | None = None
) -> str:
    """Run `work` once per token and return its message; a repeated token returns the stored message (contract S13).

    Raises StateForbids when the token was used with other `given` values. The scope is that of the record's
    distributor; the work and its token are written in one transaction, which sees `within` where that is wider.
    """
    print_ = idempotency.fingerprint(*(part.encode() for part in given))

    def attempt(session: ScopedSession) -> WireResponse:
        def make() -> WireResponse:
            return WireResponse(200, json.dumps(work(session)).encode())

        return idempotency.run_once(session, scope, f"desk {token}", print_, make)

    try:
        answer = transact(within or scope, attempt)
    except KeyReused:
        raise StateForbids(DONE_ALREADY) from None
    sentence: Any = json.loads(answer.body)
    return str(sentence)


def carry_out(place: str, act: Callable[[], str]) -> str | None:
    """Run an action and return its message; None when it was refused, after keeping why for the form.

    StaleVersion is the caller's to handle: only the caller knows what else is on the screen.
    """
    forget(place)
    try:
        return act()
    except StaleVersion:
        raise
    except CoverdeskError as error:
        st.session_state[_key(place)] = _describe(error)
        return None


def refuse(place: str, text: str) -> None:
    """Keep a general error for a form."""
    st.session_state[_key(place)] = Refusal(text=text)


def forget(place: str) -> None:
    """Drop the errors of the last attempt."""
    st.session_state.pop(_key(place), None)


def get_refusal(place: str) -> Refusal:
    """Return the errors of the last attempt; empty ones when it was not refused."""
    kept: Refusal = st.session_state.get(_key(place)) or Refusal()
    return kept


def keep_message(place: str, sentence: str) -> None:
    """Keep a success message."""
    st.session_state[f"{place} said"] = sentence


def take_message(place: str) -> str | None:
    """Return the success message, once."""
    sentence: str | None = st.session_state.pop(f"{place} said", None)
    return sentence


def blame(place: str, name: str) -> None:
    """Show the error of a field below it."""
    if message := get_refusal(place).faults.get(name):
        st.markdown(forms.complaint(message))


def complain(place: str, *shown: str) -> None:
    """Show the general error, and errors of fields that are not in `shown`."""
    refusal = get_refusal(place)
    others = [f"{words.title(name)} {text}" for name, text in refusal.faults.items() if name not in shown]
    for text in (*([refusal.text] if refusal.text else []), *others):
        st.error(f"{words.plain(text)}.", icon=":material/block:")


def _key(place: str) -> str:
    return f"{place} refused"


def _describe(error: CoverdeskError) -> Refusal:
    """Convert an error: shown beside the input that it names, if any, with that input's label."""
    if isinstance(error, InvalidInput):
        return Refusal(faults={fault.field: fault.message for fault in error.faults})
    if isinstance(error, WrongMediaType):
        return Refusal(faults={fault["field"]: fault["message"] for fault in error.detail})
    about = error.detail.get("field") if isinstance(error.detail, dict) else None
    return Refusal(faults={about: str(error)}) if about else Refusal(text=str(error))
