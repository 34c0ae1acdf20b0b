"""The catalogue as records, with the rates in force, encoded once until it changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast
from uuid import UUID
from weakref import WeakKeyDictionary

import orjson
import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import UTCDateTime, col

from core import clock, money
from core.covers import ages, pricing, registry
from core.covers.cover import Rates
from core.services.catalogue.shares import (
    Commissions,
    Share,
    divide,
    find_in_force,
    load_confirmed,
)
from core.services.lists import records
from core.services.lists.filters import declaration
from core.services.lists.paging import Page, Paging
from core.services.lists.records import CategoryRecord, CountedCategoryRecord, ProductRecord, ProviderRecord
from core.store.access import AnySelect, PendingRows, Query, ScopedSession
from core.store.schema.tables import Product, ProductBlock, ProductCategory, ProductVersion, Provider


def build_category(row: ProductCategory, *, is_live: bool) -> CategoryRecord:
    """Return the record of a category; categories are shared by both modes, so the mode is the caller's."""
    return {"id": str(row.id), "is_live": is_live, "name": row.name, **records.build_times(row)}


def build_provider(row: Provider) -> ProviderRecord:
    """Return the record of an insurer; its personal numbers are stored masked."""
    copied = {name: getattr(row, name) for name in _PROVIDER_FIELDS}
    ids = {name: records.format_id(getattr(row, name)) for name in ("owner_id", "wallet_id", "bank_account_id")}
    times = records.pick_fields(records.build_times(row), "created_at", "updated_at")
    return cast(ProviderRecord, {"id": str(row.id), **ids, **copied, **times})


_PROVIDER_FIELDS = (
    *("first_name", "last_name", "email", "phone_number", "country", "company_name", "verification_type"),
    *("verification_number", "bvn_number", "verification_images", "business_type", "claim_email", "business_email"),
    *("support_email", "active"),
)
_PRODUCT_FIELDS = (
    *("name", "description", "key_benefits", "full_benefits", "prefix", "route_name", "renewable", "claimable"),
    *("inspectable", "certificateable", "is_dynamic_pricing", "active", "how_it_works", "how_to_claim", "document"),
)


def rates_of(product: Any, version: Any) -> Rates:
    """The rates that one version of a product charges; both are their rows, or one row with the fields of both."""
    return Rates(
        price=money.to_naira(version.price_minor),
        dynamic=product.is_dynamic_pricing,
        cover_months=version.cover_months,
        meta=version.meta,
    )


def _build_meta(row: Product, rates: Rates) -> dict[str, Any]:
    """Build `meta` of a version with derived entries: the minimum age of a life cover, prices by cover period."""
    meta = dict(rates.meta)
    cover = registry.get_cover(row.prefix, row.route_name)
    if cover is not None and cover.life_insured is not None:
        meta[ages.MINIMUM_AGE] = ages.minimum_age(rates.meta)
    stretches = pricing.compute_prices_by_period(rates)
    if stretches is not None:
        meta["mca_price"] = {name: pricing.format_price(price) for name, price in stretches.items()}
    return meta


def build_product(
    row: Product, version: ProductVersion, group: ProductCategory, insurer: Provider, *, is_live: bool
) -> ProductRecord:
    """Return the record of a product with one version of its rates, category and insurer embedded."""
    copied = {name: getattr(row, name) for name in _PRODUCT_FIELDS}
    rates = rates_of(row, version)
    fields = {
        "id": str(row.id),
        "is_live": is_live,
        **copied,
        "meta": _build_meta(row, rates),
        "price": pricing.format_price(pricing.list_price(rates)),
        "distributor_commission_percentage": records.format_percentage(version.distributor_commission_bp),
        "mca_commission_percentage": records.format_percentage(version.mca_commission_bp),
        "cover_period": str(version.cover_months),
        "product_category_id": str(row.product_category_id),
        "provider_id": str(row.provider_id),
        "productCategory": build_category(group, is_live=is_live),
        "provider": build_provider(insurer),
        **records.build_times(row),
    }
    return cast(ProductRecord, fields)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProductFilter:
    """Criteria for the product list; several ids mean any of them (contract P6)."""

    search: str | None = None
    provider_id: UUID | None = None
    category_ids: Sequence[UUID] = ()
    product_ids: Sequence[UUID] = ()


