"""Dimensions that sales are filtered and split by (insurer, category, product, distributor), with their names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Product, ProductCategory, Provider

Dimension = Literal["provider", "category", "product", "distributor"]
UNKNOWN = "Unknown"
DIMENSIONS: tuple[Dimension, ...] = ("provider", "category", "product", "distributor")


@dataclass(frozen=True, slots=True)
class Choices:
    """Names by id for each dimension, sorted by name, and the insurer and category of each product."""

    names: Mapping[Dimension, Mapping[UUID, str]]
    provider_of: Mapping[UUID, UUID]
    category_of: Mapping[UUID, UUID]

    def get_member(self, dimension: Dimension, product_id: UUID, distributor_id: UUID) -> UUID:
        """Return the member of a dimension that a sale of this product and distributor belongs to."""
        if dimension == "distributor":
            return distributor_id
        parents = {"provider": self.provider_of, "category": self.category_of}.get(dimension, {})
        return parents.get(product_id, product_id)

    def get_positions(self, dimension: Dimension) -> Mapping[UUID, int]:
        """Return a fixed position per member, by id: ids grow with time, so new or renamed members move no other."""
        return {key: place for place, key in enumerate(sorted(self.names[dimension]))}

    def get_names_of_sale(self, product_id: UUID, distributor_id: UUID) -> tuple[str, str, str, str]:
        """Return the names of a sale's distributor, insurer, product and category."""
        members = {dimension: self.get_member(dimension, product_id, distributor_id) for dimension in DIMENSIONS}
        order: tuple[Dimension, ...] = ("distributor", "provider", "product", "category")
        distributor, provider, product, category = (self.names[name].get(members[name], UNKNOWN) for name in order)
        return distributor, provider, product, category


def load_choices(session: ScopedSession) -> Choices:
    """Load all members of every dimension, sold or not."""
    products = session.execute(
        sa.select(col(Product.id), col(Product.name), col(Product.provider_id), col(Product.product_category_id))
    ).all()
    return Choices(
        names={
            "provider": _load_names(session, Provider.id, Provider.company_name),
            "category": _load_names(session, ProductCategory.id, ProductCategory.name),
            "product": {row.id: row.name for row in sorted(products, key=lambda row: row.name.lower())},
            "distributor": _load_names(session, Distributor.id, Distributor.business_name),
        },
        provider_of={row.id: row.provider_id for row in products},
        category_of={row.id: row.product_category_id for row in products},
    )


def _load_names(session: ScopedSession, key: object, name: object) -> dict[UUID, str]:
    rows = sorted(session.execute(sa.select(col(key), col(name))), key=lambda row: row[1].lower())
    return dict(iter(rows))
