"""Sign-in with an identity provider (OIDC); its claims open one session of the application (contract A2)."""

import json
from typing import Any

import streamlit as st

from core import seal
from core.services.people import sign_in
from core.settings import settings
from core.store.access import Scope, writing

CALLBACK = "/oauth2callback"
_ON_THE_WAY = "identity.address"
# The provider returns everybody to the home page, so the tab itself stores the page that was requested.
_REMEMBER = '<script>sessionStorage.setItem("coverdesk.next", {path})</script>'
_GO_ON = """<script>
const to = new URL({address}, window.location.origin);
to.searchParams.set("next", sessionStorage.getItem("coverdesk.next") || "/");
sessionStorage.removeItem("coverdesk.next");
window.location.replace(to);
</script>"""


def secrets() -> dict[str, Any] | None:
    """Return the configuration of Streamlit's own sign-in, for `st.App(secrets=...)`; None without a provider."""
    given = settings()
    if not given.has_identity_provider:
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
    """Draw the button that leads to the provider, and afterwards to the requested path."""
    st.html(_REMEMBER.format(path=json.dumps(wanted)), unsafe_allow_javascript=True)
    st.button(
        f"Sign in with {settings().oidc_name}",
        icon=":material/passkey:",
        type="secondary" if settings().passwords else "primary",
        width="stretch",
        on_click=st.login,
    )


def get_claims() -> dict[str, Any] | None:
    """Return the provider's claims about the person at this browser; None if there are none."""
    id_claims = dict(st.user) if settings().has_identity_provider else {}
    return id_claims if id_claims.get("is_logged_in") else None


def go_on(id_claims: dict[str, Any]) -> None:
    """Redirect the browser to open a session; raises Unauthorized with the reason if it may not have one."""
    address = st.session_state.get(_ON_THE_WAY)
    if address is None:
        with writing(Scope.system()) as session:
            staff_id = sign_in.authenticate_token(session, id_claims)
        # A run may be interrupted and restarted. The provider's claims can be used only once, so the result is kept.
        address = st.session_state[_ON_THE_WAY] = sign_in.build_completion_url(staff_id, "/", method="provider")
    st.info("Signing in …", icon=":material/passkey:")
    st.html(_GO_ON.format(address=json.dumps(address)), unsafe_allow_javascript=True)
