"""Passwords: hashed, judged slowly, and guessed at with patience only (contract A2)."""

import functools
import math
import threading
from datetime import timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlmodel import col

from core import clock, ids, seal
from core.errors import FieldFault, InvalidInput, TooManyRequests, Unauthorized
from core.store.access.scope import ScopedSession
from core.store.schema.tables import SignInAttempt, Staff

SHORTEST, LONGEST = 12, 1000
WRONG: Final = "The e-mail or the password is wrong"
FREE_FAILURES: Final = 5
# Many people may share one network address: it waits later than one e-mail does.
FREE_FAILURES_OF_A_PLACE: Final = 30
# Whoever resets somebody's password must not at once approve in their name.
RESTS_FOR: Final = timedelta(hours=24)
_LONGEST_WAIT_SECONDS = 900
_FORGOTTEN_AFTER = timedelta(days=1)
_hasher = PasswordHash((Argon2Hasher(),))
# One check takes 64 MiB: however many guess at once, the process keeps its memory.
_at_once = threading.BoundedSemaphore(4)


def hashed(password: str, *, email: str = "", check_strength: bool = True) -> str:
    """The hash to keep of a new password; InvalidInput says what a weak one needs."""
    faults = weaknesses(password, email=email) if check_strength else []
    if faults:
        raise InvalidInput(faults)
    with _at_once:
        return _hasher.hash(password)


def weaknesses(password: str, *, email: str = "") -> list[FieldFault]:
    """What is wrong with a new password; empty when it is strong enough."""
    same = bool(email) and password.strip().lower() == email.strip().lower()
    faults = {
        f"must have at least {SHORTEST} characters": len(password) < SHORTEST,
        f"must have at most {LONGEST} characters": len(password) > LONGEST,
        "must not be the e-mail address": same,
    }
    return [FieldFault("password", message) for message, holds in faults.items() if holds]


def check(session: ScopedSession, email: str, password: str) -> UUID:
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


def matches(password_hash: str, password: str) -> bool:
    """True for the password that a hash was made of."""
    with _at_once:
        return bool(_hasher.verify(password, password_hash))


def rest(row: Staff) -> None:
    """Let a person approve nothing for a day, as somebody else has had a hand in their password (contract A2)."""
    row.approves_from = clock.now() + RESTS_FOR


def refuse_guessing(session: ScopedSession, email: str, *, place: str | None = None) -> None:
    """TooManyRequests while an e-mail or the network address it comes from has too many recent failures.

    Each further failure makes the wait longer, up to a quarter of an hour.
    """
    for key, free in _counted(email, place).items():
        attempt = session.get(SignInAttempt, key)
        if attempt is None or attempt.failures < free:
            continue
        wait = timedelta(seconds=min(2 ** (attempt.failures - free + 1), _LONGEST_WAIT_SECONDS))
        left = attempt.last_failed_at + wait - clock.now()
        if left > timedelta(0):
            raise TooManyRequests(math.ceil(left.total_seconds()))


def note_failure(session: ScopedSession, email: str, *, place: str | None = None) -> None:
    """Count one failed password of an e-mail, and of the network address that it came from."""
    for key in _counted(email, place):
        session.insert_if_absent(SignInAttempt(email_hash=key, failures=0, last_failed_at=clock.now()))
        session.execute(
            sa.update(SignInAttempt)
            .where(col(SignInAttempt.email_hash) == key)
            .values(failures=col(SignInAttempt.failures) + 1, last_failed_at=clock.now())
        )


def forgive(session: ScopedSession, email: str, *, place: str | None = None) -> None:
    """Forget the failures of somebody who got in, and all those of long ago."""
    session.execute(
        sa.delete(SignInAttempt).where(
            sa.or_(
                col(SignInAttempt.email_hash) == email_hash(email),
                col(SignInAttempt.last_failed_at) < clock.now() - _FORGOTTEN_AFTER,
            )
        )
    )
    if place:
        # Its own try and one more: an office's slips of the finger never add up, and one good account does not
        # clear the guesses at the others.
        left = col(SignInAttempt.failures) - 2
        session.execute(
            sa.update(SignInAttempt)
            .where(col(SignInAttempt.email_hash) == _place_hash(place))
            .values(failures=sa.case((left > 0, left), else_=0))
            .execution_options(synchronize_session=False)
        )


def email_hash(email: str) -> str:
    """How the failures of an e-mail are kept."""
    return seal.keyed_hash("sign-in", email.strip().lower())


def _place_hash(place: str) -> str:
    return seal.keyed_hash("sign-in place", place)


def _counted(email: str, place: str | None) -> dict[str, int]:
    """What a try is counted under, and how many failures each has free; always in this order, as rows are locked."""
    counted = {email_hash(email): FREE_FAILURES}
    return counted | ({_place_hash(place): FREE_FAILURES_OF_A_PLACE} if place else {})
