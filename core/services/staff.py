"""Staff: accounts, passwords, and the sessions of people who signed in (contract A1, A2)."""

import functools
import hashlib
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlmodel import col

from core import clock, ids, seal
from core.errors import InvalidInput, NotFound, TooManyRequests, Unauthorized
from core.services import audit
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import SignInAttempt, Staff, StaffSession
from core.store.tables_parties import ROLES

IDLE = timedelta(minutes=30)
LONGEST = timedelta(hours=12)
SHORTEST_PASSWORD = 12
_FREE_FAILURES = 5
_FORGOTTEN_AFTER = timedelta(days=1)
_SEEN_AGAIN_AFTER = timedelta(minutes=1)
_hasher = PasswordHash((Argon2Hasher(),))
# One check takes 64 MiB: however many guess at once, the process keeps its memory.
_at_once = threading.BoundedSemaphore(4)
WRONG = "The e-mail or the password is wrong"


@dataclass(frozen=True, kw_only=True, slots=True)
class Person:
    """Somebody who signed in."""

    id: UUID
    email: str
    name: str
    roles: tuple[str, ...]
    claim_limit_minor: int | None

    @property
    def actor(self) -> str:
        """The person's name in the audit log."""
        return f"staff {self.email}"

    def may(self, *roles: str) -> bool:
        """True when the person has one of the roles; an admin has them all."""
        return "admin" in self.roles or any(role in self.roles for role in roles)


def add(
    session: ScopedSession,
    *,
    email: str,
    name: str,
    roles: Sequence[str],
    password: str,
    actor: str,
    check_strength: bool = True,
) -> UUID:
    """Add a person, or give a known one these roles and this password; InvalidInput says what is wrong."""
    unknown = set(roles) - set(ROLES)
    if unknown or not roles:
        raise InvalidInput.one("role", f"must be one or more of {', '.join(ROLES)}")
    if check_strength and len(password) < SHORTEST_PASSWORD:
        raise InvalidInput.one("password", f"must have at least {SHORTEST_PASSWORD} characters")
    key = email.strip().lower()
    row = session.execute(sa.select(Staff).where(col(Staff.email) == key)).scalar_one_or_none()
    if row is None:
        row = Staff(email=key, name=name)
    row.roles, row.password_hash, row.disabled_at = sorted(set(roles)), _hasher.hash(password), None
    row.updated_at = clock.now()
    session.add(row)
    session.flush()
    audit.write(
        session,
        actor=actor,
        action="staff saved",
        subject=audit.subject_of("staff", row.id),
        after={"email": key, "roles": row.roles},
    )
    return row.id


def disable(session: ScopedSession, email: str, *, actor: str) -> None:
    """End a person's access at once; NotFound for an unknown address."""
    row = session.execute(sa.select(Staff).where(col(Staff.email) == email.lower())).scalar_one_or_none()
    if row is None:
        raise NotFound("No such person")
    row.disabled_at = clock.now()
    session.flush()
    audit.write(session, actor=actor, action="staff disabled", subject=audit.subject_of("staff", row.id))


def check_password(session: ScopedSession, email: str, password: str) -> UUID:
    """The id of the person with this password; else Unauthorized, in the same words and time for everybody.

    It is slow on purpose: read in a transaction of its own, after `sign_in.admit` has counted the try.
    """
    key = email.strip().lower()
    row = session.execute(
        sa.select(col(Staff.id), col(Staff.password_hash)).where(
            col(Staff.email) == key, col(Staff.disabled_at).is_(None)
        )
    ).one_or_none()
    with _at_once:
        matches = _hasher.verify(password, (row and row.password_hash) or _decoy())
    if row is None or row.password_hash is None or not matches:
        raise Unauthorized(WRONG)
    return UUID(str(row.id))


@functools.cache
def _decoy() -> str:
    return _hasher.hash(ids.token())


def refuse_guessing(session: ScopedSession, email: str) -> None:
    """TooManyRequests while an address has too many recent failures; it waits longer each time."""
    attempt = session.get(SignInAttempt, _email_hash(email))
    if attempt is None or attempt.failures < _FREE_FAILURES:
        return
    wait = timedelta(seconds=min(2 ** (attempt.failures - _FREE_FAILURES + 1), 900))
    left = attempt.last_failed_at + wait - clock.now()
    if left > timedelta(0):
        raise TooManyRequests(math.ceil(left.total_seconds()))


