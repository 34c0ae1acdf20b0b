"""The part of the saved views that mails one of them: regularly, or when a figure crosses a bound."""

from collections.abc import Mapping
from uuid import UUID

import streamlit as st

from core.errors import CoverdeskError, InvalidInput
from core.outbound import mail as smtp
from core.services.exports import view_mail
from core.services.exports.view_mail import Watch
from core.services.people.saved_views import View
from core.services.people.staff import Person
from core.store.access import Scope, reading, transact
from core.ui.forms import forms
from core.ui.frame import frame
from core.ui.kit import words

_EVERY = {"": "Never", "day": "Every day", "week": "Every Monday", "month": "On the 1st"}
_WARN = {
    "": "Never",
    "rows above": "Rows are more than",
    "rows below": "Rows are fewer than",
    "sum above": "The sum is above, ₦",
    "sum below": "The sum is below, ₦",
}
_FAULTS, _NOTICE = "view_mail faults", "view_mail said"


def draw(path: str, view: View, person: Person) -> None:
    """Draw what the person is mailed of the view that is open; nothing for a list that is not exported."""
    kind = view_mail.get_kind(path)
    if kind is None or not person.has_role(*kind.roles):
        return
    with reading(Scope.system()) as session:
        watch = view_mail.get_watch(session, view.id, by=person)
    warnings = {key: label for key, label in _WARN.items() if kind.summed is not None or not key.startswith("sum")}
    key = f"view_mail {view.id}"
    st.divider()
    st.markdown(f"**By e-mail: {words.plain(view.name)}**")
    _fields(key, watch, warnings)
    st.button("Save these e-mails", key=f"{key} save", icon=":material/mail:", on_click=_save, args=(key, view, person))
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


def _save(key: str, view: View, person: Person) -> None:
    typed = {name: st.session_state.get(f"{key} {name}", "") for name in ("every", "warn", "bound")}
    bound = typed["bound"].replace(",", "").replace("₦", "").strip()
    inputs = {name: value for name, value in {**typed, "bound": bound}.items() if value}
    if not typed["warn"]:
        inputs.pop("bound", None)
    try:
        _write(view.id, inputs, person)
    except InvalidInput as error:
        st.session_state[_FAULTS] = {
            fault.field: f"{words.title(fault.field)} {fault.message}" for fault in error.faults
        }
    except CoverdeskError as error:
        st.session_state[_FAULTS] = {"": str(error)}
    else:
        st.session_state[_NOTICE] = "Saved." if inputs else "No e-mail is sent about this view."


def _write(view_id: UUID, inputs: Mapping[str, str], person: Person) -> None:
    frame.require()
    is_live = frame.mode()
    transact(
        Scope.system(),
        lambda session: view_mail.set_watch(session, view_id, inputs, is_live=is_live, by=person),
    )
