"""Signing in, from the password to the cookie: an attempt, a ticket, a session (contract A2)."""

from datetime import timedelta
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from core import ids
from core.services import staff, tickets
from core.store.scope import ScopedSession

COOKIE = "coverdesk_session"
COMPLETE, SIGN_OUT = "/auth/complete", "/auth/sign-out"
_PURPOSE = "sign-in"
_TICKET_LASTS = timedelta(seconds=30)


def admit(session: ScopedSession, email: str) -> None:
    """Let an address try a password; TooManyRequests while it has too many recent failures.

    The try counts as failed until it succeeds, and is committed before the password is looked at: tries
    that arrive at once are then counted at once.
    """
    staff.refuse_guessing(session, email)
    staff.note_failure(session, email)


def hand_over(staff_id: UUID, next_path: str) -> str:
    """The address to send a browser to after a correct password; good once, for half a minute."""
    ticket = tickets.mint(_PURPOSE, str(staff_id), lasts=_TICKET_LASTS)
    return f"{COMPLETE}?" + urlencode({"t": ticket, "next": local_path(next_path)})


def complete(session: ScopedSession, ticket: str) -> str:
    """The token of a new session for the cookie; Unauthorized for a ticket that is no longer good."""
    return staff.open_session(session, ids.parse(tickets.redeem(session, _PURPOSE, ticket)))


def local_path(path: str) -> str:
    """A path of our own with its query, or the home page for anything that could lead elsewhere."""
    parts = urlsplit(path)
    elsewhere = parts.scheme or parts.netloc or not path.startswith("/") or path.startswith("//")
    return "/" if elsewhere or "\\" in path or not path.isprintable() else path
