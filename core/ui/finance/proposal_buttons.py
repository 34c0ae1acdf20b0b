"""The buttons of a proposal that waits for a second admin: its maker takes it back, another confirms or refuses it."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol
from uuid import UUID

import streamlit as st

from core.services.people.staff import Person
from core.ui.admin import admin_writes
from core.ui.kit import dialogs
from core.ui.kit.dialogs import Decision

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
            dialogs.button(
                verb,
                _build(proposal.id, verb, noun=noun, icon=icon, says=says, work=work[verb]),
                key=f"{noun}.{verb}.{proposal.id}",
                disabled=verb == "Confirm" and not person.may_approve,
            )


def _build(proposal_id: UUID, verb: str, *, noun: str, icon: str, says: str, work: Callable[..., Any]) -> Decision:
    def act() -> str:
        admin_writes.write(lambda session, by: work(session, proposal_id, by=by))
        return f"The {noun} is {_DONE[verb]}."

    return Decision(title=f"{verb} the {noun}", icon=icon, says=says, confirm=verb, act=act)
