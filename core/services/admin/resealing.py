"""Putting every personal number under the newest sealing key, a batch at a time, while sales go on (contract A3)."""

from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import seal
from core.services.audit import log as audit
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Claim, Policy, Provider

SEALED: Final[tuple[Any, ...]] = (Policy, Claim, Provider)
BATCH: Final = 500


def reseal(session: ScopedSession, entity: Any, *, after: UUID | None) -> tuple[int, UUID | None]:
    """Renew the seal of the next rows behind the id `after`: how many, and the id to go on from, none at the end.

    A row that somebody else changes meanwhile is left: what is written now is under the newest key already.
    """
    query = sa.select(col(entity.id), col(entity.sealed)).where(col(entity.sealed).is_not(None))
    if after is not None:
        query = query.where(col(entity.id) > after)
    rows = session.execute(query.order_by(col(entity.id)).limit(BATCH)).all()
    for row in rows:
        session.execute(
            sa.update(entity)
            .where(col(entity.id) == row.id, col(entity.sealed) == row.sealed)
            .values(sealed=seal.resealed(row.sealed))
            .execution_options(synchronize_session=False)
        )
    return len(rows), rows[-1].id if len(rows) == BATCH else None


def note(session: ScopedSession, rows: int, *, actor: str) -> None:
    """Write down that it was done."""
    audit.write(session, actor=actor, action="personal numbers sealed anew", subject="store", after={"rows": rows})
