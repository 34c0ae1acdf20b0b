"""A change at the privacy desk from a dialog: one transaction as the signed-in person, over every record."""

from collections.abc import Callable, Mapping
from typing import TypeVar
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, reading, transact
from core.ui.frame import frame
from core.ui.kit import dialogs, facts

Result = TypeVar("Result")
ROLE = "compliance"
# A person's records are at several distributors and in both modes.
_EVERYTHING = Scope.system()


def made(work: Callable[[ScopedSession, Person], object], sentence: str) -> str:
    """Run the work as the signed-in person of compliance, and return the sentence that says so."""
    carry_out(work)
    return sentence


def submitted(
    names: tuple[str, ...], work: Callable[[ScopedSession, Mapping[str, str], Person], object], sentence: str
) -> Callable[[], str]:
    """Return the action of a dialog that hands its fields to the work.

    They are read before the transaction: the thread that writes has no session of the browser.
    """

    def act() -> str:
        typed = dialogs.typed(*names)
        return made(lambda session, by: work(session, typed, by), sentence)

    return act


def carry_out(work: Callable[[ScopedSession, Person], Result]) -> Result:
    """Run the work as the signed-in person of compliance and return its result."""
    by = frame.require(ROLE)
    return transact(_EVERYTHING, lambda session: work(session, by))


def read(work: Callable[[ScopedSession], Result]) -> Result:
    """Read over every record; only for people of compliance."""
    frame.require(ROLE)
    with reading(_EVERYTHING) as session:
        return work(session)


def choice(name: str, label: str, options: Mapping[str, str]) -> None:
    """Draw a pick list in the dialog, with its error below it."""
    st.selectbox(label, list(options), key=dialogs.FIELD + name, format_func=options.__getitem__, index=None)
    dialogs.blame(name)


def area(name: str, label: str, *, longest: int) -> None:
    """Draw a text of several lines in the dialog, with its error below it."""
    st.text_area(label, key=dialogs.FIELD + name, max_chars=longest, height=110)
    dialogs.blame(name)


def record(get: Callable[[ScopedSession, UUID], Result], noun: str) -> Result:
    """Return the record named in the URL; if there is none, show a message and stop the page."""
    found: Result
    try:
        id_ = ids.parse(st.query_params.get("id", ""))
        found = read(lambda session: get(session, id_))
    except InvalidInput:
        st.error(f"The address names no {noun}: its id has to be a UUID.", icon=":material/link_off:")
        st.stop()
    except NotFound as error:
        st.error(f"{error}.", icon=":material/search_off:")
        st.stop()
    return found


def history(subject: str) -> None:
    """Draw the entries of the audit log about a record."""
    entries = read(lambda session: audit.list_history(session, subject))
    facts.history(
        [AuditEvent(at=row.created_at, actor=row.actor, action=row.action, facts=row.after or {}) for row in entries]
    )


def button(label: str, decision: dialogs.Decision, *, icon: str, primary: bool = False, key: str | None = None) -> None:
    """Draw the button that opens a dialog."""
    st.button(
        label,
        key=key,
        type="primary" if primary else "secondary",
        icon=f":material/{icon}:",
        on_click=dialogs.open_,
        args=(decision,),
    )
