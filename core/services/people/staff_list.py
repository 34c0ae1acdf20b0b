"""The staff screen of admins: a page of people, and one person in detail."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.errors import NotFound
from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.lists.filters import expressions
from core.services.lists.paging import Page, Paging
from core.services.people.staff import ACCOUNT
from core.services.people.staff_sessions import SIGNED_IN, build_open_conditions
from core.settings import settings
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import AuditEntry, Staff, StaffSession

Order = Literal["name", "name-back", "email", "email-back"]
_NAME, _EMAIL = sa.func.lower(col(Staff.name)), col(Staff.email)
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "name": (_NAME, _EMAIL),
    "name-back": (_NAME.desc(), _EMAIL.desc()),
    "email": (_EMAIL,),
    "email-back": (_EMAIL.desc(),),
}
State = Literal["Enabled", "Invited", "No password", "Disabled"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StaffFilter:
    """Criteria for a list of staff: any part of name or e-mail, a role, and whether enabled."""

    text: str = ""
    role: str | None = None
    enabled: bool | None = None

    @property
    def is_filtered(self) -> bool:
        """True if any criterion is set."""
        return bool(self.text or self.role or self.enabled is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class StaffRow:
    """One person, without anything about the password but whether there is one."""

    id: UUID
    email: str
    name: str
    roles: tuple[str, ...]
    claim_limit_minor: int | None
    has_password: bool
    disabled_at: datetime | None
    link_until: datetime | None
    created_at: datetime
    updated_at: datetime
    signed_in_at: datetime | None
    open_sessions: int
    phone_number: str | None = None
    sealed: str | None = None

    @property
    def account_hint(self) -> str:
        """The last four digits of the person's own bank account; empty where none is known."""
        return seal.unseal(self.sealed).get(ACCOUNT, "")[-4:]

    @property
    def state(self) -> State:
        """State of the account: can sign in, or the reason why not."""
        if self.disabled_at is not None:
            return "Disabled"
        if self.has_password or not settings().passwords:
            return "Enabled"
        return "Invited" if self.link_is_open else "No password"

    @property
    def link_is_open(self) -> bool:
        """True while an invitation link is valid."""
        return self.link_until is not None and self.link_until > clock.now()


def list_staff(
    session: ScopedSession, criteria: StaffFilter, paging: Paging, *, order: Order = "name"
) -> Page[StaffRow]:
    """One page of people, and how many there are in all."""
    conditions = _build_conditions(criteria)
    total = session.execute(sa.select(sa.func.count()).select_from(Staff).where(*conditions)).scalar_one()
    rows = session.execute(
        _build_query().where(*conditions).order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    )
    return Page([_build_row(row) for row in rows], total)


def get_staff(session: ScopedSession, staff_id: UUID) -> StaffRow:
    """Return one person; NotFound for an unknown id."""
    row = session.execute(_build_query().where(col(Staff.id) == staff_id)).one_or_none()
    if row is None:
        raise NotFound("No such person")
    return _build_row(row)


def list_events(session: ScopedSession, staff_id: UUID, *, limit: int = 30) -> list[AuditEvent]:
    """Return the audit events of an account, newest first, without sign-ins; changes list only what differs."""
    entries = session.execute(
        sa.select(AuditEntry)
        .where(col(AuditEntry.subject) == audit.subject_of("staff", staff_id), col(AuditEntry.action) != SIGNED_IN)
        .order_by(col(AuditEntry.created_at).desc(), col(AuditEntry.position).desc())
        .limit(limit)
    ).scalars()
    return [AuditEvent(at=e.created_at, actor=e.actor, action=e.action, facts=_list_changes(e)) for e in entries]


def _list_changes(entry: AuditEntry) -> dict[str, Any]:
    before, after = entry.before or {}, entry.after or {}
    return {
        name: {"before": before[name], "after": value} if name in before else value
        for name, value in after.items()
        if name not in before or before[name] != value
    }


def _build_query() -> AnySelect:
    mine = col(StaffSession.staff_id) == col(Staff.id)
    last = sa.select(sa.func.max(col(StaffSession.created_at))).where(mine).correlate(Staff).scalar_subquery()
    opened = sa.select(sa.func.count()).where(mine, *build_open_conditions()).correlate(Staff).scalar_subquery()
    names = ("id", "email", "name", "roles", "claim_limit_minor", "disabled_at", "link_until", "created_at")
    return sa.select(
        *(col(getattr(Staff, name)) for name in (*names, "updated_at", "phone_number", "sealed")),
        col(Staff.password_hash).is_not(None).label("has_password"),
        last.label("signed_in_at"),
        opened.label("open_sessions"),
    )


def _build_conditions(criteria: StaffFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if criteria.text:
        searched = sa.func.lower(col(Staff.name) + "\n" + col(Staff.email))
        conditions.append(searched.like(expressions.containing(criteria.text), escape="\\"))
    if criteria.role:
        conditions.append(sa.cast(col(Staff.roles), sa.String).like(f'%"{criteria.role}"%'))
    if criteria.enabled is not None:
        disabled = col(Staff.disabled_at)
        conditions.append(disabled.is_(None) if criteria.enabled else disabled.is_not(None))
    return conditions


def _build_row(row: AnyRow) -> StaffRow:
    values = dict(row._mapping)
    return StaffRow(**{**values, "roles": tuple(row.roles), "has_password": bool(row.has_password)})
