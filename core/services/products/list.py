"""The products screen of admins: current rates, whether active, and planned changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import clock
from core.covers.tariff import Tariff
from core.services import filters
from core.services.address_reader import Address, AddressReader, written
from core.services.paging import Page, Paging
from core.services.products import detail as product_detail
from core.services.products import products
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Product, ProductBlock, ProductCategory, ProductVersion, Provider, RateProposal

Order = Literal["name", "name-back", "insurer", "insurer-back", "category", "category-back"]
_NAME, _KEY = sa.func.lower(col(Product.name)), col(Product.id)
_INSURER, _CATEGORY = sa.func.lower(col(Provider.company_name)), sa.func.lower(col(ProductCategory.name))
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "name": (_NAME, _KEY),
    "name-back": (_NAME.desc(), _KEY),
    "insurer": (_INSURER, _NAME, _KEY),
    "insurer-back": (_INSURER.desc(), _NAME, _KEY),
    "category": (_CATEGORY, _NAME, _KEY),
    "category-back": (_CATEGORY.desc(), _NAME, _KEY),
}
NAMES = ("provider", "category", "on", "q")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductSelection:
    """Filter for products, as carried in a URL: insurers, categories, active or not, and search text."""

    provider: tuple[UUID, ...] = ()
    category: tuple[UUID, ...] = ()
    on: bool | None = None
    q: str = ""

    @classmethod
    def read(cls, address: Address) -> "ProductSelection":
        """Parse the filter from a URL query; InvalidInput names every invalid value."""
        reader = AddressReader(address)
        found = cls(
            provider=reader.ids("provider"),
            category=reader.ids("category"),
            on=reader.flag("on"),
            q=reader.text("q") or "",
        )
        return reader.read(found)

    def address(self) -> dict[str, list[str]]:
        """Return the URL query of this filter; empty parameters are left out."""
        return written(provider=self.provider, category=self.category, on=self.on, q=self.q)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductRow:
    """One row of the products table; `withheld` counts the distributors that may not sell it."""

    id: UUID
    name: str
    insurer: str
    category: str
    endpoint: str
    active: bool
    tariff: Tariff
    withheld: int
    changes_at: datetime | None


def list_products(
    session: ScopedSession, criteria: ProductSelection, paging: Paging, *, order: Order = "name"
) -> Page[ProductRow]:
    """One page of products, and how many there are in all."""
    query = products.build_current_query().where(*_build_conditions(criteria))
    total = session.execute(sa.select(sa.func.count()).select_from(query.subquery("matching"))).scalar_one()
    rows = session.execute(
        query.add_columns(_withheld_count_sql(), _next_change_sql())
        .order_by(*ORDERS[order])
        .limit(paging.limit)
        .offset(paging.offset)
    )
    return Page([_build_row(*row) for row in rows], total)


def _build_conditions(criteria: ProductSelection) -> Sequence[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    if criteria.provider:
        conditions.append(col(Product.provider_id).in_(criteria.provider))
    if criteria.category:
        conditions.append(col(Product.product_category_id).in_(criteria.category))
    if criteria.on is not None:
        conditions.append(col(Product.active).is_(criteria.on))
    if criteria.q:
        searched = sa.func.lower(
            col(Product.name)
            + "\n"
            + col(Provider.company_name)
            + "\n"
            + _endpoint_sql()
            + "\n"
            + col(Product.description)
        )
        conditions.append(searched.like(filters.containing(criteria.q), escape="\\"))
    return conditions


def _endpoint_sql() -> Any:
    return col(Product.prefix) + "/" + col(Product.route_name)


def _withheld_count_sql() -> Any:
    mine = col(ProductBlock.product_id) == col(Product.id)
    return sa.select(sa.func.count()).where(mine).correlate(Product).scalar_subquery()


def _next_change_sql() -> Any:
    other = aliased(ProductVersion)
    return (
        sa.select(sa.func.min(col(other.effective_at)))
        .where(
            col(other.product_id) == col(Product.id),
            col(other.effective_at) > clock.now(),
            col(other.withdrawn_at).is_(None),
        )
        .correlate(Product)
        .scalar_subquery()
    )


def _build_row(
    product: Product,
    version: ProductVersion,
    group: ProductCategory,
    insurer: Provider,
    withheld: int,
    changes_at: datetime | None,
) -> ProductRow:
    return ProductRow(
        id=product.id,
        name=product.name,
        insurer=insurer.company_name,
        category=group.name,
        endpoint=f"{product.prefix}/{product.route_name}".strip("/"),
        active=product.active,
        tariff=product_detail.build_tariff(product, version),
        withheld=withheld,
        changes_at=changes_at,
    )


def proposed(session: ScopedSession) -> list[tuple[UUID, str]]:
    """The products with a change of rates that waits for a second admin, the longest first."""
    query = sa.select(col(Product.id), col(Product.name)).join(
        RateProposal, col(RateProposal.product_id) == col(Product.id)
    )
    query = query.where(col(RateProposal.state) == "open").order_by(col(RateProposal.proposed_at))
    return [(row.id, row.name) for row in session.execute(query)]


def load_choices(session: ScopedSession) -> tuple[dict[UUID, str], dict[UUID, str]]:
    """Return the insurers and the categories to choose from: names by id."""
    insurers, categories = ({row[0]: row[1] for row in session.execute(query)} for query in _build_name_queries())
    return insurers, categories


def _build_name_queries() -> tuple[AnySelect, AnySelect]:
    return (
        sa.select(col(Provider.id), col(Provider.company_name)).order_by(sa.func.lower(col(Provider.company_name))),
        sa.select(col(ProductCategory.id), col(ProductCategory.name)).order_by(col(ProductCategory.name)),
    )
