"""Saved views of a list: opened, saved under a name, shared with a role, and chosen as the view to start with.

One is mailed regularly, or when a figure crosses a bound.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from core.desk import saved_view_mail
from core.desk.saved_view_mail import Watch
from core.errors import CoverdeskError, InvalidInput
from core.outbound import mail as smtp
from core.services.people import saved_views
from core.services.people.saved_views import View
from core.services.people.staff import ROLES, Person
from core.store.access import Scope, ScopedSession, read_in, transact
from core.ui.forms import forms
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words

_EVERY = {"": "Never", "day": "Every day", "week": "Every Monday", "month": "On the 1st"}
_WARN = {
    "": "Never",
    "rows above": "Rows are more than",
    "rows below": "Rows are fewer than",
    "sum above": "The sum is above, ₦",
    "sum below": "The sum is below, ₦",
}
_FAULTS, _NOTICE = "view_mail faults", "view_mail said"


def draw_mail(path: str, view: View, person: Person) -> None:
    """Draw what the person is mailed of the view that is open; nothing for a list that is not exported."""
    kind = saved_view_mail.get_kind(path)
    if kind is None or not person.has_role(*kind.roles):
        return
    watch = read_in(Scope.system(), saved_view_mail.get_watch, view.id, by=person)
    warnings = {key: label for key, label in _WARN.items() if kind.summed is not None or not key.startswith("sum")}
    key = f"view_mail {view.id}"
    st.divider()
    st.markdown(f"**By e-mail: {words.plain(view.name)}**")
    _fields(key, watch, warnings)
    st.button(
        "Save these e-mails", key=f"{key} save", icon=":material/mail:", on_click=_save_mail, args=(key, view, person)
    )
    if notice := st.session_state.pop(_NOTICE, None):
        st.success(notice, icon=":material/check_circle:")
    _state(watch)


def _fields(key: str, watch: Watch | None, warnings: Mapping[str, str]) -> None:
    faults: Mapping[str, str] = st.session_state.pop(_FAULTS, {})
    given = {
        "every": (watch and watch.every) or "",
        "warn": (watch and watch.warn) or "",
        "bound": "" if watch is None or watch.bound is None else words.as_typed(f"{watch.bound:f}"),
    }
    for name, value in given.items():
        st.session_state.setdefault(f"{key} {name}", value)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"):
        st.selectbox("Send me its figures", list(_EVERY), key=f"{key} every", format_func=_EVERY.__getitem__)
        st.selectbox("Warn me when", list(warnings), key=f"{key} warn", format_func=warnings.__getitem__)
        st.text_input("Number", key=f"{key} bound", max_chars=20, autocomplete="off")
    for message in faults.values():
        st.markdown(forms.complaint(message))


def _state(watch: Watch | None) -> None:
    st.caption("The message has figures and links, no rows; it goes to your own address, from 7 o'clock.")
    if watch is None:
        return
    if watch.is_crossed:
        st.warning("The limit is exceeded now.", icon=":material/notifications_active:")
    if watch.last_error:
        st.error(words.plain(f"{watch.last_error}."), icon=":material/block:")
    if not smtp.can_send():
        st.caption("There is no mail server yet: messages wait until an administrator names one.")


def _save_mail(key: str, view: View, person: Person) -> None:
    typed = {name: st.session_state.get(f"{key} {name}", "") for name in ("every", "warn", "bound")}
    bound = typed["bound"].replace(",", "").replace("₦", "").strip()
    inputs = {name: value for name, value in {**typed, "bound": bound}.items() if value}
    if not typed["warn"]:
        inputs.pop("bound", None)
    try:
        frame.require()
        keep = partial(saved_view_mail.set_watch, view_id=view.id, inputs=inputs, is_live=frame.mode(), by=person)
        transact(Scope.system(), keep)
    except InvalidInput as error:
        st.session_state[_FAULTS] = {
            fault.field: f"{words.title(fault.field)} {fault.message}" for fault in error.faults
        }
    except CoverdeskError as error:
        st.session_state[_FAULTS] = {"": str(error)}
    else:
        st.session_state[_NOTICE] = "Saved." if inputs else "No e-mail is sent about this view."


_NAME, _ROLE, _FAULT, _STARTS = "view_name", "view_role", "view_fault", "start_views"
_NOBODY = "Only me"


def draw(path: str, person: Person) -> None:
    """Draw the views of the list at this page file, behind one button."""
    views = read_in(Scope.system(), saved_views.list_views, path, by=person)
    now = saved_views.keep_parameters(url_state.all_parameters())
    current = next((view for view in views if view.parameters == now), None)
    with st.popover("Views", icon=":material/bookmark:", key="saved_views"):
        for view in views:
            _line(path, view, person, is_current=view is current)
        if not views:
            st.caption("Keep filters, order and columns under a name, and open them again from here.")
        _form(path, now, person)
        if current:
            draw_mail(path, current, person)
    if current:
        st.markdown(f":material/bookmark: {words.plain(current.name)}", width="content")


def _line(path: str, view: View, person: Person, *, is_current: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        icon = ":material/check:" if is_current else ":material/bookmark:"
        page_links.link(path, label=words.plain(view.name), icon=icon, query_params=view.parameters)
        if view.shared_role:
            st.caption(f"{view.shared_role}, by {words.plain(view.owner)}", width="content")
        name = words.plain(view.name)
        st.button(
            "Starts" if view.is_start else "Start with it",
            key=f"start {view.id}",
            type="tertiary",
            icon=":material/star:" if view.is_start else ":material/star_outline:",
            help=f"The menu opens {name}" if view.is_start else f"Let the menu open {name}",
            on_click=_change,
            args=(partial(saved_views.set_start, screen=path, view_id=None if view.is_start else view.id, by=person),),
        )
        if view.is_own or person.has_role():
            st.button(
                "Delete",
                key=f"delete {view.id}",
                type="tertiary",
                icon=":material/delete:",
                help=f"Delete {name}" + (" for everybody" if view.shared_role else ""),
                on_click=_change,
                args=(partial(saved_views.delete_view, view_id=view.id, by=person),),
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


def _change(work: Callable[[ScopedSession], object]) -> None:
    try:
        transact(Scope.system(), work)
    except CoverdeskError as error:
        st.session_state[_FAULT] = str(error)
    st.session_state.pop(_STARTS, None)


def start_queries(person: Person) -> Mapping[str, str]:
    """Return the queries with which the menu opens lists that have a start view, by page file."""
    if _STARTS not in st.session_state:
        starts = read_in(Scope.system(), saved_views.list_starts, by=person)
        st.session_state[_STARTS] = {
            path: urlencode(sorted(given.items()), doseq=True) for path, given in starts.items() if given
        }
    found: Mapping[str, str] = st.session_state[_STARTS]
    return found
