"""The API keys: their filters and their table."""

from collections.abc import Mapping
from uuid import UUID

import streamlit as st

from core.services.catalogue.key_admin import KeyFilter, KeyRow
from core.ui.kit import url_state
from core.ui.lists import columns
from core.ui.lists.tables import Table

_OF, _KIND, _STATE = "distributor", "kind", "state"
_KINDS: Mapping[str, str] = {"live": "Live", "test": "Test"}
_STATES: Mapping[str, str] = {"working": "Not revoked", "revoked": "Revoked"}

KEYS: Table[KeyRow] = Table(
    name="keys",
    noun=("key", "keys"),
    opens="admin/key.py",
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "distributor": "Distributors from A to Z",
        "distributor-back": "Distributors from Z to A",
        "used-back": "Used last first",
        "used": "Longest not used first",
    },
    narrow=("distributor", "mode", "hint", "state"),
    columns={
        "distributor": columns.text(
            "Distributor", lambda row: row.distributor, 180, sorts=("distributor", "distributor-back")
        ),
        "mode": columns.state("Mode", lambda row: row.mode),
        "name": columns.text("Name", lambda row: row.name, 130),
        "hint": columns.text("Key", lambda row: row.hint, 155),
        "state": columns.state("State", lambda row: row.state),
        "created": columns.moment("Issued", lambda row: row.created_at, sorts=("oldest", "newest")),
        "used": columns.moment("Last used", lambda row: row.last_used_at, sorts=("used", "used-back")),
        "revoked": columns.moment("Revoked", lambda row: row.revoked_at),
    },
)


def read_filter(distributors: Mapping[str, str]) -> KeyFilter:
    """Read the filters from the URL; unknown values are dropped."""
    chosen = url_state.one_of(_OF, distributors)
    kind, state = url_state.one_of(_KIND, _KINDS), url_state.one_of(_STATE, _STATES)
    return KeyFilter(
        distributor_id=UUID(chosen) if chosen else None,
        is_live=None if kind is None else kind == "live",
        revoked=None if state is None else state == "revoked",
    )


def filters(wanted: KeyFilter, distributors: Mapping[str, str]) -> None:
    """Draw the filters of the keys and the reset button."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = str(wanted.distributor_id) if wanted.distributor_id else None
        url_state.choice(_OF, "Distributor", distributors, chosen=chosen)
        kind = None if wanted.is_live is None else ("live" if wanted.is_live else "test")
        url_state.choice(_KIND, "Mode", _KINDS, chosen=kind)
        state = None if wanted.revoked is None else ("revoked" if wanted.revoked else "working")
        url_state.choice(_STATE, "State", _STATES, chosen=state)
        url_state.reset_button(shown=wanted.is_filtered)
