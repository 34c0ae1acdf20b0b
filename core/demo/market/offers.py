"""The offers of the demonstration: the products of the store with their weights."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from random import Random
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import registry
from core.covers.cover import Cover, Rates
from core.demo.bulk_rows import Values
from core.demo.sales import requests
from core.demo.sales.requests import Splitting, Variant
from core.money import Split
from core.store.access import ScopedSession
from core.store.schema.catalogue import Product, ProductVersion
from core.store.schema.parties import Provider

_VARIANTS = 40
# Products of the shipped catalogue by the end of their id: the group they belong to, and their share of it all.
_WANTED: Mapping[str, tuple[str, float]] = {
    "010101": ("comprehensive", 2.6),
    "010102": ("comprehensive", 0.6),
    "010201": ("auto", 14),
    "010202": ("auto", 1.8),
    "010203": ("auto", 0.6),
    "010204": ("auto", 0.9),
    "010205": ("auto", 0.3),
    "010206": ("auto", 3.2),
    "010207": ("auto", 4.2),
    "020101": ("content", 0.9),
    "020201": ("content", 1.9),
    "020301": ("content", 1.6),
    "020401": ("auto", 4.5),
    "020501": ("comprehensive", 1.2),
    "020601": ("gadget", 3.2),
    "030101": ("travel", 3.6),
    "030102": ("travel", 1.2),
    "040101": ("mini", 3.0),
    "040102": ("mini", 1.3),
    "050101": ("marine", 0.25),
    "050102": ("marine", 0.12),
    "060101": ("personal accident", 4.5),
    "060102": ("personal accident", 1.7),
    "070101": ("personal accident", 6.0),
    "080101": ("credit life", 17),
    "080102": ("credit life", 4.0),
    "080103": ("credit life", 2.6),
}
_SELDOM = ("other", 0.3)


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """A product with its rates, and the requests for it that were made up so far."""

    ids: Values
    product_id: str
    title: str
    group: str
    wanted: float
    sold_today: bool
    segment: str
    series: str
    renewable: bool
    split: Splitting
    refund_split: Callable[[int, Split], Split]
    rates: Rates
    endpoint: tuple[str, str]
    until: datetime
    made: list[Variant] = field(default_factory=list)

    @property
    def cover(self) -> Cover[Any] | None:
        """The cover that sells it; none for what is no longer sold."""
        return registry.get_cover(*self.endpoint)

    def variant(self, dice: Random) -> Variant:
        """A request for this product; after enough different ones they come again."""
        if len(self.made) == _VARIANTS:
            return dice.choice(self.made)
        named = {"title": self.title, "product_id": self.product_id}
        with clock.freeze(self.until):
            self.made.append(
                requests.make_variant(self.cover, self.rates, dice, split=self.split, **named)
                if self.cover
                else requests.device(self.rates, dice, split=self.split)
            )
        return self.made[-1]


def on_the_shelf(session: ScopedSession, until: datetime) -> list[Offer]:
    """Every product of the store that a cover sells, or that was once sold without one at a flat price."""
    rows = session.execute(
        sa.select(Product, ProductVersion, Provider)
        .join(ProductVersion, col(ProductVersion.product_id) == col(Product.id))
        .join(Provider, col(Provider.id) == col(Product.provider_id))
        .where(
            col(ProductVersion.effective_at) <= until,
            col(ProductVersion.withdrawn_at).is_(None),
            col(ProductVersion.share_id).is_(None),
        )
        .order_by(col(Product.id), col(ProductVersion.effective_at))
    )
    newest = {row.Product.id: row for row in rows}
    offers = [_offer(row.Product, row.ProductVersion, row.Provider, until) for row in newest.values()]
    return [offer for offer in offers if offer.cover is not None or not offer.rates.dynamic]


def _offer(product: Product, version: ProductVersion, provider: Provider, until: datetime) -> Offer:
    group, wanted = _WANTED.get(product.id.hex[-6:], _SELDOM)
    rates = Rates(
        price=money.to_naira(version.price_minor),
        dynamic=product.is_dynamic_pricing,
        cover_months=version.cover_months,
        meta=version.meta,
    )
    ids = {
        "product_id": product.id.hex,
        "product_version_id": version.id.hex,
        "product_category_id": product.product_category_id.hex,
        "provider_id": product.provider_id.hex,
    }
    mca_bp, distributor_bp = version.mca_commission_bp, version.distributor_commission_bp
    return Offer(
        ids=ids,
        product_id=str(product.id),
        title=product.name,
        group=group,
        wanted=wanted,
        sold_today=product.active,
        segment=provider.segment,
        series=provider.number_series,
        renewable=product.renewable,
        split=partial(money.split, mca_bp=mca_bp, distributor_bp=distributor_bp),
        refund_split=partial(money.refund_split, mca_bp=mca_bp, distributor_bp=distributor_bp),
        rates=rates,
        endpoint=(product.prefix, product.route_name),
        until=until,
    )
