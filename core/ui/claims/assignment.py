"""Assignment of claims from the queue: take the next one, or assign those selected in the table (contract C7)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import CoverdeskError
from core.services.claims import batches
from core.services.claims.batches import BatchResult
from core.services.claims.lists.queue import QueueRow
from core.services.claims.review.officers import Officer
from core.services.claims.workflow import assignment
from core.services.claims.workflow.assignment import ChosenClaim
from core.services.people.staff import Person
from core.store.access import ScopedSession, transact
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import tables
from core.ui.lists.record_tables import CLAIMS

_CHOSEN, _SAID, _TAKEN, _TOKEN = "claims_chosen", "claims_said", "claims_taken", "claims_token"
_COLLEAGUE: Final = "claims_colleague"
_QUESTION: Final = "claims_question"
R = TypeVar("R")
REVIEW: Final = "claims/claim.py"


@dataclass(frozen=True, slots=True)
class Said:
    """Result of the last attempt: what was done and what was refused, each with its reason."""

    done: str = ""
    refused: tuple[str, ...] = ()
    why: str = "Not assigned, as somebody was faster"


def follow() -> None:
    """Open the claim that was just taken; the review links back to the queue with its filters."""
    taken: UUID | None = st.session_state.pop(_TAKEN, None)
    if taken is not None:
        tables.keep_address(CLAIMS)
        page_links.go(REVIEW, id=str(taken))


def notice() -> None:
    """Show the result of the last attempt, once."""
    said: Said = st.session_state.pop(_SAID, Said())
    if said.done:
        st.success(said.done, icon=":material/check_circle:")
    if said.refused:
        lines = "\n".join(f"- {words.plain(line)}" for line in said.refused)
        st.warning(f"{said.why}:\n{lines}", icon=":material/group:")


def take_button(person: Person) -> None:
    """Draw the button that takes the most urgent unassigned claim and opens it; a double click takes only one."""
    token = st.session_state.setdefault(_TOKEN, ids.new())
    st.button(
        "Take next",
        icon=":material/pan_tool_alt:",
        type="primary",
        key=f"take_next_{token}",
        on_click=_take,
        args=(person, token),
        help="Assigns the most urgent unassigned claim to you, whatever the filters say, and opens it.",
    )


def _take(person: Person, token: UUID) -> None:
    if st.session_state.get(_TOKEN) != token:
        return
    found = _write(lambda session: assignment.assign_next(session, person=person))
    st.session_state[_TOKEN] = ids.new()
    if found is not None:
        st.session_state[_TAKEN] = found
    elif _SAID not in st.session_state:
        st.session_state[_SAID] = Said(done="Nothing is left to take: every open claim has its officer.")


def get_selected() -> list[ChosenClaim]:
    """Return the selected claims of the table that the URL shows."""
    where, seen = st.session_state.get(_CHOSEN, (None, []))
    return seen if where == url_state.all_parameters() else []


def store_selection(rows: Sequence[QueueRow], picked: Sequence[QueueRow]) -> None:
    """Store the selection: the picked rows of this page, and selected ones that are no longer on the screen."""
    on_screen = {row.id for row in rows}
    gone = [seen for seen in get_selected() if seen.id not in on_screen]
    st.session_state[_CHOSEN] = (url_state.all_parameters(), [*gone, *assignment.choose_rows(picked)])


def bar(person: Person, officers: Sequence[Officer]) -> None:
    """Draw the actions for the selected claims, in the place of the line above the table."""
    picked = get_selected()
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="list_head"):
        st.markdown(f"**{words.count(len(picked))}** chosen", width="content")
        st.button(
            "Assign to me",
            icon=":material/person_add:",
            on_click=_assign,
            args=(person, person.id, "you", picked),
        )
        with st.popover("Assign to a colleague", icon=":material/group_add:"):
            names: dict[UUID | None, str] = {
                officer.id: officer.name for officer in officers if officer.id != person.id
            }
            to: UUID | None = st.selectbox(
                "Colleague", list(names), key=_COLLEAGUE, index=None, format_func=names.__getitem__
            )
            label = f"Assign {words.count(len(picked))} to {words.plain(names[to])}" if to else "Choose a colleague"
            name = names[to] if to else ""
            st.button(
                label, type="primary", disabled=not to, on_click=_assign, args=(person, to, name, picked), key="give"
            )
        st.button(
            "Unassign",
            icon=":material/person_remove:",
            on_click=_assign,
            args=(person, None, "nobody", picked),
        )
        st.button(
            "Settle",
            icon=":material/task_alt:",
            on_click=_settle,
            args=(person, picked),
            help="Settles those that are Paid.",
        )
        with st.popover("Ask the claimants", icon=":material/contact_support:"):
            st.text_area("What to ask, or which document to send", key=_QUESTION, height=90, max_chars=2000)
            label = f"Ask for {words.count(len(picked))} {CLAIMS.noun[len(picked) != 1]}"
            st.button(label, type="primary", on_click=_ask, args=(person, picked), key="ask_claimants")
        st.button("Choose none", type="tertiary", on_click=_let_go)


def _assign(person: Person, to: UUID | None, name: str, picked: Sequence[ChosenClaim]) -> None:
    if not get_selected():
        # Second click of a double click: the first one has already done it.
        return
    result = _write(lambda session: assignment.assign_claims(session, picked, to=to, person=person))
    if result is None:
        return
    _let_go()
    number = f"{words.count(result.assigned_count)} {CLAIMS.noun[result.assigned_count != 1]}"
    done = f"{number} assigned to {words.plain(name)}." if result.assigned_count else ""
    st.session_state[_SAID] = Said(done, result.conflicts)


def _settle(person: Person, picked: Sequence[ChosenClaim]) -> None:
    if get_selected():
        _tell(_write(lambda session: batches.settle_claims(session, picked, person=person)), "settled")


def _ask(person: Person, picked: Sequence[ChosenClaim]) -> None:
    text = st.session_state.get(_QUESTION) or ""
    if get_selected() and _tell(
        _write(lambda session: batches.ask_claimants(session, picked, text=text, person=person)), "asked"
    ):
        st.session_state[_QUESTION] = ""


def _tell(result: BatchResult | None, verb: str) -> bool:
    """Keep what was done and what was refused for the notice; False where nothing could be tried."""
    if result is None:
        return False
    _let_go()
    number = f"{words.count(result.done_count)} {CLAIMS.noun[result.done_count != 1]}"
    done = f"{number} {'is' if result.done_count == 1 else 'are'} {verb}." if result.done_count else ""
    st.session_state[_SAID] = Said(done, result.refusals, "Not done")
    return True


def _let_go() -> None:
    st.session_state.pop(_CHOSEN, None)
    tables.let_go(CLAIMS)


def _write(work: Callable[[ScopedSession], R]) -> R | None:
    """Run the work and return its result; None if it was refused, after storing the message."""
    try:
        return transact(frame.scope(), work)
    except CoverdeskError as error:
        st.session_state[_SAID] = Said(refused=(str(error),))
        return None
