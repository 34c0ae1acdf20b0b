"""The forms behind invitation links: creation of the first admin, or the choice of a password."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

import streamlit as st

from core.errors import FieldFault, InvalidInput, Unauthorized
from core.services.people import invitations, passwords, sign_in
from core.services.people.invitations import Invitation
from core.settings import settings
from core.store.access import Scope, ScopedSession, reading, transact
from core.ui.forms import forms
from core.ui.kit import words

TICKET: Final = "t"
_ON_THE_WAY = "link.address"
_RULE = f"At least {passwords.MIN_LENGTH} characters. A few words that belong to you alone are easiest to keep."
_UNEQUAL = "must be the same both times"


def has_ticket() -> bool:
    """Return True if the URL carries a link's ticket."""
    return bool(st.query_params.get(TICKET))


def draw(go_to: Callable[[str], None]) -> None:
    """Draw the form of the link in the URL; `go_to` redirects the browser when it is done."""
    address = st.session_state.get(_ON_THE_WAY)
    if address is not None:
        st.success("Signing in …", icon=":material/check_circle:")
        go_to(address)
        return
    ticket = st.query_params[TICKET]
    try:
        with reading(Scope.system()) as session:
            invitation = invitations.open_invitation(session, ticket)
    except Unauthorized as error:
        _refused(str(error))
        return
    if _form(invitation, ticket):
        st.rerun()


def _form(invitation: Invitation, ticket: str) -> bool:
    """Draw the form; return True once the link is used. Errors appear below their fields."""
    typed: dict[str, str | None] = {"email": invitation.email, "name": invitation.name}
    places: dict[str, st.delta_generator.DeltaGenerator] = {}
    with st.form("link"):
        _introduce(invitation)
        if invitation.kind == "set-up":
            typed["name"], places["name"] = _line("Name", autocomplete="name", longest=100)
            typed["email"], places["email"] = _line("E-mail", autocomplete="username", longest=100)
        if settings().passwords:
            typed["password"], places["password"] = _secret("Password")
            st.caption(_RULE)
            typed["again"], places["again"] = _secret("The same password again")
        label = "Create the account and sign in" if invitation.kind == "set-up" else "Save the password and sign in"
        sent = st.form_submit_button(label, type="primary", width="stretch")
    return sent and _submit(invitation, ticket, typed, places)


def _introduce(invitation: Invitation) -> None:
    if invitation.kind == "set-up":
        st.subheader("Set up this desk", anchor=False)
        st.caption("You become its first administrator, and can then add everybody else.")
    else:
        st.subheader("Choose your password", anchor=False)
        st.caption(f"For {words.plain(invitation.name)}, who signs in as **{words.plain(invitation.email)}**.")


def _line(label: str, *, autocomplete: str, longest: int) -> tuple[str, "st.delta_generator.DeltaGenerator"]:
    return st.text_input(label, max_chars=longest, autocomplete=autocomplete) or "", st.empty()


def _secret(label: str) -> tuple[str, "st.delta_generator.DeltaGenerator"]:
    typed = st.text_input(label, type="password", max_chars=passwords.MAX_LENGTH, autocomplete="new-password")
    return typed or "", st.empty()


def _submit(
    invitation: Invitation,
    ticket: str,
    typed: dict[str, str | None],
    places: "dict[str, st.delta_generator.DeltaGenerator]",
) -> bool:
    try:
        _refuse_unequal(typed)
        staff_id = transact(Scope.system(), lambda session: _accept(session, invitation, ticket, typed))
    except InvalidInput as error:
        for fault in error.faults:
            places[fault.field].markdown(forms.complaint(fault.message))
        return False
    # A second click finds the link already used, and is redirected like the first.
    st.session_state[_ON_THE_WAY] = sign_in.build_completion_url(staff_id, "/", method="link")
    return True


def _refuse_unequal(typed: dict[str, str | None]) -> None:
    """Raise InvalidInput if the passwords differ, together with errors of the password itself."""
    password = typed.get("password")
    if password != typed.get("again"):
        weaknesses = passwords.find_weaknesses(password or "", email=typed["email"] or "")
        raise InvalidInput([*weaknesses, FieldFault("again", _UNEQUAL)])


def _accept(session: ScopedSession, invitation: Invitation, ticket: str, typed: dict[str, str | None]) -> UUID:
    password = typed.get("password")
    if invitation.kind == "set-up":
        email, name = typed["email"] or "", typed["name"] or ""
        return invitations.set_up_admin(session, ticket, email=email, name=name, password=password)
    return invitations.choose_password(session, ticket, password or "")


def _refused(why: str) -> None:
    st.error(f"{why}.", icon=":material/link_off:")
    st.caption(
        "An administrator makes a new link under Admin, Staff. For the first administrator of a new desk,"
        " `coverdesk staff set-up-link` prints one on the server."
    )
    st.button("Go to the sign-in", type="primary", width="stretch", on_click=_leave)


def _leave() -> None:
    st.query_params.pop(TICKET, None)
