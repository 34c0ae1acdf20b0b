"""The sign-in page, shown at every URL to people who are not signed in.

Checks a password, an identity provider's claims or a link; the session itself is opened by the HTTP route that the
browser is sent to.
"""

import json
from urllib.parse import urlencode, urlsplit

import streamlit as st

from core.errors import TooManyRequests, Unauthorized
from core.services.people import invitations, passwords, sign_in, staff
from core.settings import settings
from core.store.access import Scope, reading, writing
from core.ui.kit import words
from core.ui.sign_in import link_forms, oidc

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
        if link_forms.has_ticket():
            link_forms.draw(go_to)
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
    if not _has_admin():
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
            "Password", type="password", max_chars=passwords.MAX_LENGTH, autocomplete="current-password"
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
    with reading(Scope.system()) as session:
        staff_id = passwords.verify_password(session, email, password)
    return sign_in.build_completion_url(staff_id, wanted, address=place)


def go_to(address: str) -> None:
    """Send the browser to a URL of this application."""
    st.html(f"<script>window.location.replace({json.dumps(address)})</script>", unsafe_allow_javascript=True)


def get_requested_url() -> str:
    """Return the URL requested before the sign-in, with its query."""
    path = urlsplit(st.context.url or "/").path or "/"
    left_out = {_AGAIN, link_forms.TICKET}
    query = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out}
    path = "/" if path in invitations.PATHS.values() else path
    return path + (f"?{urlencode(query, doseq=True)}" if query else "")


@st.cache_data(ttl="10s", max_entries=4, show_spinner=False)
def _admin_of(_of_store: str) -> bool:
    with reading(Scope.system()) as session:
        return staff.has_admin(session)


def _has_admin() -> bool:
    return _admin_of(settings().database_url)


def _wait(seconds: int) -> str:
    return f"{seconds} seconds" if seconds < 90 else f"{round(seconds / 60)} minutes"
