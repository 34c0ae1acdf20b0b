"""The shipped catalogue: loaded into a store once, never overwriting later changes."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from core import money, seal
from core.settings import ROOT
from core.store.access import ScopedSession
from core.store.schema.tables import Product, ProductCategory, ProductVersion, Provider

SHIPPED_FOLDER = ROOT / "data" / "catalogue"
SHIPPED_AT = datetime(2024, 1, 1, tzinfo=UTC)
_RATE_FIELDS = {"price", "distributor_commission_percentage", "mca_commission_percentage", "cover_period", "meta"}
_ID_FIELDS = ("id", "owner_id", "wallet_id", "bank_account_id")
_PERSONAL_FIELDS = ("verification_number", "bvn_number")


def load_catalogue(session: ScopedSession) -> int:
    """Insert shipped records that the store lacks; returns how many were new."""
    return sum(session.insert_if_absent(row) for row in build_rows())


def build_rows() -> list[Any]:
    """Return insurers, categories, and products with their first versions, in foreign-key order."""
    providers, categories, products = (
        _read_json(SHIPPED_FOLDER / f"{name}.json") for name in ("providers", "categories", "products")
    )
    provider_ids = {row["segment"]: UUID(row["id"]) for row in providers}
    category_ids = {row["name"]: UUID(row["id"]) for row in categories}
    rows: list[Any] = [_build_provider(row) for row in providers]
    rows += [ProductCategory(id=category_ids[row["name"]], name=row["name"], **_TIMES) for row in categories]
    for row in products:
        rows += _build_product(row, provider_ids[row["provider"]], category_ids[row["category"]])
    return rows


def build_first_id(product_id: UUID) -> UUID:
    """Return the id of the rates that a product was shipped with."""
    return uuid5(product_id, "first version")


_TIMES: dict[str, Any] = {"created_at": SHIPPED_AT, "updated_at": SHIPPED_AT}


def _read_json(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def _build_provider(row: dict[str, Any]) -> Provider:
    numbers = {name: row[name] for name in _PERSONAL_FIELDS if row.get(name)}
    masked = {name: seal.mask(value) for name, value in numbers.items()}
    ids = {name: UUID(row[name]) for name in _ID_FIELDS if row.get(name)}
    return Provider(**{**row, **masked, **ids}, sealed=seal.seal(numbers), **_TIMES)


def _build_product(row: dict[str, Any], provider_id: UUID, category_id: UUID) -> list[Product | ProductVersion]:
    product_id = UUID(row["id"])
    facts = {n: v for n, v in row.items() if n not in _RATE_FIELDS | {"id", "provider", "category"}}
    product = Product(id=product_id, provider_id=provider_id, product_category_id=category_id, **facts, **_TIMES)
    version = ProductVersion(
        id=build_first_id(product_id),
        product_id=product_id,
        effective_at=SHIPPED_AT,
        price_minor=money.to_minor(Decimal(row["price"])),
        mca_commission_bp=money.to_minor(Decimal(row["mca_commission_percentage"])),
        distributor_commission_bp=money.to_minor(Decimal(row["distributor_commission_percentage"])),
        cover_months=int(row["cover_period"]),
        meta=row["meta"],
        created_at=SHIPPED_AT,
    )
    return [product, version]
