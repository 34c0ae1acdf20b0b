"""Sign-in, from the password to the cookie: attempt, one-time ticket between two requests, session (contract A2)."""

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import sqlalchemy as sa
from itsdangerous import BadData, URLSafeSerializer
from sqlmodel import col

from core import clock, ids, seal
from core.errors import NotFound, Unauthorized
from core.services.people import credentials, staff
from core.store.access import ScopedSession
from core.store.schema.tables import OneTimeTicket

_RETENTION = timedelta(days=1)


def issue_ticket(purpose: str, value: str, *, lifetime: timedelta) -> str:
    """Create a ticket for a value; only `redeem` with the same purpose opens it, before it expires."""
    expires_at = (clock.now() + lifetime).timestamp()
    ticket = _get_signer(purpose).dumps([value, ids.new_code(), expires_at])
    return ticket if isinstance(ticket, str) else ticket.decode()


def redeem(session: ScopedSession, purpose: str, ticket: str) -> str:
    """Return the value of a ticket and use it up; Unauthorized if it is forged, expired, or was used before."""
    value, code = _open_ticket(purpose, ticket)
    if not _use(session, code):
        raise Unauthorized
    is_old = col(OneTimeTicket.used_at) < clock.now() - _RETENTION
    session.execute(sa.delete(OneTimeTicket).where(is_old))
    return value


def read_ticket(session: ScopedSession, purpose: str, ticket: str) -> str:
    """Return the value of a ticket without using it; Unauthorized if `redeem` would refuse it now."""
    value, code = _open_ticket(purpose, ticket)
    used = session.execute(
        sa.select(col(OneTimeTicket.ticket_hash)).where(col(OneTimeTicket.ticket_hash) == _hash_code(code))
    )
    if used.first() is not None:
        raise Unauthorized
    return value


def use_external(session: ScopedSession, purpose: str, identifier: str) -> bool:
    """Mark an external ticket, identified by `identifier`, as used; returns True the first time."""
    return _use(session, f"{purpose} {identifier}")


def _open_ticket(purpose: str, ticket: str) -> tuple[str, str]:
    try:
        value, code, expires_at = _get_signer(purpose).loads(ticket)
    except BadData:
        raise Unauthorized from None
    if expires_at < clock.now().timestamp():
        raise Unauthorized
    return str(value), str(code)


def _use(session: ScopedSession, code: str) -> bool:
    return session.insert_if_absent(OneTimeTicket(ticket_hash=_hash_code(code), used_at=clock.now()))


def _hash_code(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _get_signer(purpose: str) -> URLSafeSerializer:
    return URLSafeSerializer(seal.keyed_hash("ticket", purpose), salt=purpose)


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
    credentials.check_throttle(session, email, address=address)
    credentials.record_failure(session, email, address=address)


def build_completion_url(
    staff_id: UUID, next_path: str, *, method: Method = "password", address: str | None = None
) -> str:
    """Return the URL to redirect an authenticated browser to; valid once, for half a minute."""
    ticket = issue_ticket(_PURPOSE, json.dumps([str(staff_id), method, address]), lifetime=_TICKET_LASTS)
    return f"{COMPLETE}?" + urlencode({"t": ticket, "next": to_local_path(next_path)})


def complete_sign_in(session: ScopedSession, ticket: str) -> str:
    """Redeem a sign-in ticket and return the token of a new session; Unauthorized for an invalid ticket."""
    staff_id, method, address = json.loads(redeem(session, _PURPOSE, ticket))
    return credentials.open_session(session, ids.parse(staff_id), method=method, address=address)


def authenticate_token(session: ScopedSession, token_claims: Mapping[str, Any]) -> UUID:
    """Return the id of the person in an identity provider's token claims; each token is accepted once.

    Unauthorized unless the token is fresh, unused, and names a verified e-mail of a person who may sign in; the text
    says which it was, in words that people can act on.
    """
    email = str(token_claims.get("email") or "").strip().lower()
    if not email or str(token_claims.get("email_verified")).lower() != "true":
        raise Unauthorized("Your identity provider does not say that your e-mail address is verified")
    issued = token_claims.get("iat")
    is_fresh = (
        isinstance(issued, int | float) and abs(clock.now().timestamp() - issued) < _MAX_TOKEN_AGE.total_seconds()
    )
    token_key = json.dumps([token_claims.get("iss"), token_claims.get("sub"), issued, token_claims.get("nonce")])
    if not is_fresh or not use_external(session, "identity", token_key):
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
