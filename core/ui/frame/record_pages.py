"""The record of a page, named by the `id` of the URL."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar
from uuid import UUID

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotFound
from core.store.access import Scope, ScopedSession, reading
from core.ui.frame import frame

T = TypeVar("T")
_ELSEWHERE = " Look at the other mode with the switch in the menu."


def load(
    noun: str, get: Callable[[ScopedSession, UUID], T], *, scope: Scope | None = None, is_of_mode: bool = False
) -> T:
    """Return the record that the URL names, read by `get`; without one, say so and stop the page.

    The scope is by default every distributor in the selected mode. `is_of_mode` records may be in the other mode, which
    the message then says.
    """
    with require_id(noun, is_of_mode=is_of_mode) as record_id, reading(scope or frame.scope()) as session:
        return get(session, record_id)


@contextmanager
def require_id(noun: str, *, is_of_mode: bool = False) -> Iterator[UUID]:
    """Give the block the id of the URL; without one, or if the block finds no such record, say so and stop the page."""
    try:
        yield ids.parse(st.query_params.get("id", ""))
    except InvalidInput as error:
        if [fault.field for fault in error.faults] != ["id"]:
            raise
        _stop(noun, f"The address names no {noun}: open it from its list.", "link_off")
    except NotFound as error:
        _stop(noun, f"{error}.{_ELSEWHERE if is_of_mode else ''}", "search_off")


def _stop(noun: str, message: str, icon: str) -> None:
    frame.page_header(noun.capitalize(), "There is nothing to show at this address.")
    st.error(message, icon=f":material/{icon}:")
    st.stop()
