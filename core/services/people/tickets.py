"""Signed one-time tickets that carry a value from one request to the next, for a short time."""

import hashlib
from datetime import timedelta

import sqlalchemy as sa
from itsdangerous import BadData, URLSafeSerializer
from sqlmodel import col

from core import clock, ids, seal
from core.errors import Unauthorized
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
