"""API records of products, categories and insurers."""

from typing import Any, cast

from core import money
from core.covers import ages, list_prices, registry
from core.covers.cover import Rates
from core.services import records
from core.services.shapes import CategoryRecord, ProductRecord, ProviderRecord
from core.store.schema.tables import Product, ProductCategory, ProductVersion, Provider


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
    "first_name",
    "last_name",
    "email",
    "phone_number",
    "country",
    "company_name",
    "verification_type",
    "verification_number",
    "bvn_number",
    "verification_images",
    "business_type",
    "claim_email",
    "business_email",
    "support_email",
    "active",
)
_PRODUCT_FIELDS = (
    "name",
    "description",
    "key_benefits",
    "full_benefits",
    "prefix",
    "route_name",
    "renewable",
    "claimable",
    "inspectable",
    "certificateable",
    "is_dynamic_pricing",
    "active",
    "how_it_works",
    "how_to_claim",
    "document",
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
    stretches = list_prices.compute_prices_by_period(rates)
    if stretches is not None:
        meta["mca_price"] = {name: list_prices.format_price(price) for name, price in stretches.items()}
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
        "price": list_prices.format_price(list_prices.list_price(rates)),
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
