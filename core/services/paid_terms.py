"""The terms of a policy: the first, paid for by its purchase, and one for each renewal."""

from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import Policy, Purchase, Renewal


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidTerm:
    """A stretch of cover that was paid for in one go, the rates it was paid at, and the renewal that made it."""

    start_at: datetime
    expiration_at: datetime
    total_minor: int
    version_id: UUID
    renewal_id: UUID | None = None

    @property
    def start_on(self) -> date:
        """The first day in Lagos."""
        return clock.lagos_day(self.start_at)

    @property
    def expiration_on(self) -> date:
        """The day in Lagos on which cover ends."""
        return clock.lagos_day(self.expiration_at)


def of(session: ScopedSession, policy: Policy) -> list[PaidTerm]:
    """Every paid term of a policy, oldest first; none while the insurer has not set its dates."""
    if policy.start_at is None or policy.expiration_at is None:
        return []
    purchase = session.get_one(Purchase, policy.purchase_id)
    renewals = list(session.execute(_renewals(policy.id)).scalars())
    first = PaidTerm(
        start_at=policy.start_at,
        expiration_at=renewals[0].previous_expiration_at if renewals else policy.expiration_at,
        total_minor=purchase.total_minor,
        version_id=purchase.product_version_id,
    )
    return [first, *map(_renewed, renewals)]


def _renewals(policy_id: UUID) -> AnySelect:
    return (
        sa.select(Renewal)
        .where(col(Renewal.policy_id) == policy_id, col(Renewal.status), col(Renewal.deleted_at).is_(None))
        .order_by(col(Renewal.start_at))
    )


def _renewed(renewal: Renewal) -> PaidTerm:
    return PaidTerm(
        start_at=renewal.start_at,
        expiration_at=renewal.expiration_at,
        total_minor=renewal.total_minor,
        version_id=renewal.product_version_id,
        renewal_id=renewal.id,
    )