def build_current_query(at: object = None) -> AnySelect:
    """Build the query for products with the rates in force at an instant (default now), category and provider."""
    other = aliased(ProductVersion)
    newest = (
        sa.select(sa.func.max(col(other.effective_at)))
        .where(
            col(other.product_id) == col(Product.id),
            col(other.effective_at) <= (clock.now() if at is None else at),
            col(other.withdrawn_at).is_(None),
            col(other.share_id).is_(None),
        )
        .correlate(Product)
        .scalar_subquery()
    )
    return build_versions_query().where(
        col(ProductVersion.effective_at) == newest,
        col(ProductVersion.withdrawn_at).is_(None),
        col(ProductVersion.share_id).is_(None),
        col(Product.deleted_at).is_(None),
    )


def build_versions_query() -> AnySelect:
    """Build the query for every version of every product, with category and provider."""
    return (
        sa.select(Product, ProductVersion, ProductCategory, Provider)
        .join(ProductVersion, col(ProductVersion.product_id) == col(Product.id))
        .join(ProductCategory, col(ProductCategory.id) == col(Product.product_category_id))
        .join(Provider, col(Provider.id) == col(Product.provider_id))
    )


def exclude_blocked(query: AnySelect, distributor_id: object) -> AnySelect:
    """Leave out of a query the products that are withheld from a distributor."""
    blocked = sa.select(col(ProductBlock.product_id)).where(col(ProductBlock.distributor_id) == distributor_id)
    return query.where(col(Product.id).not_in(blocked))


def list_products(
    session: ScopedSession, criteria: ProductFilter, paging: Paging, *, is_live: bool
) -> Page[ProductRecord]:
    """Return a page of the active products that the session's distributor may sell, by name (contract P2)."""
    query = exclude_blocked(build_current_query(), session.scope.distributor_id).where(col(Product.active))
    if criteria.search:
        pattern = declaration.containing(criteria.search)
        query = query.where(
            sa.func.lower(Product.name).like(pattern, escape="\\")
            | sa.func.lower(Product.description).like(pattern, escape="\\")
        )
    if criteria.provider_id:
        query = query.where(col(Product.provider_id) == criteria.provider_id)
    if criteria.category_ids:
        query = query.where(col(Product.product_category_id).in_(criteria.category_ids))
    if criteria.product_ids:
        query = query.where(col(Product.id).in_(criteria.product_ids))
    total = session.execute(sa.select(sa.func.count()).select_from(query.subquery("matching"))).scalar_one()
    by_name = (sa.func.lower(Product.name), col(Product.id))
    found = session.execute(query.order_by(*by_name).limit(paging.limit).offset(paging.offset))
    shares = _load_own_shares(session)
    return Page([_build_record(row, shares, is_live=is_live) for row in found], total)


def get_product(session: ScopedSession, product_id: UUID, *, is_live: bool) -> ProductRecord:
    """Return one product with its category and provider; NotFound if unknown or withheld from the distributor."""
    query = exclude_blocked(build_current_query(), session.scope.distributor_id).where(col(Product.id) == product_id)
    row = session.find_row(query, otherwise="Product not found")
    return _build_record(row, _load_own_shares(session), is_live=is_live)


def _load_own_shares(session: ScopedSession) -> Sequence[Share]:
    mine = session.scope.distributor_id
    return load_confirmed(session, mine).get(mine, ()) if mine else ()


def _build_record(row: Any, shares: Sequence[Share], *, is_live: bool) -> ProductRecord:
    """Build the record of a product with the commissions of its reader."""
    record, version = build_product(*row, is_live=is_live), row[1]
    own = find_in_force(shares, row[0].id, clock.now())
    if own is not None and own.commission_bp is not None:
        usual = Commissions(version.mca_commission_bp, version.distributor_commission_bp)
        found = divide(usual, own.commission_bp)
        record["mca_commission_percentage"] = records.format_percentage(found.mca_bp)
        record["distributor_commission_percentage"] = records.format_percentage(found.distributor_bp)
    return record


def load_records(session: ScopedSession) -> Mapping[tuple[UUID, bool], ProductRecord]:
    """Return every product record by (id, is_live), active or not, for embedding in other records."""
    rows = session.execute(build_current_query()).all()
    return {(row[0].id, live): build_product(*row, is_live=live) for row in rows for live in (True, False)}


