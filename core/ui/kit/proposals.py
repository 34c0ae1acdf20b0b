"""Buttons of what one person proposes and another decides: confirm and refuse, or take back what is one's own."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol
from uuid import UUID

import streamlit as st

from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.ui.kit import actions, facts
from core.ui.kit.actions import Action, Values

_DONE: Final = {"Confirm": "confirmed", "Refuse": "refused", "Take back": "taken back"}


class Proposed(Protocol):
    """A proposal as read from the store."""

    @property
    def id(self) -> UUID:
        """Its id."""

    @property
    def proposed_by(self) -> UUID | None:
        """The id of the person who made it."""


def draw_decisions(
    proposal: Proposed,
    person: Person,
    *,
    action: Callable[..., Action],
    noun: str,
    icon: str,
    says: str,
    work: Mapping[str, Callable[..., Any]],
) -> None:
    """Draw the buttons that the person may press; `work` has the service of each verb, `says` stands in the dialogs.

    `action` makes the page's actions, with the roles that may do them.
    """
    verbs = ("Take back",) if proposal.proposed_by == person.id else ("Confirm", "Refuse")
    with st.container(horizontal=True, gap="xsmall"):
        for verb in verbs:
            decide = action(
                title=f"{verb} the {noun}",
                icon=icon,
                says=says,
                confirm=verb,
                work=partial(_decide, work[verb], proposal.id),
                done=f"The {noun} is {_DONE[verb]}.",
            )
            is_barred = verb == "Confirm" and not person.may_approve
            actions.button(verb, decide, key=f"{noun}.{verb}.{proposal.id}", disabled=is_barred)
    if proposal.proposed_by != person.id:
        facts.show_resting(person)


def _decide(work: Callable[..., Any], proposal_id: UUID, session: ScopedSession, _: Values, by: Person) -> None:
    work(session, proposal_id, by=by)
