"""The products screen of admins: current rates, whether active, and planned changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import clock
from core.covers.tariff import Tariff
from core.services.catalogue import product_detail, products
from core.services.lists.filters import expressions
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Condition, Flag, Text, members_of
from core.services.lists.paging import Page, Paging
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


def _mentions(_: Any, text: str) -> Condition:
    endpoint = col(Product.prefix) + "/" + col(Product.route_name)
    parts = (col(Product.name), col(Provider.company_name), endpoint, col(Product.description))
    searched = sa.func.lower(reduce(lambda whole, part: whole + "\n" + part, parts))
    return searched.like(expressions.containing(text), escape="\\")


class ProductFilter(Filter, on=(Product,)):
    """Filter of the list of products."""

    q: str | None = of(
        Text(
            label="Find",
            column=_mentions,
            address="q",
            placeholder="Name or endpoint",
            longest=100,
            searches=True,
        )
    )
    provider: Ids = of(members_of("provider"))
    category: Ids = of(members_of("category"))
    on: bool | None = of(Flag(label="Sold", column="active", address="on", options={"true": "On sale", "false": "Off"}))


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
    session: ScopedSession, criteria: ProductFilter, paging: Paging, *, order: Order = "name"
) -> Page[ProductRow]:
    """One page of products, and how many there are in all."""
    query = products.build_current_query().where(*criteria.conditions(Product))
    total = session.execute(sa.select(sa.func.count()).select_from(query.subquery("matching"))).scalar_one()
    rows = session.execute(
        query.add_columns(_withheld_count_sql(), _next_change_sql())
        .order_by(*ORDERS[order])
        .limit(paging.limit)
        .offset(paging.offset)
    )
    return Page([_build_row(*row) for row in rows], total)


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
            col(other.share_id).is_(None),
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


def list_proposed(session: ScopedSession) -> list[tuple[UUID, str]]:
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


def get_names(session: ScopedSession) -> dict[UUID, str]:
    """Return the name of every product, switched off or not, by its id, in the order of the names."""
    query = sa.select(col(Product.id), col(Product.name)).where(col(Product.deleted_at).is_(None))
    return {row.id: row.name for row in session.execute(query.order_by(sa.func.lower(col(Product.name))))}
