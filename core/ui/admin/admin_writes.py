"""Execution of an admin's click: one transaction as the signed-in person, and its result message, shown once."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.errors import CoverdeskError
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, transact
from core.ui.frame import frame
from core.ui.kit import words

T = TypeVar("T")
Work = Callable[[ScopedSession, Person], T]
_SAID, _REFUSED = "admin.said", "admin.refused"


def write(work: Work[T]) -> T:
    """Run the work as the signed-in admin, in one transaction; raises the services' errors."""
    by = frame.require("admin")
    return transact(Scope.system(), lambda session: work(session, by))


def doing(work: Work[object], said: str, *, then: Callable[[], None] | None = None) -> Callable[[], None]:
    """Return the callback of a button; `outcome` shows its result on the next run of the page."""

    def do() -> None:
        try:
            write(work)
        except CoverdeskError as error:
            refuse(error)
        else:
            st.session_state[_SAID] = said
            if then:
                then()

    return do


def keep_message(sentence: str) -> None:
    """Store a success message for `outcome`."""
    st.session_state[_SAID] = sentence


def refuse(error: CoverdeskError) -> None:
    """Store a refusal for `outcome`."""
    st.session_state[_REFUSED] = str(error)


def outcome() -> None:
    """Show the result of the last click, once."""
    if said := st.session_state.pop(_SAID, None):
        st.success(words.plain(said), icon=":material/check_circle:")
    if refused := st.session_state.pop(_REFUSED, None):
        st.error(f"{words.plain(refused)}.", icon=":material/block:")
