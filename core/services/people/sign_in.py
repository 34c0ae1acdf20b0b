"""Sign-in, from the password to the cookie: attempt, ticket, session (contract A2)."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from core import clock, ids
from core.errors import NotFound, Unauthorized
from core.services.people import passwords, staff, staff_sessions, tickets
from core.store.access import ScopedSession

COOKIE = "coverdesk_session"
COMPLETE, SIGN_OUT = "/auth/complete", "/auth/sign-out"
Method = Literal["password", "link", "provider"]
_PURPOSE = "sign-in"
_TICKET_LASTS = timedelta(seconds=30)
# Streamlit keeps the provider's token in a cookie for thirty days: accept it only while it is fresh.
_MAX_TOKEN_AGE = timedelta(minutes=5)
STALE_MESSAGE = "The sign-in with your identity provider took too long or was used before: sign in again"


def admit_attempt(session: ScopedSession, email: str, *, address: str | None = None) -> None:
    """Allow a password attempt; TooManyRequests while the e-mail or network address has too many failures.

    The attempt counts as failed until it succeeds, and is committed before the password is checked, so that concurrent
    attempts are counted too.
    """
    passwords.check_throttle(session, email, address=address)
    passwords.record_failure(session, email, address=address)


def build_completion_url(
    staff_id: UUID, next_path: str, *, method: Method = "password", address: str | None = None
) -> str:
    """Return the URL to redirect an authenticated browser to; valid once, for half a minute."""
    ticket = tickets.issue_ticket(_PURPOSE, json.dumps([str(staff_id), method, address]), lifetime=_TICKET_LASTS)
    return f"{COMPLETE}?" + urlencode({"t": ticket, "next": to_local_path(next_path)})


def complete_sign_in(session: ScopedSession, ticket: str) -> str:
    """Redeem a sign-in ticket and return the token of a new session; Unauthorized for an invalid ticket."""
    staff_id, method, address = json.loads(tickets.redeem(session, _PURPOSE, ticket))
    return staff_sessions.open_session(session, ids.parse(staff_id), method=method, address=address)


def authenticate_token(session: ScopedSession, token_claims: Mapping[str, Any]) -> UUID:
    """Return the id of the person in an identity provider's token claims; each token is accepted once.

    Unauthorized unless the token is fresh, unused, and names a verified e-mail of a person who may sign in; the text
    says
    which it was, in words that people can act on.
    """
    email = str(token_claims.get("email") or "").strip().lower()
    if not email or str(token_claims.get("email_verified")).lower() != "true":
        raise Unauthorized("Your identity provider does not say that your e-mail address is verified")
    issued = token_claims.get("iat")
    is_fresh = (
        isinstance(issued, int | float) and abs(clock.now().timestamp() - issued) < _MAX_TOKEN_AGE.total_seconds()
    )
    token_key = json.dumps([token_claims.get("iss"), token_claims.get("sub"), issued, token_claims.get("nonce")])
    if not is_fresh or not tickets.use_external(session, "identity", token_key):
        raise Unauthorized(STALE_MESSAGE)
    try:
        return staff.get_by_email(session, email).id
    except NotFound:
        raise Unauthorized(f"{email} has no account here that may sign in: ask an admin for one") from None


def to_local_path(path: str) -> str:
    """Return a local path with its query, or the home page for anything that could lead to another site."""
    parts = urlsplit(path)
    is_external = parts.scheme or parts.netloc or not path.startswith("/") or path.startswith("//")
    return "/" if is_external or "\\" in path or not path.isprintable() else path
