"""Shares of a distributor's own: found for a sale, kept by version, and checked against what was sold."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import clock, ids
from core.store.access import ScopedSession
from core.store.schema.tables import CommissionShare, ProductVersion, Purchase, Renewal

_FIGURES = ("product_id", "price_minor", "cover_months", "meta")


class Share(NamedTuple):
    """One confirmed share: `commission_bp` None ends what was agreed, `product_id` None is for every product."""

    id: UUID
    product_id: UUID | None
    effective_at: datetime
    commission_bp: int | None
    decided_at: datetime


class Commissions(NamedTuple):
    """Both commissions of a sale, in basis points of the premium."""

    mca_bp: int
    distributor_bp: int


class Excess(NamedTuple):
    """An own share that is above what is available of a product."""

    commission_bp: int
    available_bp: int


def divide(product: Commissions, own_bp: int) -> Commissions:
    """Divide both commissions of a product anew: the distributor has its own share, the platform the rest."""
    total = product.mca_bp + product.distributor_bp
    return Commissions(total - min(own_bp, total), min(own_bp, total))


def build_share_id(distributor_id: Any, product_id: Any, at: Any, *, within: Any) -> sa.ColumnElement[Any]:
    """Build the SQL of the id of the own share that holds; the values are parameters, or columns of `within`."""
    return sa.func.coalesce(
        _newest(col(CommissionShare.product_id) == product_id, distributor_id, at).correlate(within).scalar_subquery(),
        _newest(col(CommissionShare.product_id).is_(None), distributor_id, at).correlate(within).scalar_subquery(),
        type_=sa.Uuid(),
    )


def _newest(of_product: sa.ColumnElement[bool], distributor_id: Any, at: Any) -> sa.Select[Any]:
    ends = col(CommissionShare.commission_bp).is_(None)
    return (
        sa.select(sa.case((ends, sa.null()), else_=col(CommissionShare.id)))
        .where(
            col(CommissionShare.distributor_id) == distributor_id,
            of_product,
            # Written out, as the bounds below: a compiled query has no values of its own.
            col(CommissionShare.state) == sa.literal_column("'confirmed'"),
            col(CommissionShare.effective_at) <= at,
        )
        .order_by(col(CommissionShare.effective_at).desc(), col(CommissionShare.decided_at).desc())
        .limit(sa.literal_column("1"))
        .offset(sa.literal_column("0"))
    )


def get_commissions(session: ScopedSession, share_id: UUID, product: Commissions) -> Commissions:
    """Return the commissions of a product under one own share."""
    query = sa.select(col(CommissionShare.commission_bp)).where(col(CommissionShare.id) == share_id)
    return divide(product, session.execute(query).scalar_one())


def get_or_create_version(session: ScopedSession, base_id: UUID, share_id: UUID | None) -> UUID:
    """Return the version of rates that a sale refers to: `base_id`, or that with an own share, which it then makes."""
    if share_id is None:
        return base_id
    mine = (col(ProductVersion.base_id) == base_id, col(ProductVersion.share_id) == share_id)
    query = sa.select(col(ProductVersion.id)).where(*mine)
    found: UUID | None = session.execute(query).scalar_one_or_none()
    if found is not None:
        return found
    made = _build_version(session, base_id, share_id)
    return made.id if session.insert_if_absent(made) else session.execute(query).scalar_one()


def _build_version(session: ScopedSession, base_id: UUID, share_id: UUID) -> ProductVersion:
    base, share = session.get_one(ProductVersion, base_id), session.get_one(CommissionShare, share_id)
    usual = Commissions(base.mca_commission_bp, base.distributor_commission_bp)
    commissions = get_commissions(session, share_id, usual)
    return ProductVersion(
        id=ids.new(),
        **{name: getattr(base, name) for name in _FIGURES},
        effective_at=max(base.effective_at, share.effective_at),
        mca_commission_bp=commissions.mca_bp,
        distributor_commission_bp=commissions.distributor_bp,
        created_at=clock.now(),
        base_id=base_id,
        share_id=share_id,
    )


def find_in_force(shares: Iterable[Share], product_id: UUID, at: datetime) -> Share | None:
    """Return the share of one distributor that holds for a product: the newest for it, else the newest for all."""
    held = list(shares)
    for owner in (product_id, None):
        newest = find_newest(held, owner, at)
        if newest and newest.commission_bp is not None:
            return newest
    return None


def find_newest(shares: Iterable[Share], product_id: UUID | None, at: datetime) -> Share | None:
    """Return the newest share that has begun for exactly this product, or for all where it is None."""
    begun = [share for share in shares if share.product_id == product_id and share.effective_at <= at]
    return max(begun, key=lambda share: (share.effective_at, share.decided_at), default=None)


def find_excess(
    shares: Sequence[Share], available: Sequence[tuple[datetime, int]], product_id: UUID, since: datetime
) -> Excess | None:
    """Return the first share from an instant on that is above what is available of a product; None if none is.

    `available` are the effective instants of the product's versions, each with both commissions together.
    """
    later = {*(share.effective_at for share in shares), *(at for at, _ in available)}
    for at in sorted({since, *(instant for instant in later if instant > since)}):
        share = find_in_force(shares, product_id, at)
        begun = [version for version in available if version[0] <= at]
        if share and share.commission_bp is not None and begun and share.commission_bp > max(begun)[1]:
            return Excess(share.commission_bp, max(begun)[1])
    return None


def load_confirmed(session: ScopedSession, distributor_id: UUID | None = None) -> dict[UUID, list[Share]]:
    """Return the confirmed shares of one distributor, or of all, by distributor."""
    found: dict[UUID, list[Share]] = {}
    columns = (col(CommissionShare.distributor_id), *(col(getattr(CommissionShare, name)) for name in Share._fields))
    query = sa.select(*columns).where(col(CommissionShare.state) == "confirmed")
    if distributor_id:
        query = query.where(col(CommissionShare.distributor_id) == distributor_id)
    for row in session.execute(query):
        found.setdefault(row[0], []).append(Share(*row[1:]))
    return found


# Checks of own commission shares in `coverdesk check`: what was agreed is what was sold by (contract F2).

# A sale reads its rates before it is dated: one in flight at midnight may have the share of the day before.
_IN_FLIGHT: Final = timedelta(minutes=1)


def find_share_faults(session: ScopedSession) -> Iterator[str]:
    """Versions that are not their product's with an own share, and sales by a share that was not the seller's."""
    if wrong := session.execute(_count(_find_wrong_versions())).scalar_one():
        yield f"{wrong:,} rates of one distributor that are not the product's with the share that was agreed"
    for entity, name in ((Purchase, "purchases"), (Renewal, "renewals")):
        if wrong := session.execute(_count(_find_foreign(entity))).scalar_one():
            yield f"{wrong:,} {name} by the commission share of another distributor"
    confirmed = load_confirmed(session)
    for row in session.execute(_find_otherwise_sold()):
        before = find_in_force(confirmed[row.distributor_id], row.product_id, row.created_at - _IN_FLIGHT)
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
    held = build_share_id(
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