def note_failure(session: ScopedSession, email: str) -> None:
    """Count one failed password of an address."""
    key = _email_hash(email)
    session.insert_once(SignInAttempt(email_hash=key, failures=0, last_failed_at=clock.now()))
    session.execute(
        sa.update(SignInAttempt)
        .where(col(SignInAttempt.email_hash) == key)
        .values(failures=col(SignInAttempt.failures) + 1, last_failed_at=clock.now())
    )


def _email_hash(email: str) -> str:
    return seal.keyed_hash("sign-in", email.strip().lower())


def open_session(session: ScopedSession, staff_id: UUID) -> str:
    """A new signed-in session; returns the token for the cookie, of which only the hash is kept."""
    token = ids.token()
    now = clock.now()
    email = session.execute(sa.select(col(Staff.email)).where(col(Staff.id) == staff_id)).scalar_one()
    session.insert(StaffSession(token_hash=_token_hash(token), staff_id=staff_id, created_at=now, seen_at=now))
    session.execute(
        sa.delete(SignInAttempt).where(
            sa.or_(
                col(SignInAttempt.email_hash) == _email_hash(email),
                col(SignInAttempt.last_failed_at) < now - _FORGOTTEN_AFTER,
            )
        )
    )
    audit.write(session, actor=f"staff {email}", action="signed in", subject=audit.subject_of("staff", staff_id))
    return token


def person_of(session: ScopedSession, token: str | None) -> Person | None:
    """The person behind a cookie's token; none when the session ended, idled or grew too old."""
    if not token:
        return None
    row = session.execute(_live_session(token)).one_or_none()
    return None if row is None else _person(row)


def person_named(session: ScopedSession, email: str) -> Person:
    """The person with an e-mail address, for commands; NotFound for an unknown and a disabled one."""
    key = email.strip().lower()
    row = session.execute(
        sa.select(*_OF_PERSON).where(col(Staff.email) == key, col(Staff.disabled_at).is_(None))
    ).one_or_none()
    if row is None:
        raise NotFound("No such person")
    return _person(row)


_OF_PERSON = (col(Staff.id), col(Staff.email), col(Staff.name), col(Staff.roles), col(Staff.claim_limit_minor))


def _person(row: Any) -> Person:
    return Person(
        id=row.id,
        email=row.email,
        name=row.name,
        roles=tuple(row.roles),
        claim_limit_minor=row.claim_limit_minor,
    )


def _live_session(token: str) -> AnySelect:
    now = clock.now()
    return (
        sa.select(*_OF_PERSON)
        .join(StaffSession, col(StaffSession.staff_id) == col(Staff.id))
        .where(
            col(StaffSession.token_hash) == _token_hash(token),
            col(StaffSession.ended_at).is_(None),
            col(StaffSession.seen_at) > now - IDLE,
            col(StaffSession.created_at) > now - LONGEST,
            col(Staff.disabled_at).is_(None),
        )
    )


def keep_alive(session: ScopedSession, token: str) -> None:
    """Note that a session is in use; at most once a minute, so that looking stays cheap."""
    session.execute(
        sa.update(StaffSession)
        .where(
            col(StaffSession.token_hash) == _token_hash(token),
            col(StaffSession.seen_at) < clock.now() - _SEEN_AGAIN_AFTER,
            col(StaffSession.ended_at).is_(None),
        )
        .values(seen_at=clock.now())
        .execution_options(synchronize_session=False)
    )


def needs_keeping(session: ScopedSession, token: str) -> bool:
    """True when a session was last noted over a minute ago."""
    seen: datetime | None = session.execute(
        sa.select(col(StaffSession.seen_at)).where(col(StaffSession.token_hash) == _token_hash(token))
    ).scalar_one_or_none()
    return seen is not None and seen < clock.now() - _SEEN_AGAIN_AFTER


def end_session(session: ScopedSession, token: str) -> None:
    """Sign out."""
    session.execute(
        sa.update(StaffSession)
        .where(col(StaffSession.token_hash) == _token_hash(token), col(StaffSession.ended_at).is_(None))
        .values(ended_at=clock.now())
        .execution_options(synchronize_session=False)
    )


def _token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
