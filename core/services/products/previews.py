"""Price previews: the price under given rates and its split, by the functions of the sale."""

from dataclasses import dataclass
from typing import Any

from core import money
from core.covers.cover import Cover, Price
from core.covers.tariff import Tariff
from core.money import Split


@dataclass(frozen=True, kw_only=True, slots=True)
class PricePreview:
    """A price with its steps, and its split."""

    price: Price
    split: Split


def preview_price(cover: Cover[Any], request: Any, tariff: Tariff) -> PricePreview:
    """Return the price of a request under these rates; InvalidInput if they cannot price it (contract S4, S7)."""
    price = cover.premium(request, tariff.rates)
    return PricePreview(price=price, split=split_price(price, tariff))


def split_price(price: Price, tariff: Tariff) -> Split:
    """Split the total of a price by these commissions, in kobo."""
    return money.split(money.to_minor(price.total), mca_bp=tariff.mca_bp, distributor_bp=tariff.distributor_bp)
