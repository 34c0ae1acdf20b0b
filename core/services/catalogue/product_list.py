"""Products for admins: the list with planned changes, and one with its fields, rates and distributors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core import clock, money
from core.covers.cover import Cover, Price
from core.covers.registry import get_cover
from core.covers.tariff import EditableTariff, Tariff
from core.money import Split
from core.services.catalogue import products
from core.services.lists.filters import declaration
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Condition, Flag, Text, members_of
from core.services.lists.paging import Page, Paging
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import (
    Distributor,
    Product,
    ProductBlock,
    ProductCategory,
    ProductVersion,
    Provider,
    RateProposal,
    Staff,
)


def split_price(price: Price, tariff: Tariff) -> Split:
    """Split the total of a price by these commissions, in kobo."""
    return money.split(money.to_minor(price.total), mca_bp=tariff.mca_bp, distributor_bp=tariff.distributor_bp)


State = Literal["Past", "In force", "Planned", "Withdrawn"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RatesVersion:
    """One version of a product's rates and its effective date."""

    id: UUID
    effective_at: datetime
    created_at: datetime
    withdrawn_at: datetime | None
    tariff: Tariff
    state: State


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """Rates that one admin proposes, and that hold from an instant on once another has confirmed them."""

    id: UUID
    effective_at: datetime
    tariff: Tariff
    proposed_by: UUID
    proposer: str
    proposed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductSeller:
    """A distributor, and whether the product is withheld from it."""

    id: UUID
    name: str
    active: bool
    blocked: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductDetail:
    """A product; `versions` are newest first, `version` is what the next change has to name.

    `proposal` is the change that waits for a second admin, if there is one.
    """

    id: UUID
    name: str
    insurer: str
    category: str
    prefix: str
    route_name: str
    active: bool
    renewable: bool
    claimable: bool
    inspectable: bool
    is_dynamic_pricing: bool
    description: str
    key_benefits: str
    how_it_works: str | None
    how_to_claim: str | None
    version: int
    updated_at: datetime
    versions: Sequence[RatesVersion]
    proposal: Proposal | None
    sellers: Sequence[ProductSeller]

    @property
    def cover(self) -> Cover[Any] | None:
        """The cover that sells it; None if no endpoint does."""
        return get_cover(self.prefix, self.route_name)

    @property
    def endpoint(self) -> str:
        """The endpoint that sells it: "insurer-a/buy-thirdparty"."""
        return "/".join(part for part in (self.prefix, self.route_name) if part)

    @property
    def in_force(self) -> RatesVersion:
        """The current rates."""
        return next(version for version in self.versions if version.state == "In force")

    @property
    def planned_changes(self) -> list[RatesVersion]:
        """The planned changes, the next one first."""
        return [version for version in reversed(self.versions) if version.state == "Planned"]

    @property
    def latest(self) -> RatesVersion:
        """The last planned rates, or the current ones: the starting point of a new change."""
        return (self.planned_changes or [self.in_force])[-1]

    def get_rates_at(self, instant: datetime) -> RatesVersion:
        """Return the rates at an instant."""
        effective = [version for version in self.versions if version.withdrawn_at is None]
        return next((version for version in effective if version.effective_at <= instant), effective[-1])

    def get_editable_tariff(self, version: RatesVersion | Proposal) -> EditableTariff:
        """The figures of one of its versions, or of a proposal, to change or compare them."""
        return EditableTariff(tariff=version.tariff, cover=self.cover, renewable=self.renewable)


def get_product(session: ScopedSession, product_id: UUID) -> ProductDetail:
    """Return a product, active or not; NotFound if unknown."""
    query = (
        sa.select(Product, col(Provider.company_name), col(ProductCategory.name))
        .join(Provider, col(Provider.id) == col(Product.provider_id))
        .join(ProductCategory, col(ProductCategory.id) == col(Product.product_category_id))
        .where(col(Product.id) == product_id, col(Product.deleted_at).is_(None))
    )
    product, insurer, category = session.find_row(query, otherwise="There is no such product")
    return build_row(
        ProductDetail,
        product,
        insurer=insurer,
        category=category,
        versions=list_versions(session, product),
        proposal=_proposal(session, product),
        sellers=_list_sellers(session, product_id),
    )


