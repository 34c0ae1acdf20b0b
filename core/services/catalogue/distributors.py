"""Distributors: the businesses that sell, or for which the desk sells."""

from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import Distributor


@dataclass(frozen=True, kw_only=True, slots=True)
class DistributorName:
    """Id and name of a distributor, for pick lists."""

    id: UUID
    name: str


def list_active(session: ScopedSession) -> list[DistributorName]:
    """Return every active distributor, by name."""
    rows = session.execute(
        sa.select(col(Distributor.id), col(Distributor.business_name))
        .where(col(Distributor.active), col(Distributor.deleted_at).is_(None))
        .order_by(sa.func.lower(Distributor.business_name))
    )
    return [DistributorName(id=row.id, name=row.business_name) for row in rows]


def find_by_name(session: ScopedSession, name: str, *, but: UUID | None = None) -> DistributorName | None:
    """The distributor of a name, in any case and however it is spaced; its own spelling first where two exist.

    `but` is one that is not meant.
    """
    rows = session.execute(
        sa.select(col(Distributor.id), col(Distributor.business_name)).order_by(col(Distributor.created_at))
    )
    # Compared here: databases differ in which letters they know the small form of.
    same = [row for row in rows if _key(row.business_name) == _key(name) and row.id != but]
    same.sort(key=lambda row: row.business_name != name)
    return DistributorName(id=same[0].id, name=same[0].business_name) if same else None


def hold_names(session: ScopedSession) -> None:
    """Let nobody else name a distributor until this transaction ends: look whether a name is free afterwards."""
    session.next_in_transaction("distributor names")


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()
