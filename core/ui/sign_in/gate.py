"""The sign-in page, shown at every URL to people who are not signed in.

Checks a password, an identity provider's claims or a link; the session itself is opened by the HTTP route that the
browser is sent to.
"""

import json
from collections.abc import Callable
from typing import Final
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import streamlit as st

from core.errors import FieldFault, InvalidInput, TooManyRequests, Unauthorized
from core.services.people import accounts, credentials, sign_in, staff
from core.services.people.accounts import Invitation
from core.settings import settings
from core.store.access import Scope, ScopedSession, read_in, transact, writing
from core.ui.forms import forms
from core.ui.kit import words
from core.ui.sign_in import oidc

TICKET: Final = "t"
_ON_THE_WAY = "link.address"
_RULE = f"At least {credentials.MIN_LENGTH} characters. A few words that belong to you alone are easiest to keep."
_UNEQUAL = "must be the same both times"


def has_ticket() -> bool:
    """Return True if the URL carries a link's ticket."""
    return bool(st.query_params.get(TICKET))


def draw_link_form(go_to: Callable[[str], None]) -> None:
    """Draw the form of the link in the URL; `go_to` redirects the browser when it is done."""
    address = st.session_state.get(_ON_THE_WAY)
    if address is not None:
        st.success("Signing in …", icon=":material/check_circle:")
        go_to(address)
        return
    ticket = st.query_params[TICKET]
    try:
        invitation = read_in(Scope.system(), accounts.open_invitation, ticket)
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
        if invitation.needs_code:
            typed["code"], places["code"] = _line("Code", autocomplete="one-time-code", longest=20)
            st.caption("Another admin than the one who sent you the link tells you the code.")
        if settings().passwords:
            typed["password"], places["password"] = _secret("Password")
            st.caption(_RULE)
            typed["again"], places["again"] = _secret("The same password again")
        label = "Create the account and sign in" if invitation.kind == "set-up" else "Save the password and sign in"
        sent = st.form_submit_button(label, type="primary", width="stretch")
    return sent and _set_password(invitation, ticket, typed, places)


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
    typed = st.text_input(label, type="password", max_chars=credentials.MAX_LENGTH, autocomplete="new-password")
    return typed or "", st.empty()


def _set_password(
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
        weaknesses = credentials.find_weaknesses(password or "", email=typed["email"] or "")
        raise InvalidInput([*weaknesses, FieldFault("again", _UNEQUAL)])


def _accept(session: ScopedSession, invitation: Invitation, ticket: str, typed: dict[str, str | None]) -> UUID:
    password = typed.get("password")
    if invitation.kind == "set-up":
        email, name = typed["email"] or "", typed["name"] or ""
        return accounts.set_up_admin(session, ticket, email=email, name=name, password=password)
    return accounts.choose_password(session, ticket, password or "", code=typed.get("code") or "")


def _refused(why: str) -> None:
    st.error(f"{why}.", icon=":material/link_off:")
    st.caption(
        "An administrator makes a new link under Admin, Staff. For the first administrator of a new desk,"
        " `coverdesk staff set-up-link` prints one on the server."
    )
    st.button("Go to the sign-in", type="primary", width="stretch", on_click=_leave)


def _leave() -> None:
    st.query_params.pop(TICKET, None)


_AGAIN = "sign_in"
_CAME_BACK = {
    "again": "That took too long. Please sign in again.",
    "unreachable": "Your identity provider does not answer just now. Please try again in a moment.",
    "refused": "Your identity provider did not let you in. Please try again, or ask an administrator.",
}


def draw(logo: str) -> None:
    """Draw the whole page."""
    with st.container(horizontal_alignment="center"), st.container(width=400, gap="medium"):
        st.space("large")
        with st.container(gap="xsmall"):
            st.image(logo, width=190, alt="Coverdesk")
            st.caption("Sales, policies and claims of your insurance business.")
        if has_ticket():
            draw_link_form(go_to)
        elif not _by_provider():
            _ask()


def _by_provider() -> bool:
    """Return True while a browser authenticated by the provider is redirected; show a refusal above the form."""
    id_claims = oidc.get_claims()
    if id_claims is None:
        return False
    try:
        oidc.go_on(id_claims)
    except Unauthorized as error:
        st.error(f"{words.plain(str(error))}.", icon=":material/person_off:")
        return False
    return True


def _ask() -> None:
    if came_back := _CAME_BACK.get(st.query_params.get(_AGAIN, "")):
        st.warning(came_back, icon=":material/info:")
    if settings().passwords:
        _ask_password()
    if settings().has_identity_provider:
        oidc.button(get_requested_url())
    st.caption("Your sign-in ends after 30 minutes without use. An administrator can give you an account.")
    if not _has_admin(settings().database_url):
        st.info(
            "This desk has no administrator yet. On the server, `coverdesk staff set-up-link` prints the link"
            " that makes the first one.",
            icon=":material/rocket_launch:",
        )


def _ask_password() -> None:
    with st.form("sign_in"):
        st.subheader("Sign in", anchor=False)
        email = st.text_input("E-mail", max_chars=254, autocomplete="username")
        password = st.text_input(
            "Password", type="password", max_chars=credentials.MAX_LENGTH, autocomplete="current-password"
        )
        sent = st.form_submit_button("Sign in", type="primary", width="stretch")
        notice = st.empty()
    if sent:
        _submit(email or "", password or "", notice)


def _submit(email: str, password: str, notice: "st.delta_generator.DeltaGenerator") -> None:
    try:
        address = hand_over(email, password, get_requested_url(), place=_place())
    except TooManyRequests as error:
        notice.error(f"Too many attempts. Try again in {_wait(error.retry_after)}.")
    except Unauthorized as error:
        notice.error(f"{error}.")
    else:
        notice.info("Signing in …")
        go_to(address)


def _place() -> str | None:
    """Return the browser's network address; a proxy's header is trusted only where the server is configured to."""
    address = st.context.ip_address
    return address if isinstance(address, str) else None


def hand_over(email: str, password: str, wanted: str, *, place: str | None = None) -> str:
    """Check e-mail and password and return the URL that opens the session, on the way to the `wanted` page.

    Raises Unauthorized when they do not match, TooManyRequests after too many failures of the e-mail or of the network
    address `place`.
    """
    with writing(Scope.system()) as session:
        sign_in.admit_attempt(session, email, address=place)
    staff_id = read_in(Scope.system(), credentials.verify_password, email, password)
    return sign_in.build_completion_url(staff_id, wanted, address=place)


def go_to(address: str) -> None:
    """Send the browser to a URL of this application."""
    st.html(f"<script>window.location.replace({json.dumps(address)})</script>", unsafe_allow_javascript=True)


def get_requested_url() -> str:
    """Return the URL requested before the sign-in, with its query."""
    path = urlsplit(st.context.url or "/").path or "/"
    left_out = {_AGAIN, TICKET}
    query = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out}
    path = "/" if path in accounts.PATHS.values() else path
    return path + (f"?{urlencode(query, doseq=True)}" if query else "")


@st.cache_data(ttl="10s", max_entries=4, show_spinner=False)
def _has_admin(of_store: str) -> bool:
    return read_in(Scope.system(), staff.has_admin)


def _wait(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"
