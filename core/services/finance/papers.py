"""The papers of finance that a policy's money is on: statements and bordereaux (contract F3, F5)."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.finance.bordereaux import reading as bordereau_reading
from core.services.finance.bordereaux.reading import Reported
from core.services.finance.statements import reading as statement_reading
from core.store.access import ScopedSession
from core.store.schema.tables import Movement


@dataclass(frozen=True, kw_only=True, slots=True)
class Papers:
    """The statements (id, number, party, month) and premium bordereaux of a policy, and movements that none has."""

    statements: list[tuple[UUID, str, str, date]]
    bordereaux: list[Reported]
    unreported: int


def list_of_policy(session: ScopedSession, policy_id: UUID) -> Papers:
    """Return the papers that hold the movements of a policy."""
    query = sa.select(col(Movement.id)).where(col(Movement.policy_id) == policy_id)
    movement_ids = list(session.execute(query).scalars())
    return Papers(
        statements=statement_reading.list_of_policy(session, movement_ids),
        bordereaux=bordereau_reading.list_of_policy(session, movement_ids),
        unreported=len(movement_ids) - bordereau_reading.count_reported(session, movement_ids),
    )
