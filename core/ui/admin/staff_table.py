"""The staff list: its filters and its table."""

from collections.abc import Mapping

import streamlit as st

from core.services.people.staff import ROLES
from core.services.people.staff_list import StaffFilter, StaffRow
from core.ui.kit import columns, url_state, words
from core.ui.kit.tables import Table

_FIND, _ROLE, _STATE = "find", "role", "state"
_ROLES: Mapping[str, str] = {role: words.title(role) for role in ROLES}
_STATES: Mapping[str, str] = {"enabled": "Enabled", "disabled": "Disabled"}
_LONGEST = 100

STAFF: Table[StaffRow] = Table(
    name="staff",
    noun=("person", "people"),
    opens="admin/person.py",
    orders={
        "name": "Names from A to Z",
        "name-back": "Names from Z to A",
        "email": "E-mails from A to Z",
        "email-back": "E-mails from Z to A",
    },
    narrow=("name", "email", "roles", "state"),
    columns={
        "name": columns.text("Name", lambda row: row.name, 160, sorts=("name", "name-back")),
        "email": columns.text("E-mail", lambda row: row.email, 240, sorts=("email", "email-back")),
        "roles": columns.text("Roles", lambda row: words.title(", ".join(row.roles)), 100),
        "state": columns.state("State", lambda row: row.state),
        "signed_in": columns.moment("Last sign-in", lambda row: row.signed_in_at),
        "sessions": columns.number("Sessions", lambda row: row.open_sessions),
        "limit": columns.naira(
            "Claim limit",
            lambda row: row.claim_limit_minor,
            says="Up to this amount the person decides a claim alone. Empty: no limit.",
        ),
    },
)


def asked() -> StaffFilter:
    """Read the filters from the URL; unknown values are dropped."""
    state = url_state.one_of(_STATE, _STATES)
    return StaffFilter(
        text=st.query_params.get(_FIND, "").strip()[:_LONGEST],
        role=url_state.one_of(_ROLE, _ROLES),
        enabled=None if state is None else state == "enabled",
    )


def filters(wanted: StaffFilter) -> None:
    """Draw the filters of the staff list and the reset button."""
    state = None if wanted.enabled is None else ("enabled" if wanted.enabled else "disabled")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        url_state.search_box(
            _FIND, "Find", text=wanted.text, placeholder="Any part of a name or e-mail", longest=_LONGEST
        )
        url_state.choice(_ROLE, "Role", _ROLES, chosen=wanted.role)
        url_state.choice(_STATE, "State", _STATES, chosen=state)
        url_state.reset_button(shown=wanted.narrowed)
