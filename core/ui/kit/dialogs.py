"""Dialogs that confirm a change: explanation, input fields, confirmation, and the result of the last attempt.

A button opens a dialog, the page draws the open one, and its confirm button makes the change once:

    dialogs.button("Switch off", Decision(...))
    dialogs.run("admin")
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

import streamlit as st

from core import clock
from core.errors import StaleVersion
from core.ui.frame import frame
from core.ui.kit import attempts, words

_PLACE, _OPEN, _SAID = "decision", "decision.open", "decision.said"
FIELD = "decision.field."
_SAYS_FOR = timedelta(seconds=4)
# Streamlit's own picker ends ten years from now.
_FIRST_DAY, _LAST_DAY = date(1900, 1, 1), date(2100, 12, 31)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """One change: `says` explains it, `asks` draws its input fields, `act` makes it and returns a message.

    `given` are the initial values of the fields, by name.
    """

    title: str
    icon: str
    says: str
    confirm: str
    act: Callable[[], str]
    asks: Callable[[], None] | None = None
    given: Mapping[str, str | date | Sequence[str] | None] | None = None


def open_(decision: Decision | Callable[[], Decision]) -> None:
    """Open the dialog of a change; a function is called for it now, at the click."""
    close()
    decision = decision() if callable(decision) else decision
    st.session_state[_OPEN] = decision
    for name, value in (decision.given or {}).items():
        st.session_state[FIELD + name] = value


def button(
    label: str,
    decision: Decision | Callable[[], Decision],
    *,
    is_primary: bool = False,
    icon: str | None = None,
    key: str | None = None,
    disabled: bool = False,
) -> None:
    """Draw a button that opens the dialog of a change."""
    st.button(
        label,
        type="primary" if is_primary else "secondary",
        icon=icon,
        key=key,
        disabled=disabled,
        on_click=open_,
        args=(decision,),
    )


def close() -> None:
    """Close the dialog and discard its input."""
    for key in [key for key in st.session_state if str(key).startswith(FIELD)]:
        del st.session_state[key]
    st.session_state.pop(_OPEN, None)
    attempts.forget(_PLACE)


def keep_message(sentence: str) -> None:
    """Store a success message, shown by each run of the page for a few seconds."""
    st.session_state[_SAID] = (sentence, None)


def _get_reason() -> str | None:
    """Return the stored message; it is kept for several runs because the next click may interrupt the first one."""
    sentence, since = st.session_state.get(_SAID, (None, None))
    if since is not None and clock.now() - since > _SAYS_FOR:
        del st.session_state[_SAID]
        return None
    if sentence is not None and since is None:
        st.session_state[_SAID] = (sentence, clock.now())
    return str(sentence) if sentence else None


def get_values(*names: str) -> dict[str, str]:
    """Return the values of these dialog fields as text: a day as in 2026-11-20, nothing as ""."""
    return {name: str(st.session_state.get(FIELD + name) or "") for name in names}


def chosen(name: str) -> list[str]:
    """Return what was chosen in a list of several."""
    return list(st.session_state.get(FIELD + name) or [])


def field(name: str, label: str, *, longest: int) -> None:
    """Draw a one-line text field in the dialog, with its error below it."""
    st.text_input(label, key=FIELD + name, max_chars=longest, autocomplete="off", on_change="ignore")
    blame(name)


def area(name: str, label: str, *, longest: int) -> None:
    """Draw a text field of several lines in the dialog, with its error below it."""
    st.text_area(label, key=FIELD + name, max_chars=longest, height=110, on_change="ignore")
    blame(name)


def choice(name: str, label: str, options: Mapping[str, str]) -> None:
    """Draw a pick list in the dialog, of values and their labels, with its error below it."""
    key, shown = FIELD + name, options.__getitem__
    st.selectbox(label, list(options), index=None, key=key, format_func=shown, placeholder="Choose", on_change="ignore")
    blame(name)


def several(name: str, label: str, options: Mapping[str, str], *, placeholder: str, is_live: bool = False) -> None:
    """Draw a pick list of any number in the dialog, of values and their labels, with its error below it."""
    key, mode = FIELD + name, _mode(is_live)
    st.multiselect(
        label, list(options), key=key, format_func=options.__getitem__, placeholder=placeholder, on_change=mode
    )
    blame(name)


def day(name: str, label: str, *, is_live: bool = False) -> None:
    """Draw a date picker in the dialog, empty unless a day is given, with its error below it.

    What depends on it is drawn anew at each change where it is live.
    """
    st.date_input(
        label,
        value=None,
        key=FIELD + name,
        min_value=_FIRST_DAY,
        max_value=_LAST_DAY,
        format="DD/MM/YYYY",
        on_change=_mode(is_live),
    )
    blame(name)


def _mode(is_live: bool) -> Literal["ignore", "rerun"]:  # noqa: FBT001
    return "rerun" if is_live else "ignore"


def blame(name: str) -> None:
    """Show the error of a field below it."""
    attempts.blame(_PLACE, name)


def run(*roles: str) -> None:
    """Show the stored message and draw the open dialog; only these roles may confirm it."""
    if said := _get_reason():
        st.success(words.plain(said), icon=":material/check_circle:")
    decision: Decision | None = st.session_state.get(_OPEN)
    if decision is not None:
        st.dialog(decision.title, icon=f":material/{decision.icon}:", on_dismiss=close)(_draw)(roles)


def _draw(roles: tuple[str, ...]) -> None:
    frame.require(*roles)
    decision: Decision | None = st.session_state.get(_OPEN)
    if decision is None:
        st.rerun()
    st.markdown(decision.says)
    if decision.asks:
        decision.asks()
    if refusal := attempts.get_refusal(_PLACE).text:
        st.error(words.plain(refusal), icon=":material/error:")
    st.button(
        decision.confirm,
        type="primary",
        width="stretch",
        key="decision.confirm",
        on_click=_carry_out,
        args=(roles,),
    )


def _carry_out(roles: tuple[str, ...]) -> None:
    """Make the change; a second click finds the dialog closed and does nothing."""
    decision: Decision | None = st.session_state.get(_OPEN)
    if decision is None:
        return
    frame.require(*roles)
    try:
        done = attempts.carry_out(_PLACE, decision.act)
    except StaleVersion as error:
        attempts.refuse(_PLACE, f"{error}. Close this, look at it as it is now, and decide again.")
        return
    if done is not None:
        close()
        keep_message(done)
