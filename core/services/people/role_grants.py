"""Roles that approve: one admin proposes them for a person, another confirms them (contract A1)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.people import staff
from core.services.people.four_eyes import Proposals
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import RoleGrant, Staff

# Whoever has one of them approves what somebody else prepared.
APPROVING: Final = frozenset({"finance", "supervisor", "compliance", "admin"})
PROPOSALS: Final = Proposals(RoleGrant, "change of roles")
_ADMIN: Final = "admin"


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenGrant:
    """Roles that wait for a second admin."""

    id: UUID
    staff_id: UUID
    person: str
    roles: tuple[str, ...]
    proposed_by: UUID
    proposer: str
    proposed_at: datetime


def list_waiting(session: ScopedSession, row: Staff, wanted: Collection[str], *, by: Person) -> list[str]:
    """Return the roles of `wanted` that a second admin has to confirm.

    Empty while the store has no other admin: nobody could confirm them.
    """
    held = set(row.roles or ())
    gained = sorted(APPROVING & (set(wanted) - held))
    if not gained or _ADMIN in held:
        return []
    others = session.execute(sa.select(col(Staff.roles)).where(col(Staff.id) != by.id)).scalars()
    # A disabled admin counts: or an admin could be alone by disabling the other one.
    return gained if any(_ADMIN in roles for roles in others) else []


def propose(session: ScopedSession, row: Staff, roles: Collection[str], *, by: Person) -> None:
    """Propose roles for a person; a proposal that waits is replaced by its maker's, and keeps another admin out."""
    held = get_open(session, row.id)
    if held is not None and held.roles == tuple(sorted(roles)):
        return
    if held is not None:
        PROPOSALS.decide(session, held.id, "withdrawn", by=by)
    grant = RoleGrant(id=ids.new(), staff_id=row.id, roles=sorted(roles), proposed_by=by.id, proposed_at=clock.now())
    session.insert(grant)
    _note(session, row.id, "roles proposed", grant.roles, by=by)


def confirm(session: ScopedSession, grant_id: UUID, *, by: Person) -> None:
    """Give a person the roles that another admin proposed; they hold from the person's next request.

    NotAllowed for who proposed them, for the person, and for who has a password that somebody else has just reset.
    """
    grant = _open(session, grant_id, by)
    PROPOSALS.refuse_maker(grant, by)
    if grant.staff_id == by.id:
        raise NotAllowed("These roles are yours: another admin confirms them")
    staff.refuse_resting(by)
    row = session.get_one(Staff, grant.staff_id)
    if row.disabled_at is not None:
        raise StateForbids("This account is disabled: enable it first")
    before = staff.get_audited_facts(row)
    row.roles, row.updated_at = sorted({*row.roles, *grant.roles}), clock.now()
    session.flush()
    PROPOSALS.decide(session, grant.id, "confirmed", by=by)
    staff.record_change(session, row, "roles confirmed", actor=by.actor, before=before)


def refuse(session: ScopedSession, grant_id: UUID, *, by: Person) -> None:
    """Refuse the roles that another admin proposed, or take one's own proposal back."""
    grant = _open(session, grant_id, by)
    is_own = grant.proposed_by == by.id
    PROPOSALS.decide(session, grant.id, "withdrawn" if is_own else "refused", by=by)
    _note(session, grant.staff_id, "roles taken back" if is_own else "roles refused", grant.roles, by=by)


def get_open(session: ScopedSession, staff_id: UUID) -> OpenGrant | None:
    """Return the roles of a person that wait for a second admin."""
    return next(iter(_list(session, col(RoleGrant.staff_id) == staff_id)), None)


def list_open(session: ScopedSession) -> list[OpenGrant]:
    """List everything that waits for a second admin, oldest first."""
    return _list(session)


def _list(session: ScopedSession, *conditions: Any) -> list[OpenGrant]:
    person, proposer = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
    query = (
        sa.select(RoleGrant, col(person.name), col(proposer.name))
        .join(person, col(person.id) == col(RoleGrant.staff_id))
        .join(proposer, col(proposer.id) == col(RoleGrant.proposed_by))
        .where(col(RoleGrant.state) == "open", *conditions)
        .order_by(col(RoleGrant.proposed_at), col(RoleGrant.id))
    )
    names = ("id", "staff_id", "proposed_by", "proposed_at")
    return [
        OpenGrant(
            **{name: getattr(row, name) for name in names}, roles=tuple(row.roles), person=whose, proposer=made_by
        )
        for row, whose, made_by in session.execute(query)
    ]


def _open(session: ScopedSession, grant_id: UUID, by: Person) -> RoleGrant:
    if not by.has_role(_ADMIN):
        raise NotAllowed("Only an admin can do this")
    return PROPOSALS.get_open(session, grant_id)


def _note(session: ScopedSession, staff_id: UUID, action: str, roles: Collection[str], *, by: Person) -> None:
    subject = audit.subject_of("staff", staff_id)
    audit.write(session, actor=by.actor, action=action, subject=subject, after={"roles": list(roles)})