def list_versions(session: ScopedSession, product: Product) -> list[RatesVersion]:
    """Return all versions of a product's rates, newest first."""
    rows = session.execute(
        sa.select(ProductVersion)
        .where(col(ProductVersion.product_id) == product.id, col(ProductVersion.share_id).is_(None))
        .order_by(col(ProductVersion.effective_at).desc(), col(ProductVersion.created_at).desc())
    ).scalars()
    result: list[RatesVersion] = []
    for row in rows:
        has_current = any(earlier.state == "In force" for earlier in result)
        state = _get_state(row, has_current=has_current)
        result.append(build_row(RatesVersion, row, tariff=build_tariff(product, row), state=state))
    return result


def _proposal(session: ScopedSession, product: Product) -> Proposal | None:
    query = sa.select(RateProposal, col(Staff.name)).join(Staff, col(Staff.id) == col(RateProposal.proposed_by))
    query = query.where(col(RateProposal.product_id) == product.id, col(RateProposal.state) == "open")
    found = session.execute(query).one_or_none()
    if found is None:
        return None
    row, proposer = found
    return build_row(Proposal, row, proposer=proposer, tariff=build_tariff(product, row))


def build_tariff(product: Product, row: ProductVersion | RateProposal) -> Tariff:
    """Build the tariff of a product version or of a proposal."""
    return Tariff(
        price=money.to_naira(row.price_minor),
        dynamic=product.is_dynamic_pricing,
        mca_commission=money.to_naira(row.mca_commission_bp),
        distributor_commission=money.to_naira(row.distributor_commission_bp),
        cover_months=row.cover_months,
        meta=row.meta,
    )


def _get_state(row: ProductVersion, *, has_current: bool) -> State:
    """Return the state of a version; `has_current` is True if a newer version is in force already."""
    if row.withdrawn_at is not None:
        return "Withdrawn"
    if row.effective_at > clock.now():
        return "Planned"
    return "Past" if has_current else "In force"


def _list_sellers(session: ScopedSession, product_id: UUID) -> list[ProductSeller]:
    off = sa.and_(col(ProductBlock.distributor_id) == col(Distributor.id), col(ProductBlock.product_id) == product_id)
    rows = session.execute(
        sa.select(
            col(Distributor.id),
            col(Distributor.business_name),
            col(Distributor.active),
            col(ProductBlock.product_id).is_not(None).label("blocked"),
        )
        .outerjoin(ProductBlock, off)
        .where(col(Distributor.deleted_at).is_(None))
        .order_by(sa.func.lower(col(Distributor.business_name)))
    )
    return [
        ProductSeller(id=row.id, name=row.business_name, active=row.active, blocked=bool(row.blocked)) for row in rows
    ]


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
    return searched.like(declaration.containing(text), escape="\\")


class ProductFilter(Filter, on=(Product,)):
    """Filter of the list of products."""

    q: str | None = of(
        Text,
        label="Find",
        column=_mentions,
        address="q",
        placeholder="Product, insurer or endpoint",
        longest=100,
        searches=True,
        place="search",
    )
    provider: Ids = of(members_of, "provider")
    category: Ids = of(members_of, "category")
    on: bool | None = of(Flag, label="Sold", column="active", address="on", options={"true": "On sale", "false": "Off"})


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
        tariff=build_tariff(product, version),
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


def get_names(session: ScopedSession) -> dict[UUID, str]:
    """Return the name of every product, switched off or not, by its id, in the order of the names."""
    query = sa.select(col(Product.id), col(Product.name)).where(col(Product.deleted_at).is_(None))
    return {row.id: row.name for row in session.execute(query.order_by(sa.func.lower(col(Product.name))))}
