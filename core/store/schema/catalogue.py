"""The catalogue: categories, products, and the dated versions of their prices and rates."""

from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.store.schema.columns import (
    Proposed,
    Record,
    Row,
    index_where,
    json_field,
    minor_field,
    one_open,
    proposal_checks,
)


class ProductCategory(Record, table=True):
    """A class of business, such as Auto or Credit Life."""

    name: str = Field(unique=True, max_length=60)


class Product(Record, table=True):
    """A product of one insurer; `prefix` and `route_name` name its buy endpoint (contract S3)."""

    provider_id: UUID = Field(foreign_key="provider.id", index=True)
    product_category_id: UUID = Field(foreign_key="product_category.id", index=True)
    name: str = Field(max_length=120)
    description: str
    key_benefits: str
    full_benefits: Any = json_field(list)
    prefix: str = Field(max_length=20)
    route_name: str = Field(max_length=60)
    renewable: bool
    claimable: bool
    inspectable: bool
    certificateable: bool
    is_dynamic_pricing: bool
    active: bool = True
    how_it_works: str | None = None
    how_to_claim: str | None = None
    document: str | None = None
    version: int = 1


class ProductVersion(Row, table=True):
    """Prices, rates and commissions from an instant on; a sold policy keeps the version it was sold at.

    `price_minor` is kobo, or hundredths of a percent when the product prices dynamically. A version never
    changes; one that was only planned can be withdrawn, and is then as if it had never been.
    With `share_id` it is the version `base_id` with the commissions that one distributor has agreed, made by the first
    sale that needs it, and holds for nobody else.
    """

    __table_args__ = (
        index_where(
            sa.text("withdrawn_at IS NULL AND share_id IS NULL"),
            "ix_product_version_in_force",
            "product_id",
            "effective_at",
            unique=True,
        ),
        sa.Index("ix_product_version_of_share", "base_id", "share_id", unique=True),
        sa.CheckConstraint("price_minor >= 0", name="price"),
        sa.CheckConstraint(
            "mca_commission_bp >= 0 AND distributor_commission_bp >= 0"
            " AND mca_commission_bp + distributor_commission_bp <= 10000",
            name="commissions",
        ),
    )
    id: UUID = Field(primary_key=True)
    product_id: UUID = Field(foreign_key="product.id")
    effective_at: datetime
    price_minor: int = minor_field()
    mca_commission_bp: int
    distributor_commission_bp: int
    cover_months: int
    meta: dict[str, Any] = json_field()
    created_at: datetime
    withdrawn_at: datetime | None = None
    # No foreign keys: SQLite adds none to a table that exists, and `coverdesk check` looks after both.
    base_id: UUID | None = None
    share_id: UUID | None = None


class RateProposal(Proposed, table=True):
    """Rates that one admin proposes and another confirms; its figures never change, and it is decided once.

    A confirmed one has made the version `version_id`. Figures are those of `ProductVersion`.
    """

    __table_args__ = (
        one_open("rate_proposal", "product_id"),
        *proposal_checks(),
        sa.CheckConstraint("(state = 'confirmed') = (version_id IS NOT NULL)", name="version"),
    )
    id: UUID = Field(primary_key=True)
    product_id: UUID = Field(foreign_key="product.id")
    effective_at: datetime
    price_minor: int = minor_field()
    mca_commission_bp: int
    distributor_commission_bp: int
    cover_months: int
    meta: dict[str, Any] = json_field()
    reason: str | None = None
    version_id: UUID | None = Field(default=None, foreign_key="product_version.id")


class CommissionShare(Proposed, table=True):
    """Commission that one distributor has of a product, or of all, from an instant on instead of the product's.

    One admin proposes it and another confirms it; its figures never change, and it is decided once. Without
    `commission_bp` it ends what was agreed before, without `product_id` it holds for every product.
    """

    __table_args__ = (
        one_open("commission_share", "distributor_id"),
        sa.Index("ix_commission_share_in_force", "distributor_id", "product_id", "effective_at"),
        *proposal_checks(),
        sa.CheckConstraint("commission_bp BETWEEN 0 AND 10000", name="commission"),
    )
    id: UUID = Field(primary_key=True)
    distributor_id: UUID = Field(foreign_key="distributor.id")
    product_id: UUID | None = Field(default=None, foreign_key="product.id")
    effective_at: datetime
    commission_bp: int | None = None


class ProductBlock(Row, table=True):
    """A product that is switched off for one distributor (contract M2)."""

    product_id: UUID = Field(foreign_key="product.id", primary_key=True)
    distributor_id: UUID = Field(foreign_key="distributor.id", primary_key=True)
    created_at: datetime
