"""Saved views of a list: opened, saved under a name, shared with a role, and chosen as the view to start with."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st

from core.errors import CoverdeskError, InvalidInput
from core.services.people import saved_views
from core.services.people.saved_views import View
from core.services.people.staff import ROLES, Person
from core.store.access import Scope, reading, transact
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import view_mail

_NAME, _ROLE, _FAULT, _STARTS = "view_name", "view_role", "view_fault", "start_views"
_NOBODY = "Only me"


def draw(path: str, person: Person) -> None:
    """Draw the views of the list at this page file, behind one button."""
    with reading(Scope.system()) as session:
        views = saved_views.list_views(session, path, by=person)
    now = saved_views.keep_parameters(url_state.all_parameters())
    current = next((view for view in views if view.parameters == now), None)
    with st.popover("Views", icon=":material/bookmark:", key="saved_views"):
        for view in views:
            _line(path, view, person, is_current=view is current)
        if not views:
            st.caption("Keep filters, order and columns under a name, and open them again from here.")
        _form(path, now, person)
        if current:
            view_mail.draw(path, current, person)
    if current:
        st.markdown(f":material/bookmark: {words.plain(current.name)}", width="content")


def _line(path: str, view: View, person: Person, *, is_current: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        query = {**view.parameters, **frame.mode_query()}
        icon = ":material/check:" if is_current else ":material/bookmark:"
        page_links.link(path, label=words.plain(view.name), icon=icon, query_params=query)
        if view.shared_role:
            st.caption(f"{view.shared_role}, by {words.plain(view.owner)}", width="content")
        name = words.plain(view.name)
        st.button(
            "Starts" if view.is_start else "Start with it",
            key=f"start {view.id}",
            type="tertiary",
            icon=":material/star:" if view.is_start else ":material/star_outline:",
            help=f"The menu opens {name}" if view.is_start else f"Let the menu open {name}",
            on_click=_choose_start,
            args=(path, None if view.is_start else view.id, person),
        )
        if view.is_own or person.has_role():
            st.button(
                "Delete",
                key=f"delete {view.id}",
                type="tertiary",
                icon=":material/delete:",
                help=f"Delete {name}" + (" for everybody" if view.shared_role else ""),
                on_click=_delete,
                args=(view.id, person),
            )


def _form(path: str, now: Mapping[str, Sequence[str]], person: Person) -> None:
    st.text_input("Name of this view", key=_NAME, max_chars=60, placeholder="Motor of this month")
    if fault := st.session_state.pop(_FAULT, None):
        st.markdown(f":red[{words.plain(fault)}]")
    roles = [role for role in ROLES if person.has_role(role)]
    st.selectbox(
        "For", [_NOBODY, *roles], key=_ROLE, format_func=lambda role: role if role == _NOBODY else words.title(role)
    )
    st.caption("Filters, columns and order are kept; the text of a search and an e-mail address are not.")
    st.button("Save this view", icon=":material/bookmark_add:", on_click=_save, args=(path, now, person))


def _save(path: str, now: Mapping[str, Sequence[str]], person: Person) -> None:
    frame.require()
    role = st.session_state.get(_ROLE)
    inputs = {"name": st.session_state.get(_NAME, "").strip(), "shared_role": None if role == _NOBODY else role}
    given = {name: value for name, value in inputs.items() if value}
    try:
        transact(Scope.system(), lambda session: saved_views.save_view(session, path, now, given, by=person))
    except InvalidInput as error:
        st.session_state[_FAULT] = "Give the view a name." if not inputs["name"] else error.faults[0].message
        return
    st.session_state[_NAME] = ""


def _choose_start(path: str, view_id: UUID | None, person: Person) -> None:
    try:
        transact(Scope.system(), lambda session: saved_views.set_start(session, path, view_id, by=person))
    except CoverdeskError as error:
        st.session_state[_FAULT] = str(error)
    st.session_state.pop(_STARTS, None)


def _delete(view_id: UUID, person: Person) -> None:
    try:
        transact(Scope.system(), lambda session: saved_views.delete_view(session, view_id, by=person))
    except CoverdeskError as error:
        st.session_state[_FAULT] = str(error)
    st.session_state.pop(_STARTS, None)


def start_queries(person: Person) -> Mapping[str, str]:
    """Return the queries with which the menu opens lists that have a start view, by page file."""
    if _STARTS not in st.session_state:
        with reading(Scope.system()) as session:
            starts = saved_views.list_starts(session, by=person)
        st.session_state[_STARTS] = {
            path: urlencode(sorted(given.items()), doseq=True) for path, given in starts.items() if given
        }
    found: Mapping[str, str] = st.session_state[_STARTS]
    return found
