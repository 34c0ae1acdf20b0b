"""Offers: price and days of cover of a request, computed by the rules of a sale."""

from dataclasses import dataclass
from typing import Any

from core.covers import ages
from core.covers.cover import Cover, Price, Rates, Term
from core.errors import run_checks


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """The price with its steps, and the days of cover."""

    price: Price
    term: Term


def offer(cover: Cover[Any], request: object, rates: Rates) -> Offer:
    """The price and the term of a request; InvalidInput names every field that the product does not take."""
    term = cover.term(request, rates)
    price, _ = run_checks(
        lambda: cover.premium(request, rates),
        lambda: ages.refuse_younger(cover, request, rates, term.start_on),
    )
    return Offer(price=price, term=term)
