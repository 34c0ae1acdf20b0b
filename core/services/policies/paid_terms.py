"""The paid terms of a policy: the first from its purchase, and one for each renewal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.money import Split
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, Purchase, Renewal


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidTerm:
    """One paid period of cover, the product version it was priced with, and the renewal that created it.

    `sold_at` is when it was bought, which may be after its start.
    """

    start_at: datetime
    expiration_at: datetime
    paid: Split
    version_id: UUID
    renewal_id: UUID | None = None
    sold_at: datetime | None = None

    @property
    def total_minor(self) -> int:
        """The premium of the term in kobo."""
        return self.paid.total_minor

    @property
    def start_on(self) -> date:
        """The first day in Lagos."""
        return clock.to_lagos_day(self.start_at)

    @property
    def sold_on(self) -> date:
        """The day in Lagos on which it was bought; its first day where that is not known."""
        return clock.to_lagos_day(self.sold_at) if self.sold_at else self.start_on

    @property
    def expiration_on(self) -> date:
        """The day in Lagos on which cover ends."""
        return clock.to_lagos_day(self.expiration_at)


def get_paid_split(row: Purchase | Renewal) -> Split:
    """Return the amount paid for a term and its three parts."""
    return Split(row.total_minor, row.mca_profit_minor, row.distributor_profit_minor)


def list_paid_terms(session: ScopedSession, policy: Policy) -> list[PaidTerm]:
    """Return every paid term of a policy, oldest first; empty while the insurer has not set its dates."""
    return list_by_policy(session, [policy])[policy.id]


def list_by_policy(session: ScopedSession, policies: Sequence[Policy]) -> dict[UUID, list[PaidTerm]]:
    """Like `list_paid_terms`, for several policies by their ids, in two queries."""
    dated = [policy for policy in policies if policy.start_at is not None and policy.expiration_at is not None]
    renewals = _load_renewals(session, [policy.id for policy in dated])
    sales = _load_purchases(session, [policy.purchase_id for policy in dated])
    terms: dict[UUID, list[PaidTerm]] = {policy.id: [] for policy in policies}
    for policy in dated:
        later = renewals.get(policy.id, [])
        terms[policy.id] = [_build_first(policy, sales[policy.purchase_id], later), *map(_build_renewed, later)]
    return terms


def _build_first(policy: Policy, sale: Purchase, later: Sequence[Renewal]) -> PaidTerm:
    assert policy.start_at is not None and policy.expiration_at is not None, "it has dates"  # noqa: S101, PT018
    return PaidTerm(
        start_at=policy.start_at,
        expiration_at=later[0].previous_expiration_at if later else policy.expiration_at,
        paid=get_paid_split(sale),
        version_id=sale.product_version_id,
        sold_at=sale.created_at,
    )


def _load_purchases(session: ScopedSession, purchase_ids: Sequence[UUID]) -> dict[UUID, Purchase]:
    found = session.execute(sa.select(Purchase).where(col(Purchase.id).in_(purchase_ids))).scalars()
    return {sale.id: sale for sale in found}


def _load_renewals(session: ScopedSession, policy_ids: Sequence[UUID]) -> dict[UUID, list[Renewal]]:
    query = (
        sa.select(Renewal)
        .where(col(Renewal.policy_id).in_(policy_ids), col(Renewal.status), col(Renewal.deleted_at).is_(None))
        .order_by(col(Renewal.start_at))
    )
    found: dict[UUID, list[Renewal]] = {}
    for renewal in session.execute(query).scalars():
        found.setdefault(renewal.policy_id, []).append(renewal)
    return found


def _build_renewed(renewal: Renewal) -> PaidTerm:
    return PaidTerm(
        start_at=renewal.start_at,
        expiration_at=renewal.expiration_at,
        paid=get_paid_split(renewal),
        version_id=renewal.product_version_id,
        renewal_id=renewal.id,
        sold_at=renewal.created_at,
    )
