"""Sessions of signed-in staff: open, keep alive, list and end (contract A2)."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.services.audit import log as audit
from core.services.people import passwords
from core.store.access import ScopedSession
from core.store.schema.tables import Staff, StaffSession

IDLE_LIMIT: Final = timedelta(minutes=30)
MAX_DURATION: Final = timedelta(hours=12)
SIGNED_IN: Final = "signed in"
_KEEP_ALIVE_INTERVAL = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionFacts:
    """One session of a person; `handle` identifies it for `end_sessions` and grants no access."""

    handle: str
    opened_at: datetime
    seen_at: datetime
    ended_at: datetime | None
    is_open: bool


def open_session(
    session: ScopedSession, staff_id: UUID, *, method: str = "password", address: str | None = None
) -> str:
    """Open a session and return the token for the cookie; only its hash is stored.

    `method` is the sign-in method, for the log; `address` is the network address, whose last attempt succeeded.
    """
    token = ids.new_token()
    now = clock.now()
    email = session.execute(sa.select(col(Staff.email)).where(col(Staff.id) == staff_id)).scalar_one()
    session.insert(StaffSession(token_hash=hash_token(token), staff_id=staff_id, created_at=now, seen_at=now))
    passwords.clear_failures(session, email, address=address)
    audit.write(
        session,
        actor=f"staff {email}",
        action=SIGNED_IN,
        subject=audit.subject_of("staff", staff_id),
        after={"with": method},
    )
    return token


def keep_alive(session: ScopedSession, token: str) -> None:
    """Record that a session is in use; at most once a minute, to save writes."""
    session.execute(
        sa.update(StaffSession)
        .where(
            col(StaffSession.token_hash) == hash_token(token),
            col(StaffSession.seen_at) < clock.now() - _KEEP_ALIVE_INTERVAL,
            col(StaffSession.ended_at).is_(None),
        )
        .values(seen_at=clock.now())
        .execution_options(synchronize_session=False)
    )


def needs_keep_alive(session: ScopedSession, token: str) -> bool:
    """Return True if a session's last use was recorded over a minute ago."""
    seen: datetime | None = session.execute(
        sa.select(col(StaffSession.seen_at)).where(col(StaffSession.token_hash) == hash_token(token))
    ).scalar_one_or_none()
    return seen is not None and seen < clock.now() - _KEEP_ALIVE_INTERVAL


def end_session(session: ScopedSession, token: str) -> None:
    """Sign out."""
    _end_where(session, col(StaffSession.token_hash) == hash_token(token))


def end_sessions(session: ScopedSession, staff_id: UUID, *, handle: str | None = None) -> int:
    """End all open sessions of a person, or the one with that handle; returns how many were open."""
    conditions = [col(StaffSession.staff_id) == staff_id, *build_open_conditions()]
    return _end_where(session, *conditions, *([col(StaffSession.token_hash) == handle] if handle else []))


def _end_where(session: ScopedSession, *which: sa.ColumnElement[bool]) -> int:
    ended: Any = session.execute(
        sa.update(StaffSession)
        .where(*which, col(StaffSession.ended_at).is_(None))
        .values(ended_at=clock.now())
        .returning(col(StaffSession.token_hash))
        .execution_options(synchronize_session=False)
    )
    return len(ended.all())


def build_open_conditions() -> list[sa.ColumnElement[bool]]:
    """Build the conditions of a session that has not ended, is not idle for too long and not too old."""
    now = clock.now()
    return [
        col(StaffSession.ended_at).is_(None),
        col(StaffSession.seen_at) > now - IDLE_LIMIT,
        col(StaffSession.created_at) > now - MAX_DURATION,
    ]


def list_latest(session: ScopedSession, staff_id: UUID, *, limit: int = 20) -> list[SessionFacts]:
    """Return the last sessions of a person, newest first."""
    rows = session.execute(
        sa.select(StaffSession, sa.and_(*build_open_conditions()).label("is_open"))
        .where(col(StaffSession.staff_id) == staff_id)
        .order_by(col(StaffSession.created_at).desc())
        .limit(limit)
    )
    return [
        SessionFacts(
            handle=row.token_hash,
            opened_at=row.created_at,
            seen_at=row.seen_at,
            ended_at=row.ended_at,
            is_open=bool(is_open),
        )
        for row, is_open in rows
    ]


def hash_token(token: str) -> str:
    """Return the hash under which a token is stored."""
    return hashlib.sha256(token.encode()).hexdigest()