def list_categories(session: ScopedSession, *, is_live: bool) -> list[CountedCategoryRecord]:
    """Every category, by name, each with how many products of it the session's distributor may sell."""
    offered = exclude_blocked(build_current_query(), session.scope.distributor_id).where(col(Product.active))
    per_category = offered.with_only_columns(col(ProductCategory.id), sa.func.count()).group_by(col(ProductCategory.id))
    counts: dict[UUID, int] = {row[0]: row[1] for row in session.execute(per_category)}
    by_name = (sa.func.lower(ProductCategory.name), col(ProductCategory.id))
    rows = session.execute(sa.select(ProductCategory).order_by(*by_name)).scalars()
    return [{**build_category(row, is_live=is_live), "product_count": counts.get(row.id, 0)} for row in rows]


def get_insurer_ids(session: ScopedSession) -> dict[str, UUID]:
    """Return every insurer's id by its path segment ("insurer-a")."""
    rows = session.execute(sa.select(col(Provider.segment), col(Provider.id)).order_by(col(Provider.segment)))
    return {row.segment: row.id for row in rows}


class EncodedProduct(NamedTuple):
    """A product's record and its embedded category and provider, as ready JSON fragments."""

    product: orjson.Fragment
    category: orjson.Fragment
    provider: orjson.Fragment


@dataclass(frozen=True, kw_only=True, slots=True)
class Catalogue:
    """Every product by (id, is_live), active or not, with the rates valid until the next planned change."""

    revision: tuple[Any, ...]
    valid_from: datetime
    valid_until: datetime | None
    records: Mapping[tuple[UUID, bool], ProductRecord]
    encoded: Mapping[tuple[str, bool], EncodedProduct]

    def is_current(self, revision: tuple[Any, ...], at: datetime) -> bool:
        """Return True while nothing changed and no planned rates came into force."""
        return (
            self.revision == revision and self.valid_from <= at and (self.valid_until is None or at < self.valid_until)
        )


# Every change increments a product's version; changes to an insurer always advance its `updated_at`.
_REVISION_QUERY = Query(
    sa.select(
        sa.func.count(),
        sa.func.sum(col(Product.version)),
        sa.select(sa.func.max(col(Provider.updated_at))).scalar_subquery(),
        sa.select(sa.func.count(col(ProductVersion.id)))
        .where(col(ProductVersion.share_id).is_(None))
        .scalar_subquery(),
    ).select_from(Product)
)
_NEXT_CHANGE_QUERY = Query(
    sa.select(sa.func.min(col(ProductVersion.effective_at))).where(
        col(ProductVersion.effective_at) > sa.bindparam("now", type_=UTCDateTime()),
        col(ProductVersion.withdrawn_at).is_(None),
        col(ProductVersion.share_id).is_(None),
    )
)
_catalogues: WeakKeyDictionary[Any, Catalogue] = WeakKeyDictionary()


def submit_revision(session: ScopedSession) -> PendingRows:
    """Submit the query for the catalogue's revision, so that it can be batched with other queries."""
    return _REVISION_QUERY.submit(session)


def get_catalogue(session: ScopedSession, pending: PendingRows | None = None) -> Catalogue:
    """Return the catalogue as of this transaction; `pending` is its pending revision."""
    bind: Any = session.get_bind()
    now = clock.now()
    current_revision = (pending or submit_revision(session)).one
    # Do not cache what a write transaction reads: it may never be committed.
    if bind.get_execution_options().get("write"):
        return _load(session, current_revision, now)
    cached = _catalogues.get(bind.engine.pool)
    if cached is None or not cached.is_current(current_revision, now):
        cached = _catalogues[bind.engine.pool] = _load(session, current_revision, now)
    return cached


def _load(session: ScopedSession, revision: tuple[Any, ...], now: datetime) -> Catalogue:
    records = load_records(session)
    return Catalogue(
        revision=revision,
        valid_from=now,
        valid_until=_NEXT_CHANGE_QUERY.one(session, now=now)[0],
        records=records,
        encoded={(str(key), is_live): _encode(record) for (key, is_live), record in records.items()},
    )


def _encode(record: ProductRecord) -> EncodedProduct:
    parts = (record, record["productCategory"], record["provider"])
    return EncodedProduct(*(orjson.Fragment(orjson.dumps(part)) for part in parts))
