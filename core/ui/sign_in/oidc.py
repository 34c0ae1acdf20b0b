"""Signing in with an identity provider (OIDC): its word opens a session of ours, and is one no longer (contract A2)."""

import json
from typing import Any

import streamlit as st

from core import seal
from core.services.people import sign_in
from core.settings import settings
from core.store.access.engine import writing
from core.store.access.scope import Scope

CALLBACK = "/oauth2callback"
_ON_THE_WAY = "identity.address"
# The provider sends everybody back to the home page: the tab itself keeps where they wanted to go.
_REMEMBER = '<script>sessionStorage.setItem("coverdesk.next", {path})</script>'
_GO_ON = """<script>
const to = new URL({address}, window.location.origin);
to.searchParams.set("next", sessionStorage.getItem("coverdesk.next") || "/");
sessionStorage.removeItem("coverdesk.next");
window.location.replace(to);
</script>"""


def secrets() -> dict[str, Any] | None:
    """What the framework's own sign-in needs, for `st.App(secrets=...)`; none without a provider."""
    given = settings()
    if not given.has_provider:
        return None
    return {
        "auth": {
            "redirect_uri": f"{given.base_url}{CALLBACK}",
            "cookie_secret": seal.keyed_hash("framework cookie", "identity provider"),
            "client_id": given.oidc_client_id,
            "client_secret": given.oidc_client_secret.get_secret_value(),
            "server_metadata_url": given.oidc_metadata_url or "",
        }
    }


def button(wanted: str) -> None:
    """Sends the browser to the provider, and later to the path of ours that it wanted."""
    st.html(_REMEMBER.format(path=json.dumps(wanted)), unsafe_allow_javascript=True)
    st.button(
        f"Sign in with {settings().oidc_name}",
        icon=":material/passkey:",
        type="secondary" if settings().passwords else "primary",
        width="stretch",
        on_click=st.login,
    )


def vouched() -> dict[str, Any] | None:
    """What the provider has just said of the person behind this browser; none when it has said nothing."""
    said = dict(st.user) if settings().has_provider else {}
    return said if said.get("is_logged_in") else None


def go_on(said: dict[str, Any]) -> None:
    """Send the browser on to get a session of ours; Unauthorized says why it gets none."""
    address = st.session_state.get(_ON_THE_WAY)
    if address is None:
        with writing(Scope.system()) as session:
            staff_id = sign_in.vouched(session, said)
        # A run may be broken off and begin again: the provider's word counts once, so its effect is kept.
        address = st.session_state[_ON_THE_WAY] = sign_in.hand_over(staff_id, "/", how="provider")
    st.info("Signing in …", icon=":material/passkey:")
    st.html(_GO_ON.format(address=json.dumps(address)), unsafe_allow_javascript=True)
