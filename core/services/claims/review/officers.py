"""Claims officers: who can be assigned, and names by id."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.claims.lists import search
from core.states.claims import CLAIMS_ROLES
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, Staff

_CLAIM_ROLES = frozenset({*CLAIMS_ROLES, "admin"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Officer:
    """A member of staff who works claims, with how many open ones they have in this mode."""

    id: UUID
    name: str
    open_claims: int


def list_active(session: ScopedSession) -> list[Officer]:
    """List everybody to whom a claim can be assigned, by name."""
    people = sa.select(col(Staff.id), col(Staff.name), col(Staff.roles)).where(col(Staff.disabled_at).is_(None))
    rows = session.execute(people.order_by(col(Staff.name), col(Staff.id))).all()
    workload = _count_open(session)
    return [
        Officer(id=row.id, name=row.name, open_claims=workload.get(row.id, 0))
        for row in rows
        if not _CLAIM_ROLES.isdisjoint(row.roles)
    ]


def _count_open(session: ScopedSession) -> Mapping[UUID, int]:
    """Count the claims that are neither paid nor declined by who has them."""
    query = sa.select(col(Claim.assigned_to), sa.func.count().label("open")).where(
        col(Claim.assigned_to).is_not(None),
        search.IS_OPEN,
        col(Claim.deleted_at).is_(None),
    )
    return {row.assigned_to: row.open for row in session.execute(query.group_by(col(Claim.assigned_to)))}


def get_names(session: ScopedSession, ids: Collection[UUID | None]) -> Mapping[UUID, str]:
    """Return staff names by id, including staff who have left."""
    found = session.execute(sa.select(col(Staff.id), col(Staff.name)).where(col(Staff.id).in_(set(ids) - {None})))
    return {row.id: row.name for row in found}
