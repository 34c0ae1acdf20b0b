"""Signed one-time tickets that carry a value from one request to the next, for a short time."""

import hashlib
from datetime import timedelta

import sqlalchemy as sa
from itsdangerous import BadData, URLSafeSerializer
from sqlmodel import col

from core import clock, ids, seal
from core.errors import Unauthorized
from core.store.access.scope import ScopedSession
from core.store.schema.tables import OneTimeTicket

_FORGOTTEN_AFTER = timedelta(days=1)


def mint(purpose: str, value: str, *, lasts: timedelta) -> str:
    """Create a ticket for a value; only `redeem` with the same purpose opens it, before it expires."""
    over = (clock.now() + lasts).timestamp()
    ticket = _signer(purpose).dumps([value, ids.code(), over])
    return ticket if isinstance(ticket, str) else ticket.decode()


def redeem(session: ScopedSession, purpose: str, ticket: str) -> str:
    """Return the value of a ticket and use it up; Unauthorized if it is forged, expired, or was used before."""
    value, code = _opened(purpose, ticket)
    if not _first_use(session, code):
        raise Unauthorized
    forgotten = col(OneTimeTicket.used_at) < clock.now() - _FORGOTTEN_AFTER
    session.execute(sa.delete(OneTimeTicket).where(forgotten))
    return value


def read(session: ScopedSession, purpose: str, ticket: str) -> str:
    """Return the value of a ticket without using it; Unauthorized if `redeem` would refuse it now."""
    value, code = _opened(purpose, ticket)
    used = session.execute(
        sa.select(col(OneTimeTicket.ticket_hash)).where(col(OneTimeTicket.ticket_hash) == _hash(code))
    )
    if used.first() is not None:
        raise Unauthorized
    return value


def use_up(session: ScopedSession, purpose: str, mark: str) -> bool:
    """Mark an external ticket, identified by `identifier`, as used; returns True the first time."""
    return _first_use(session, f"{purpose} {mark}")


def _opened(purpose: str, ticket: str) -> tuple[str, str]:
    try:
        value, code, over = _signer(purpose).loads(ticket)
    except BadData:
        raise Unauthorized from None
    if over < clock.now().timestamp():
        raise Unauthorized
    return str(value), str(code)


def _first_use(session: ScopedSession, code: str) -> bool:
    return session.insert_if_absent(OneTimeTicket(ticket_hash=_hash(code), used_at=clock.now()))


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _signer(purpose: str) -> URLSafeSerializer:
    return URLSafeSerializer(seal.keyed_hash("ticket", purpose), salt=purpose)
