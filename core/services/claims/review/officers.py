"""Claims officers: who can be assigned, and names by id."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.states.claims import CLAIMS_ROLES
from core.store.access import ScopedSession
from core.store.schema.tables import Staff

_CLAIM_ROLES = frozenset({*CLAIMS_ROLES, "admin"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Officer:
    """A member of staff who works claims."""

    id: UUID
    name: str


def list_active(session: ScopedSession) -> list[Officer]:
    """List everybody to whom a claim can be assigned, by name."""
    people = sa.select(col(Staff.id), col(Staff.name), col(Staff.roles)).where(col(Staff.disabled_at).is_(None))
    rows = session.execute(people.order_by(col(Staff.name), col(Staff.id)))
    return [Officer(id=row.id, name=row.name) for row in rows if not _CLAIM_ROLES.isdisjoint(row.roles)]


def get_names(session: ScopedSession, ids: Collection[UUID | None]) -> Mapping[UUID, str]:
    """Return staff names by id, including staff who have left."""
    found = session.execute(sa.select(col(Staff.id), col(Staff.name)).where(col(Staff.id).in_(set(ids) - {None})))
    return {row.id: row.name for row in found}
