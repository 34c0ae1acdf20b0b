"""Passwords, hashed and throttled, and the sessions of signed-in staff (contract A2)."""

import functools
import hashlib
import math
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlmodel import col

from core import clock, ids, seal
from core.errors import FieldFault, TooManyRequests, Unauthorized, raise_faults
from core.services.audit import log as audit
from core.store.access import ScopedSession
from core.store.schema.tables import SignInAttempt, Staff, StaffSession

MIN_LENGTH, MAX_LENGTH = 12, 1000
WRONG_CREDENTIALS: Final = "The e-mail or the password is wrong"
# As the audit log has that somebody made a link to a password, and that a password was chosen by one.
LINK_MADE: Final = "password link made"
CHOSEN: Final = "password chosen"
FREE_FAILURES: Final = 5
# Many people may share a network address, so it has more free failures than an e-mail.
FREE_FAILURES_PER_ADDRESS: Final = 30
# Whoever resets somebody's password must not at once approve in their name.
RESTS_FOR: Final = timedelta(hours=24)
_MAX_WAIT_SECONDS = 900
_RETENTION = timedelta(days=1)
_hasher = PasswordHash((Argon2Hasher(),))
# One check takes 64 MiB: the semaphore bounds memory under concurrent guesses.
_hash_slots = threading.BoundedSemaphore(4)


def hash_password(password: str, *, email: str = "", check_strength: bool = True) -> str:
    """Return the hash of a new password; InvalidInput if the password is weak."""
    faults = find_weaknesses(password, email=email) if check_strength else []
    raise_faults(faults)
    with _hash_slots:
        return _hasher.hash(password)


def find_weaknesses(password: str, *, email: str = "") -> list[FieldFault]:
    """Return what is wrong with a new password; empty if it is strong enough."""
    same = bool(email) and password.strip().lower() == email.strip().lower()
    faults = {
        f"must have at least {MIN_LENGTH} characters": len(password) < MIN_LENGTH,
        f"must have at most {MAX_LENGTH} characters": len(password) > MAX_LENGTH,
        "must not be the e-mail address": same,
    }
    return [FieldFault("password", message) for message, holds in faults.items() if holds]


def verify_password(session: ScopedSession, email: str, password: str) -> UUID:
    """Return the id of the person with this password; else Unauthorized, with the same text and timing for everybody.

    Slow on purpose: call it in its own read transaction, after `sign_in.admit_attempt` has counted the attempt.
    """
    key = email.strip().lower()
    row = session.execute(
        sa.select(col(Staff.id), col(Staff.password_hash)).where(
            col(Staff.email) == key, col(Staff.disabled_at).is_(None)
        )
    ).one_or_none()
    with _hash_slots:
        matches = _hasher.verify(password, (row and row.password_hash) or _get_decoy_hash())
    if row is None or row.password_hash is None or not matches:
        raise Unauthorized(WRONG_CREDENTIALS)
    return UUID(str(row.id))


@functools.cache
def _get_decoy_hash() -> str:
    return _hasher.hash(ids.new_token())


def matches(password_hash: str, password: str) -> bool:
    """True for the password that a hash was made of."""
    with _hash_slots:
        return bool(_hasher.verify(password, password_hash))


def suspend_approvals(row: Staff) -> None:
    """Let a person approve nothing for a day, as somebody else has had a hand in their password (contract A2)."""
    row.approves_from = clock.now() + RESTS_FOR


def check_throttle(session: ScopedSession, email: str, *, address: str | None = None) -> None:
    """Raise TooManyRequests while an e-mail or its network address has too many recent failures.

    Each further failure makes the wait longer, up to a quarter of an hour.
    """
    for key, free in _get_throttle_keys(email, address).items():
        attempt = session.get(SignInAttempt, key)
        if attempt is None or attempt.failures < free:
            continue
        wait = timedelta(seconds=min(2 ** (attempt.failures - free + 1), _MAX_WAIT_SECONDS))
        left = attempt.last_failed_at + wait - clock.now()
        if left > timedelta(0):
            raise TooManyRequests(math.ceil(left.total_seconds()))


def record_failure(session: ScopedSession, email: str, *, address: str | None = None) -> None:
    """Count one failed attempt for an e-mail and for its network address."""
    for key in _get_throttle_keys(email, address):
        session.insert_if_absent(SignInAttempt(email_hash=key, failures=0, last_failed_at=clock.now()))
        session.execute(
            sa.update(SignInAttempt)
            .where(col(SignInAttempt.email_hash) == key)
            .values(failures=col(SignInAttempt.failures) + 1, last_failed_at=clock.now())
        )


def clear_failures(session: ScopedSession, email: str, *, address: str | None = None) -> None:
    """Reset the failures of an e-mail after a successful sign-in, and delete all old ones."""
    session.execute(
        sa.delete(SignInAttempt).where(
            sa.or_(
                col(SignInAttempt.email_hash) == hash_email(email),
                col(SignInAttempt.last_failed_at) < clock.now() - _RETENTION,
            )
        )
    )
    if address:
        # Its own attempt and one more: an office's typing errors never add up, and one valid account does not
        # reset the guesses at other accounts.
        left = col(SignInAttempt.failures) - 2
        is_address = col(SignInAttempt.email_hash) == _hash_address(address)
        session.change(SignInAttempt, is_address, failures=sa.case((left > 0, left), else_=0))


def hash_email(email: str) -> str:
    """Return the hash under which failures of an e-mail are stored."""
    return seal.keyed_hash("sign-in", email.strip().lower())


def _hash_address(address: str) -> str:
    return seal.keyed_hash("sign-in place", address)


def _get_throttle_keys(email: str, address: str | None) -> dict[str, int]:
    """Return the keys that an attempt is counted under, with the failures each has free.

    Always in this order, because the rows are locked.
    """
    counted = {hash_email(email): FREE_FAILURES}
    return counted | ({_hash_address(address): FREE_FAILURES_PER_ADDRESS} if address else {})


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
    clear_failures(session, email, address=address)
    audit.note(session, "staff", staff_id, SIGNED_IN, actor=f"staff {email}", **{"with": method})
    return token


def keep_alive(session: ScopedSession, token: str) -> None:
    """Record that a session is in use; at most once a minute, to save writes."""
    session.change(
        StaffSession,
        col(StaffSession.token_hash) == hash_token(token),
        col(StaffSession.seen_at) < clock.now() - _KEEP_ALIVE_INTERVAL,
        col(StaffSession.ended_at).is_(None),
        seen_at=clock.now(),
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


def list_latest(session: ScopedSession, staff_id: UUID) -> list[SessionFacts]:
    """Return the last 20 sessions of a person, newest first."""
    rows = session.execute(
        sa.select(
            *(col(StaffSession.token_hash).label("handle"), col(StaffSession.created_at).label("opened_at")),
            *(col(StaffSession.seen_at), col(StaffSession.ended_at)),
            sa.and_(*build_open_conditions()).label("is_open"),
        )
        .where(col(StaffSession.staff_id) == staff_id)
        .order_by(col(StaffSession.created_at).desc())
        .limit(20)
    )
    return [SessionFacts(**row._mapping) for row in rows]


def hash_token(token: str) -> str:
    """Return the hash under which a token is stored."""
    return hashlib.sha256(token.encode()).hexdigest()
