"""Distributors: the businesses that sell, and on whose behalf the desk sells."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.store.scope import ScopedSession
from core.store.tables import Distributor


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributorName:
    """A distributor as a pick list shows it."""

    id: UUID
    name: str


def active(session: ScopedSession) -> list[DistributorName]:
    """Every distributor that may sell, by name."""
    rows = session.execute(
        sa.select(col(Distributor.id), col(Distributor.business_name))
        .where(col(Distributor.active), col(Distributor.deleted_at).is_(None))
        .order_by(sa.func.lower(Distributor.business_name))
    )
    return [DistributorName(id=row.id, name=row.business_name) for row in rows]
