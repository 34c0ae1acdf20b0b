"""Instalments: a part of the annual premium pays for the same part of the year (contract S4)."""

from dataclasses import dataclass
from datetime import date

from core import clock, money
from core.covers import fields
from core.covers.cover import Price, Rates, Term
from core.covers.pricing import Sum
from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class _Part:
    """One frequency: instalments a year, and the months or days that each covers."""

    in_a_year: int
    months: int = 0
    days: int = 0


_PARTS = {
    "weekly": _Part(52, days=7),
    "monthly": _Part(12, months=1),
    "quarterly": _Part(4, months=3),
    "biannually": _Part(2, months=6),
    "annually": _Part(1, months=12),
}
FREQUENCIES = tuple(_PARTS)
FREQUENCY = fields.one_of(*FREQUENCIES)


def instalment(year: Sum, frequency: str, rates: Rates) -> Price:
    """Return one instalment of an annual premium, rounded up so that a year of them is never less than it.

    InvalidInput if the product does not offer the frequency.
    """
    offered = rates.meta.get("premium_frequencies", FREQUENCIES)
    if frequency not in offered:
        raise InvalidInput.one("premium_frequency", f"must be offered by the product: {', '.join(offered)}")
    parts = _PARTS[frequency].in_a_year
    working = f"annual premium / {parts}, rounded up to the kobo"
    return year.then(f"Instalment, {frequency}", working, year.amount / parts).price(money.up)


def instalment_term(frequency: str, start_on: date) -> Term:
    """Return the term that one instalment buys from a day: 7 days, or 1, 3, 6 or 12 months."""
    part = _PARTS[frequency]
    end_on = clock.add_days(clock.add_months(start_on, part.months), part.days)
    return Term(start_on, start_on, end_on)
