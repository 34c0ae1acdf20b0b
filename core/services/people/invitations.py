"""Invitation links: set up the first admin of a new store, or choose a password.

Nobody but the person ever knows the password. A link works once and for a day.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal
from urllib.parse import urlencode
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.errors import InvalidInput, NotFound, StateForbids, Unauthorized
from core.services.audit import log as audit
from core.services.people import account_changes, passwords, staff, staff_sessions, tickets
from core.services.people.staff import NewPerson, Person
from core.settings import settings
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Staff

LASTS: Final = timedelta(hours=24)
OVER: Final = "This link has been used, has run out, or was replaced by a newer one"
PATHS: Final = {"set-up": "/set-up", "password": "/set-password"}
_FIRST_ADMIN = "first admin"

Kind = Literal["set-up", "password"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Invitation:
    """The purpose of a link and its person; a set-up link has no person yet."""

    kind: Kind
    email: str = ""
    name: str = ""


def set_up_link(session: ScopedSession) -> str | None:
    """Return a link that creates the first admin; None once there is an admin."""
    return None if staff.has_admin(session) else _address("set-up", tickets.mint("set-up", _FIRST_ADMIN, lasts=LASTS))


def password_link(session: ScopedSession, staff_id: UUID, *, by: Person) -> str:
    """Create a link with which a person chooses a password; it replaces any earlier one.

    NotFound for an unknown person, StateForbids for a disabled one. The current password stays valid until then.
    """
    account_changes.refuse_unless_admin(by)
    row = session.execute(sa.select(Staff).where(col(Staff.id) == staff_id).with_for_update()).scalar_one_or_none()
    if row is None:
        raise NotFound("No such person")
    if row.disabled_at is not None:
        raise StateForbids("This account is disabled: enable it first")
    row.link_until, row.link_by = clock.now() + LASTS, by.id
    session.flush()
    until = clock.wire(row.link_until)
    audit.write(
        session,
        actor=by.actor,
        action="password link made",
        subject=audit.subject_of("staff", row.id),
        after={"until": until},
    )
    return _address("password", tickets.mint("password", f"{row.id} {until}", lasts=LASTS))


def opened(session: ScopedSession, ticket: str) -> Invitation:
    """Return the invitation of a link without using it; Unauthorized if it is no longer valid."""
    if _reads(session, "set-up", ticket) is not None:
        if staff.has_admin(session):
            raise Unauthorized(OVER)
        return Invitation(kind="set-up")
    row = _invited(session, _reads(session, "password", ticket))
    return Invitation(kind="password", email=row.email, name=row.name)


def set_up(session: ScopedSession, ticket: str, *, email: str, name: str, password: str | None) -> UUID:
    """Create the first admin; of two concurrent calls one is refused with Unauthorized.

    InvalidInput names every invalid field, and the link stays valid. Without a password the admin signs in with the
    identity
    provider.
    """
    wanted = _judged(email, name, password)
    hashed = None if password is None else passwords.hashed(password, email=wanted.email)
    session.next_in_transaction(_FIRST_ADMIN)
    _redeem(session, "set-up", ticket)
    if staff.has_admin(session):
        raise Unauthorized(OVER)
    row = session.execute(sa.select(Staff).where(col(Staff.email) == wanted.email)).scalar_one_or_none()
    before = None if row is None else staff.facts(row)
    row = row or Staff(email=wanted.email, name=wanted.name)
    if row.password_hash is not None:
        passwords.rest(row)
    staff.assign(row, wanted)
    row.password_hash, row.disabled_at = hashed, None
    session.add(row)
    session.flush()
    staff_sessions.end_of(session, row.id)
    staff.note(session, row, "first admin set up", actor="set-up link", before=before)
    return row.id


def _judged(email: str, name: str, password: str | None) -> NewPerson:
    """Validate the first admin's input; InvalidInput reports all errors at once."""
    faults = [] if password is None else passwords.weaknesses(password, email=email)
    try:
        wanted: NewPerson = request.read(NewPerson, {"email": email, "name": name, "roles": ["admin"]})
    except InvalidInput as error:
        raise InvalidInput([*error.faults, *faults]) from None
    if faults:
        raise InvalidInput(faults)
    return wanted


def choose_password(session: ScopedSession, ticket: str, password: str) -> UUID:
    """Set the password of a link's person, and end their open sessions.

    Whoever made the link may have opened it: unless that was the person, they approve nothing for a day.

    Unauthorized when the link is no longer good; InvalidInput for a weak password, and the link stays good.
    """
    row = _invited(session, _reads(session, "password", ticket), lock=True)
    row.password_hash = passwords.hashed(password, email=row.email)
    _redeem(session, "password", ticket)
    if row.link_by != row.id:
        passwords.rest(row)
    row.link_until = row.link_by = None
    session.flush()
    passwords.forgive(session, row.email)
    ended = staff_sessions.end_of(session, row.id)
    subject = audit.subject_of("staff", row.id)
    actor = f"staff {row.email}"
    audit.write(session, actor=actor, action="password chosen", subject=subject, after={"sessions_ended": ended})
    return row.id


def _invited(session: ScopedSession, value: str | None, *, lock: bool = False) -> Staff:
    """Return the person of a link; Unauthorized unless it is the latest link."""
    staff_id, _, until = (value or "").partition(" ")
    query = sa.select(Staff).where(col(Staff.disabled_at).is_(None))
    if value is None:
        raise Unauthorized(OVER)
    query = query.where(col(Staff.id) == ids.parse(staff_id), col(Staff.link_until) == datetime.fromisoformat(until))
    row: Staff | None = session.execute(query.with_for_update() if lock else query).scalar_one_or_none()
    if row is None:
        raise Unauthorized(OVER)
    return row


def _reads(session: ScopedSession, kind: Kind, ticket: str) -> str | None:
    try:
        return tickets.read(session, kind, ticket)
    except Unauthorized:
        return None


def _redeem(session: ScopedSession, kind: Kind, ticket: str) -> None:
    try:
        tickets.redeem(session, kind, ticket)
    except Unauthorized:
        raise Unauthorized(OVER) from None


def _address(kind: Kind, ticket: str) -> str:
    return f"{settings().base_url}{PATHS[kind]}?" + urlencode({"t": ticket})
