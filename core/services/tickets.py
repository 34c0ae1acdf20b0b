"""Tickets: signed notes that pass a fact from one request to the next, once and only for a short time."""

import hashlib
from datetime import timedelta

import sqlalchemy as sa
from itsdangerous import BadData, URLSafeSerializer
from sqlmodel import col

from core import clock, ids, seal
from core.errors import Unauthorized
from core.store.scope import ScopedSession
from core.store.tables import OneTimeTicket

_FORGOTTEN_AFTER = timedelta(days=1)


def mint(purpose: str, value: str, *, lasts: timedelta) -> str:
    """A ticket for a value; only `redeem` with the same purpose opens it, before it is over."""
    over = (clock.now() + lasts).timestamp()
    ticket = _signer(purpose).dumps([value, ids.code(), over])
    return ticket if isinstance(ticket, str) else ticket.decode()


def redeem(session: ScopedSession, purpose: str, ticket: str) -> str:
    """The value of a ticket, the first time; Unauthorized when it is forged, over, or was used before."""
    try:
        value, code, over = _signer(purpose).loads(ticket)
    except BadData:
        raise Unauthorized from None
    now = clock.now()
    if over < now.timestamp() or not _first_use(session, code):
        raise Unauthorized
    session.execute(sa.delete(OneTimeTicket).where(col(OneTimeTicket.used_at) < now - _FORGOTTEN_AFTER))
    return str(value)


def _first_use(session: ScopedSession, code: str) -> bool:
    key = hashlib.sha256(code.encode()).hexdigest()
    return session.insert_once(OneTimeTicket(ticket_hash=key, used_at=clock.now()))


def _signer(purpose: str) -> URLSafeSerializer:
    return URLSafeSerializer(seal.keyed_hash("ticket", purpose), salt=purpose)
