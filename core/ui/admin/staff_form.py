"""The questions about a person of the desk: who they are, what they may do, and what is wrong with an answer."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import streamlit as st

from core import ids, money
from core.errors import FieldFault
from core.services.people.staff import ROLES
from core.services.people.staff_list import StaffRow
from core.ui.forms import forms
from core.ui.kit import words

_DOES = {
    "operations": "sales, policies, customers, buying",
    "claims": "claims, policies, customers",
    "finance": "sales, exports, statements",
    "supervisor": "decides claims above a limit, appeals",
    "admin": "everything, with staff, keys and products",
}
_LONGEST = 100
_SHOWN = "person.shown"


@dataclass(slots=True)
class Asked:
    """What was typed, and below each question the place for what is wrong with it."""

    said: dict[str, Any] = field(default_factory=dict)
    places: "dict[str, st.delta_generator.DeltaGenerator]" = field(default_factory=dict)

    def blame(self, faults: tuple[FieldFault, ...]) -> None:
        """Say what is wrong, each below its question."""
        for fault in faults:
            self.places[fault.field].markdown(forms.complaint(fault.message))


@dataclass(slots=True)
class Shown:
    """An account as the form was filled with it, and as it was when the admin was last told of a change."""

    person: StaffRow
    seen_at: datetime
    draft: UUID = field(default_factory=ids.new)


def shown(person: StaffRow) -> Shown:
    """What the form shows of an account: it stays while somebody types, whatever others do meanwhile."""
    kept: Shown | None = st.session_state.get(_SHOWN)
    if kept is None or kept.person.id != person.id:
        kept = st.session_state[_SHOWN] = Shown(person=person, seen_at=person.updated_at)
    return kept


def forget() -> None:
    """Fill the form afresh the next time."""
    st.session_state.pop(_SHOWN, None)


def ask(person: StaffRow | None, *, key: str) -> Asked:
    """The questions, filled in for somebody who is known; an e-mail is asked once, as it is who they are."""
    asked = Asked()
    if person is None:
        asked.said["email"] = st.text_input("E-mail", max_chars=_LONGEST, autocomplete="off", key=f"{key}.email")
        asked.places["email"] = st.empty()
    asked.said["name"] = st.text_input(
        "Name", person.name if person else "", max_chars=_LONGEST, autocomplete="off", key=f"{key}.name"
    )
    asked.places["name"] = st.empty()
    asked.said["roles"] = st.pills(
        "Roles",
        list(ROLES),
        default=list(person.roles) if person else None,
        selection_mode="multi",
        format_func=words.title,
        help="  \n".join(f"**{words.title(role)}**: {does}" for role, does in _DOES.items()),
        key=f"{key}.roles",
    )
    asked.places["roles"] = st.empty()
    asked.said["claim_limit"] = _limit(person, key)
    asked.places["claim_limit"] = st.empty()
    return asked


def _limit(person: StaffRow | None, key: str) -> str:
    limit = person.claim_limit_minor if person else None
    typed = st.text_input(
        "Claim limit in naira (optional)",
        "" if limit is None else words.as_typed(str(money.to_naira(limit))),
        placeholder="No limit",
        autocomplete="off",
        help="Up to this amount the person decides a claim alone; above it a supervisor does. Empty means no limit.",
        key=f"{key}.limit",
    )
    return words.read_naira(typed)
