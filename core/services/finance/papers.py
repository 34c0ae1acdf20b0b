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
from core.store.schema.tables import Adjustment, Policy, Purchase, Refund, Renewal


@dataclass(frozen=True, kw_only=True, slots=True)
class Papers:
    """The statements (id, number, party, month) and premium bordereaux of a policy, and movements that none has."""

    statements: list[tuple[UUID, str, str, date]]
    bordereaux: list[Reported]
    unreported: int


def list_of_policy(session: ScopedSession, policy_id: UUID) -> Papers:
    """Return the papers that hold the movements of a policy."""
    movement_ids = _list_movement_ids(session, policy_id)
    return Papers(
        statements=statement_reading.list_of_policy(session, movement_ids),
        bordereaux=bordereau_reading.list_of_policy(session, movement_ids),
        unreported=len(movement_ids) - bordereau_reading.count_reported(session, movement_ids),
    )


def _list_movement_ids(session: ScopedSession, policy_id: UUID) -> list[UUID]:
    """Return the ids of a policy's movements, each table by its own key.

    The view of movements has the policy of a purchase as a subquery, so that it would look at every purchase.
    """
    renewals = sa.and_(col(Renewal.deleted_at).is_(None), col(Renewal.status))
    queries = (
        sa.select(col(Purchase.id))
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .where(col(Policy.id) == policy_id, col(Purchase.deleted_at).is_(None)),
        sa.select(col(Renewal.id)).where(col(Renewal.policy_id) == policy_id, renewals),
        sa.select(col(Refund.id)).where(col(Refund.policy_id) == policy_id),
        sa.select(col(Adjustment.id)).where(col(Adjustment.policy_id) == policy_id),
    )
    return [key for query in queries for key in session.execute(query).scalars()]
