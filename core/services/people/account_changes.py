"""Changes to staff accounts by an admin, each audited with before and after (contract A1, A4)."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import request
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.people import staff, staff_sessions
from core.services.people.staff import Duties, NewPerson, Person
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Staff

ADMIN: Final = "admin"
NOT_YOURSELF: Final = "You cannot take away your own access: ask another admin"


def add(session: ScopedSession, staff_id: UUID, said: dict[str, Any], *, by: Person) -> None:
    """Add a person without a password: an invitation lets them choose one.

    The caller generates `staff_id`, so that repeating the call adds once. `inputs` holds email, name, roles and
    claim_limit as
    submitted; InvalidInput names every invalid field.
    """
    refuse_unless_admin(by)
    wanted: NewPerson = request.read(NewPerson, said)
    row = Staff(id=staff_id, email=wanted.email, name=wanted.name)
    staff.assign(row, wanted)
    if session.insert_if_absent(row):
        staff.note(session, row, "staff added", actor=by.actor, before=None)
    elif session.get(Staff, staff_id) is None:
        raise InvalidInput.one("email", "belongs to somebody who has an account already")


def change(session: ScopedSession, staff_id: UUID, said: dict[str, Any], *, seen_at: datetime, by: Person) -> None:
    """Change a person's name, roles and limit; roles apply from that person's next request.

    `seen_at` is the `updated_at` that the admin saw: StaleVersion if it changed. StateForbids for one's own admin role
    and
    for that of the last admin.
    """
    refuse_unless_admin(by)
    row = _locked(session, staff_id)
    wanted: Duties = request.read(Duties, {**said})
    before, was = staff.facts(row), row.updated_at
    if ADMIN in row.roles and ADMIN not in wanted.roles:
        _refuse_yourself(row, by)
        if row.disabled_at is None:
            staff.refuse_without_admin(session, row)
    staff.assign(row, wanted)
    if staff.facts(row) == before:
        row.updated_at = was
        return
    if was != seen_at:
        raise StaleVersion
    session.flush()
    staff.note(session, row, "staff changed", actor=by.actor, before=before)


def disable(session: ScopedSession, staff_id: UUID, *, by: Person) -> None:
    """Disable a person at once, with every session and link; StateForbids for oneself and for the last admin."""
    refuse_unless_admin(by)
    row = _locked(session, staff_id)
    _refuse_yourself(row, by)
    staff.shut_out(session, row, actor=by.actor)


def enable(session: ScopedSession, staff_id: UUID, *, by: Person) -> None:
    """Enable a disabled person, with their former password and roles."""
    refuse_unless_admin(by)
    row = _locked(session, staff_id)
    if row.disabled_at is None:
        return
    before = staff.facts(row)
    row.disabled_at, row.updated_at = None, clock.now()
    session.flush()
    staff.note(session, row, "staff enabled", actor=by.actor, before=before)


def end_sessions(session: ScopedSession, staff_id: UUID, *, by: Person, handle: str | None = None) -> int:
    """End one session of a person, or all open ones; returns how many were open."""
    refuse_unless_admin(by)
    row = _locked(session, staff_id)
    ended = staff_sessions.end_of(session, row.id, handle=handle)
    if ended:
        subject = audit.subject_of("staff", row.id)
        audit.write(session, actor=by.actor, action="sessions ended", subject=subject, after={"sessions": ended})
    return ended


def refuse_unless_admin(person: Person) -> None:
    """Raise NotAllowed unless the person is an admin; checked here too, not on the screen only."""
    if not person.may(ADMIN):
        raise NotAllowed("Only an admin can do this")


def _refuse_yourself(row: Staff, by: Person) -> None:
    if row.id == by.id:
        raise StateForbids(NOT_YOURSELF)


def _locked(session: ScopedSession, staff_id: UUID) -> Staff:
    found = session.execute(sa.select(Staff).where(col(Staff.id) == staff_id).with_for_update())
    row: Staff | None = found.scalar_one_or_none()
    if row is None:
        raise NotFound("No such person")
    return row
