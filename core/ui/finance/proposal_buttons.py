"""The buttons of a proposal that waits for a second admin: its maker takes it back, another confirms or refuses it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Protocol
from uuid import UUID

import streamlit as st

from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.ui.admin.desk import action
from core.ui.kit import actions
from core.ui.kit.actions import Values

_DONE: Final = {"Confirm": "confirmed", "Refuse": "refused", "Take back": "taken back"}


class Proposed(Protocol):
    """A proposal as read from the store."""

    @property
    def id(self) -> UUID:
        """Its id."""

    @property
    def proposed_by(self) -> UUID:
        """The id of the person who made it."""


def show(
    proposal: Proposed, person: Person, *, noun: str, icon: str, says: str, work: Mapping[str, Callable[..., Any]]
) -> None:
    """Show the buttons; `work` has the service of each verb, `says` stands in their dialogs."""
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


def _decide(work: Callable[..., Any], proposal_id: UUID, session: ScopedSession, _: Values, by: Person) -> None:
    work(session, proposal_id, by=by)
