"""Price and cover period that the catalogue shows for a product (contract S18)."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from core import money
from core.covers.cover import Rates

# The months of cover that each name stands for.
_STRETCHES: Final = {"monthly": 1, "quarterly": 3, "biannually": 6, "annually": 12}


def list_price(rates: Rates) -> Decimal:
    """The price of a product with its present figures, in naira, or in percent where it prices dynamically.

    Credit life shows the sum of its shares. Plans show the lowest price of those that last the whole cover period.
    """
    if "shares" in rates.meta:
        return sum((Decimal(share) for share in rates.meta["shares"].values()), Decimal(0))
    return min(_plans(rates, rates.cover_months), default=rates.price)


def follows(meta: Mapping[str, Any]) -> bool:
    """True where the price of the catalogue follows from the product's other figures."""
    return "shares" in meta or bool(meta.get("plan_prices"))


def compute_prices_by_period(rates: Rates) -> dict[str, Decimal] | None:
    """Return the price in naira of 1, 3, 6 and 12 months of cover, or None unless the product has a fixed price.

    A plan of exactly that length gives its own price, the lowest if there are several; otherwise the price is that part
    of the price of the cover period, rounded up as instalments are (contract S4).
    """
    # A table prices each journey by itself.
    if rates.dynamic or "rates" in rates.meta:
        return None
    exact = list_price(rates) / rates.cover_months
    return {
        name: min(_plans(rates, months), default=money.round_up(exact * months)) for name, months in _STRETCHES.items()
    }


def _plans(rates: Rates, months: int) -> Iterator[Decimal]:
    lengths: Mapping[str, int] = rates.meta.get("plan_months", {})
    for plan, price in rates.meta.get("plan_prices", {}).items():
        if lengths.get(plan, rates.cover_months) == months:
            yield Decimal(price)


def format_price(price: Decimal) -> str:
    """A price as the wire has it: two places, and more only where a rate has more."""
    exact = price.normalize()
    return f"{price:.2f}" if -int(exact.as_tuple().exponent) <= 2 else f"{exact:f}"
