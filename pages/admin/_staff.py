"""Shared by the screens of staff: the fields of an account, and the link by which a person sets a password."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import streamlit as st

from core import ids, money
from core.services.people.staff import ROLES, StaffRow
from core.ui.kit import actions, words
from core.ui.kit.actions import Field, Naira, Text

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


@dataclass(frozen=True, slots=True)
class _Roles(Field):
    """The roles of an account; read as a list."""

    def draw(self, key: str) -> None:
        """Draw a button for each role."""
        st.pills(
            self.label,
            list(ROLES),
            selection_mode="multi",
            format_func=words.title,
            help="  \n".join(f"**{words.title(role)}**: {does}" for role, does in _DOES.items()),
            key=key,
        )

    def read(self, key: str) -> list[str]:
        """Return the chosen roles."""
        return list(st.session_state.get(key) or [])


def list_fields(person: StaffRow | None) -> list[Field]:
    """Return the fields of an account; the e-mail is set at creation only, as it identifies the person."""
    limit = person.claim_limit_minor if person else None
    return [
        *([] if person else [Text("email", "E-mail", longest=_LONGEST)]),
        Text("name", "Name", longest=_LONGEST, value=person.name if person else ""),
        _Roles("roles", "Roles", value=list(person.roles) if person else []),
        Naira(
            "claim_limit",
            "Claim limit in naira (optional)",
            value="" if limit is None else words.as_typed(str(money.to_naira(limit))),
            placeholder="0.00 for a new claims officer",
            help="Up to this amount the person decides a claim alone; above it a supervisor does. A new claims officer"
            " decides nothing until a limit is set.",
        ),
    ]


_LINK = "person.link"


def keep_link(link: str | None) -> None:
    """Keep a new link, if there is one, for the person's page, which shows it once."""
    if link:
        st.session_state[_LINK] = link


def outcome() -> None:
    """Show the result of the last click, once; a link is never shown again."""
    actions.run()
    if link := st.session_state.pop(_LINK, None):
        with st.container(border=True):
            st.markdown(":material/link: **Send this link to the person, and to nobody else**")
            st.code(link, language=None, wrap_lines=True)
            st.caption(
                "It lets them choose a password, once and within 24 hours. It is shown now and not again; a new one"
                " replaces it."
            )
