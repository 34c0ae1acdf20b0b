"""Re-encryption of personal numbers with the newest sealing key, in batches, while sales go on (contract A3)."""

from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import seal
from core.services.audit import log as audit
from core.store.access import ScopedSession
from core.store.schema.tables import BankAccount, Claim, PaymentPayee, Policy, Provider, SaleDraft, Staff

SEALED_TABLES: Final[tuple[Any, ...]] = (Policy, Claim, PaymentPayee, Provider, SaleDraft, BankAccount, Staff)
BATCH: Final = 500


def reseal(session: ScopedSession, entity: Any, *, after: UUID | None) -> tuple[int, UUID | None]:
    """Re-encrypt the next rows after an id; returns their number and the id to continue from, None at the end.

    A row changed concurrently is skipped: it was written with the newest key already.
    """
    query = sa.select(col(entity.id), col(entity.sealed)).where(col(entity.sealed).is_not(None))
    if after is not None:
        query = query.where(col(entity.id) > after)
    rows = session.execute(query.order_by(col(entity.id)).limit(BATCH)).all()
    for row in rows:
        is_same = col(entity.sealed) == row.sealed
        session.change(entity, col(entity.id) == row.id, is_same, sealed=seal.reseal(row.sealed))
    return len(rows), rows[-1].id if len(rows) == BATCH else None


def record_resealing(session: ScopedSession, rows: int, *, actor: str) -> None:
    """Write the audit entry of a finished resealing."""
    audit.write(session, actor=actor, action="personal numbers sealed anew", subject="store", after={"rows": rows})
