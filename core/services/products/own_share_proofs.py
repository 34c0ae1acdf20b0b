"""Checks of own commission shares in `coverdesk check`: what was agreed is what was sold by (contract F2)."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.services.products import own_shares
from core.store.access import ScopedSession
from core.store.schema.tables import CommissionShare, ProductVersion, Purchase, Renewal

# A sale reads its rates before it is dated: one in flight at midnight may have the share of the day before.
_IN_FLIGHT: Final = timedelta(minutes=1)


def find_share_faults(session: ScopedSession) -> Iterator[str]:
    """Versions that are not their product's with an own share, and sales by a share that was not the seller's."""
    if wrong := session.execute(_count(_find_wrong_versions())).scalar_one():
        yield f"{wrong:,} rates of one distributor that are not the product's with the share that was agreed"
    for entity, name in ((Purchase, "purchases"), (Renewal, "renewals")):
        if wrong := session.execute(_count(_find_foreign(entity))).scalar_one():
            yield f"{wrong:,} {name} by the commission share of another distributor"
    confirmed = own_shares.load_confirmed(session)
    for row in session.execute(_find_otherwise_sold()):
        before = own_shares.find_in_force(confirmed[row.distributor_id], row.product_id, row.created_at - _IN_FLIGHT)
        if (before.id if before else None) != row.share_id:
            yield f"purchase {row.id} was not sold by the commission share that its distributor had then"


def _find_wrong_versions() -> Any:
    base = aliased(ProductVersion)
    version, share = ProductVersion, CommissionShare
    both = col(base.mca_commission_bp) + col(base.distributor_commission_bp)
    own = sa.case((col(share.commission_bp) > both, both), else_=col(share.commission_bp))
    same = [
        *(col(getattr(version, name)) == col(getattr(base, name)) for name in ("product_id", "price_minor")),
        col(version.cover_months) == col(base.cover_months),
        col(version.distributor_commission_bp) == own,
        col(version.mca_commission_bp) == both - own,
        col(base.share_id).is_(None),
        col(share.state) == "confirmed",
        sa.or_(col(share.product_id).is_(None), col(share.product_id) == col(version.product_id)),
    ]
    right = sa.select(col(version.id)).join(base, col(base.id) == col(version.base_id))
    right = right.join(share, col(share.id) == col(version.share_id)).where(*same)
    of_one = sa.or_(col(version.share_id).is_not(None), col(version.base_id).is_not(None))
    return sa.select(col(version.id)).where(of_one, col(version.id).not_in(right))


def _find_foreign(entity: type[Purchase] | type[Renewal]) -> Any:
    return (
        sa.select(col(entity.id))
        .join(ProductVersion, col(ProductVersion.id) == col(entity.product_version_id))
        .join(CommissionShare, col(CommissionShare.id) == col(ProductVersion.share_id))
        .where(col(CommissionShare.distributor_id) != col(entity.distributor_id))
    )


def _find_otherwise_sold() -> Any:
    """Build the query of purchases that refer to another share than the one that held, if any did."""
    columns = (Purchase.id, Purchase.distributor_id, Purchase.product_id, Purchase.created_at, ProductVersion.share_id)
    held = own_shares.build_share_id(
        col(Purchase.distributor_id), col(Purchase.product_id), col(Purchase.created_at), within=Purchase
    )
    having = sa.select(col(CommissionShare.distributor_id)).where(col(CommissionShare.state) == "confirmed")
    return (
        sa.select(*map(col, columns))
        .join(ProductVersion, col(ProductVersion.id) == col(Purchase.product_version_id))
        .where(col(Purchase.distributor_id).in_(having), held.is_distinct_from(col(ProductVersion.share_id)))
    )


def _count(query: Any) -> Any:
    return sa.select(sa.func.count()).select_from(query.subquery())
