"""What a sale would cost by some rates, and how the money would divide: the functions of the sale, without it."""

from dataclasses import dataclass
from typing import Any

from core import money
from core.covers.cover import Cover, Price
from core.covers.tariff import Tariff
from core.money import Split


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """A price with its steps, and the parts of it."""

    price: Price
    split: Split


def preview(cover: Cover[Any], asked: Any, tariff: Tariff) -> Preview:
    """What the request would cost by these rates; InvalidInput where they do not price it (contract S4, S7)."""
    price = cover.premium(asked, tariff.rates)
    return Preview(price=price, split=split_of(price, tariff))


def split_of(price: Price, tariff: Tariff) -> Split:
    """How the total of a price divides by these commissions, in kobo."""
    return money.split(money.to_minor(price.total), mca_bp=tariff.mca_bp, distributor_bp=tariff.distributor_bp)
