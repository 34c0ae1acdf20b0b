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
from core.store.access.scope import ScopedSession

COOKIE = "coverdesk_session"
COMPLETE, SIGN_OUT = "/auth/complete", "/auth/sign-out"
How = Literal["password", "link", "provider"]
_PURPOSE = "sign-in"
_TICKET_LASTS = timedelta(seconds=30)
# Streamlit keeps the provider's token in a cookie for thirty days: accept it only while it is fresh.
_VOUCHED_FOR = timedelta(minutes=5)
STALE = "The sign-in with your identity provider took too long or was used before: sign in again"


def admit(session: ScopedSession, email: str, *, place: str | None = None) -> None:
    """Allow a password attempt; TooManyRequests while the e-mail or network address has too many failures.

    The attempt counts as failed until it succeeds, and is committed before the password is checked, so that concurrent
    attempts are counted too.
    """
    passwords.refuse_guessing(session, email, place=place)
    passwords.note_failure(session, email, place=place)


def hand_over(staff_id: UUID, next_path: str, *, how: How = "password", place: str | None = None) -> str:
    """Return the URL to redirect an authenticated browser to; valid once, for half a minute."""
    ticket = tickets.mint(_PURPOSE, json.dumps([str(staff_id), how, place]), lasts=_TICKET_LASTS)
    return f"{COMPLETE}?" + urlencode({"t": ticket, "next": local_path(next_path)})


def complete(session: ScopedSession, ticket: str) -> str:
    """Redeem a sign-in ticket and return the token of a new session; Unauthorized for an invalid ticket."""
    staff_id, how, place = json.loads(tickets.redeem(session, _PURPOSE, ticket))
    return staff_sessions.open_session(session, ids.parse(staff_id), how=how, place=place)


def vouched(session: ScopedSession, said: Mapping[str, Any]) -> UUID:
    """Return the id of the person in an identity provider's token claims; each token is accepted once.

    Unauthorized unless the token is fresh, unused, and names a verified e-mail of a person who may sign in; the text
    says
    which it was, in words that people can act on.
    """
    email = str(said.get("email") or "").strip().lower()
    if not email or str(said.get("email_verified")).lower() != "true":
        raise Unauthorized("Your identity provider does not say that your e-mail address is verified")
    issued = said.get("iat")
    fresh = isinstance(issued, int | float) and abs(clock.now().timestamp() - issued) < _VOUCHED_FOR.total_seconds()
    mark = json.dumps([said.get("iss"), said.get("sub"), issued, said.get("nonce")])
    if not fresh or not tickets.use_up(session, "identity", mark):
        raise Unauthorized(STALE)
    try:
        return staff.person_named(session, email).id
    except NotFound:
        raise Unauthorized(f"{email} has no account here that may sign in: ask an admin for one") from None


def local_path(path: str) -> str:
    """Return a local path with its query, or the home page for anything that could lead to another site."""
    parts = urlsplit(path)
    elsewhere = parts.scheme or parts.netloc or not path.startswith("/") or path.startswith("//")
    return "/" if elsewhere or "\\" in path or not path.isprintable() else path
