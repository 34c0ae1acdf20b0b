"""The form for a staff member: name, e-mail, roles and limit, with errors below the fields."""

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
    "compliance": "requests of people, erasure, breaches, returns",
    "admin": "everything, with staff, keys and products",
}
_LONGEST = 100
_SHOWN = "person.shown"


@dataclass(slots=True)
class Asked:
    """The typed values, and the placeholder for the error below each field."""

    said: dict[str, Any] = field(default_factory=dict)
    places: "dict[str, st.delta_generator.DeltaGenerator]" = field(default_factory=dict)

    def blame(self, faults: tuple[FieldFault, ...]) -> None:
        """Show each error below its field."""
        for fault in faults:
            self.places[fault.field].markdown(forms.complaint(fault.message))


@dataclass(slots=True)
class Shown:
    """An account as the form was filled with it, and as it was when the admin was last told of a change."""

    person: StaffRow
    seen_at: datetime
    draft: UUID = field(default_factory=ids.new)


def pin_account(person: StaffRow) -> Shown:
    """Return the account shown in the form; it stays the same while somebody types, whatever others change."""
    kept: Shown | None = st.session_state.get(_SHOWN)
    if kept is None or kept.person.id != person.id:
        kept = st.session_state[_SHOWN] = Shown(person=person, seen_at=person.updated_at)
    return kept


def forget() -> None:
    """Fill the form from the account the next time."""
    st.session_state.pop(_SHOWN, None)


def draw_form(person: StaffRow | None, *, key: str) -> Asked:
    """Draw the form, filled in for a known person; the e-mail is set at creation only, as it identifies the person."""
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
        placeholder="0.00 for a new claims officer",
        autocomplete="off",
        help="Up to this amount the person decides a claim alone; above it a supervisor does. A new claims officer"
        " decides nothing until a limit is set.",
        key=f"{key}.limit",
    )
    return words.read_naira(typed)
