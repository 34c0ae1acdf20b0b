"""Refunds of a term: join conditions to its purchase or renewal, and sums."""

from collections.abc import Collection
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.money import Split
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Purchase, Refund, Renewal

OF_PURCHASE = sa.and_(col(Refund.purchase_id) == col(Purchase.id), col(Refund.renewal_id).is_(None))
OF_RENEWAL = col(Refund.renewal_id) == col(Renewal.id)
_AMOUNTS = (Refund.total_minor, Refund.mca_profit_minor, Refund.distributor_profit_minor)
SUMS: AnySelect = sa.select(*(sa.func.coalesce(sa.func.sum(col(amount)), 0) for amount in _AMOUNTS))


def of_purchases(session: ScopedSession, purchase_ids: Collection[UUID]) -> dict[UUID, int]:
    """Return what was refunded of each of these purchases, in kobo, without the refunds of their renewals."""
    query = (
        sa.select(col(Refund.purchase_id), sa.func.sum(col(Refund.total_minor)))
        .where(col(Refund.purchase_id).in_(purchase_ids), col(Refund.renewal_id).is_(None))
        .group_by(col(Refund.purchase_id))
    )
    return {key: int(minor) for key, minor in session.execute(query)}


def together(session: ScopedSession, query: AnySelect) -> Split:
    """The sum of the refunds that a statement made from `SUMS` matches."""
    return Split(*map(int, session.execute(query.select_from(Refund)).one()))
