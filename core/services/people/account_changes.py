"""Changes to staff accounts by an admin, each audited with before and after (contract A1, A4)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import request
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.people import role_grants, staff, staff_sessions
from core.services.people.staff import NewStaffInput, Person, StaffInput
from core.store.access import ScopedSession
from core.store.schema.tables import Staff

Input = TypeVar("Input", bound=StaffInput)
ADMIN: Final = "admin"
OWN_ACCESS_MESSAGE: Final = "You cannot take away your own access: ask another admin"


def add_person(session: ScopedSession, staff_id: UUID, inputs: dict[str, Any], *, by: Person) -> None:
    """Add a person without a password: an invitation lets them choose one.

    An account that moves money has no role until a second admin has confirmed it (contract K4). The caller generates
    `staff_id`, so that repeating the call adds once. `inputs` holds email, name, roles and claim_limit as submitted;
    InvalidInput names every invalid field.
    """
    require_admin(by)
    validated: NewStaffInput = request.validate(NewStaffInput, inputs)
    row = Staff(id=staff_id, email=validated.email, name=validated.name, made_by=by.id, roles=[])
    limit = staff.limit_of(row, validated)
    # A limit lets operations confirm loan books up to it.
    waits = role_grants.moves_money(validated.roles) or limit is not None
    if not waits:
        staff.apply_input(row, validated)
    if session.insert_if_absent(row):
        staff.record_change(session, row, "staff added", actor=by.actor, before=None)
        if waits:
            session.flush()
            with role_grants.keep_refusal(row.id, "staff account", by=by):
                held = session.get_one(Staff, staff_id)
                role_grants.propose(session, held, "account", roles=validated.roles, limit_minor=limit, by=by)
    elif session.get(Staff, staff_id) is None:
        raise InvalidInput.for_field("email", "belongs to somebody who has an account already")


def change_person(
    session: ScopedSession, staff_id: UUID, inputs: dict[str, Any], *, seen_at: datetime, by: Person
) -> None:
    """Change a person's name at once, and propose other roles or another limit, which a second admin confirms.

    `seen_at` is the `updated_at` that the admin saw: StaleVersion if it changed. StateForbids for one's own admin role
    and
    for that of the last admin.
    """
    require_admin(by)
    row = _get_for_update(session, staff_id)
    validated: StaffInput = request.validate(StaffInput, {**inputs})
    before, previous_updated_at = staff.get_audited_facts(row), row.updated_at
    if ADMIN in row.roles and ADMIN not in validated.roles:
        _require_other(row, by)
        if row.disabled_at is None:
            staff.require_other_admin(session, row)
    limit = staff.limit_of(row, validated)
    differs = (sorted(row.roles), row.claim_limit_minor) != (validated.roles, limit)
    if not differs and row.name == validated.name:
        return
    if previous_updated_at != seen_at:
        raise StaleVersion
    if row.name != validated.name:
        row.name, row.updated_at = validated.name, clock.now()
        session.flush()
        staff.record_change(session, row, "staff changed", actor=by.actor, before=before)
    if differs:
        with role_grants.keep_refusal(row.id, "staff change", by=by):
            role_grants.propose(session, row, "change", roles=validated.roles, limit_minor=limit, by=by)


def set_own_details(session: ScopedSession, staff_id: UUID, inputs: Mapping[str, Any], *, by: Person) -> None:
    """Set the phone and the bank account by which what is a person's own is known; empty leaves what is known (K12).

    NotAllowed for one's own: whoever could set them could hide behind another account.
    """
    require_admin(by)
    with role_grants.keep_refusal(staff_id, "staff details", by=by):
        if staff_id == by.id:
            raise NotAllowed("Your own phone and account are set by another admin")
        given = {name: str(inputs.get(name) or "").strip() or None for name in ("phone_number", "account_number")}
        staff.set_own_details(session, staff_id, **given, actor=by.actor)


def disable_person(session: ScopedSession, staff_id: UUID, *, by: Person) -> None:
    """Disable a person at once, with every session and link; an admin once a second one has confirmed it.

    StateForbids for oneself and for the last admin.
    """
    require_admin(by)
    row = _get_for_update(session, staff_id)
    _require_other(row, by)
    if ADMIN not in row.roles or row.disabled_at is not None:
        staff.disable_row(session, row, actor=by.actor)
        return
    staff.require_other_admin(session, row)
    with role_grants.keep_refusal(row.id, "staff disabling", by=by):
        role_grants.propose(session, row, "disable", by=by)


def enable_person(session: ScopedSession, staff_id: UUID, *, by: Person) -> None:
    """Enable a disabled person, with their former password and roles; once a second admin has confirmed it (K4)."""
    require_admin(by)
    row = _get_for_update(session, staff_id)
    if row.disabled_at is None:
        return
    if role_grants.moves_money(row.roles):
        with role_grants.keep_refusal(row.id, "staff enabling", by=by):
            role_grants.propose(session, row, "enable", by=by)
        return
    staff.enable_row(session, row, actor=by.actor)


def end_sessions(session: ScopedSession, staff_id: UUID, *, by: Person, handle: str | None = None) -> int:
    """End one session of a person, or all open ones; returns how many were open."""
    require_admin(by)
    row = _get_for_update(session, staff_id)
    ended = staff_sessions.end_sessions(session, row.id, handle=handle)
    if ended:
        subject = audit.subject_of("staff", row.id)
        audit.write(session, actor=by.actor, action="sessions ended", subject=subject, after={"sessions": ended})
    return ended


def require_admin(person: Person) -> None:
    """Raise NotAllowed unless the person is an admin; checked here too, not on the screen only."""
    if not person.has_role(ADMIN):
        raise NotAllowed("Only an admin can do this")


def _require_other(row: Staff, by: Person) -> None:
    if row.id == by.id:
        raise StateForbids(OWN_ACCESS_MESSAGE)


def _get_for_update(session: ScopedSession, staff_id: UUID) -> Staff:
    found = session.execute(sa.select(Staff).where(col(Staff.id) == staff_id).with_for_update())
    row: Staff | None = found.scalar_one_or_none()
    if row is None:
        raise NotFound("No such person")
    return row
