"""Lookup of the record named in the URL, shared by the screens of one distributor and of one insurer."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.store.access.engine import reading
from core.store.access.scope import ScopedSession
from core.ui.kit import frame

T = TypeVar("T")


def asked(what: str, one: Callable[[ScopedSession, UUID], T]) -> T | None:
    """Return the record named in the URL; if there is none, show a message and return None."""
    try:
        with reading(frame.scope()) as session:
            return one(session, ids.parse(st.query_params.get("id", "")))
    except InvalidInput:
        st.error(f"The address names no {what}: its id has to be a UUID.", icon=":material/link_off:")
    except NotFound as error:
        st.error(f"{error}.", icon=":material/search_off:")
    return None


def agreement_link(account: str, party_id: UUID) -> None:
    """Draw the link to the agreement with a distributor or an insurer ("provider")."""
    st.page_link(
        "admin/agreement.py",
        label="Agreement",
        icon=":material/contract:",
        query_params={"party": account, "id": str(party_id), **frame.mode_query()},
    )


def log_link(kind: str, record_id: UUID) -> None:
    """Draw the link to all audit log entries about a record."""
    st.page_link(
        "admin/audit_log.py",
        label="In the audit log",
        icon=":material/history:",
        query_params={"kind": kind, "id": str(record_id), **frame.mode_query()},
    )
