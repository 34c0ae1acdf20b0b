"""Instalments: a part of the annual premium pays for the same part of the year (contract S4)."""

from dataclasses import dataclass
from datetime import date

from core import clock, money
from core.covers import fields
from core.covers.cover import Price, Rates, Term
from core.covers.pricing import Calculation
from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class _Interval:
    """One frequency: instalments a year, and the months or days that each covers."""

    per_year: int
    months: int = 0
    days: int = 0


_INTERVALS = {
    "weekly": _Interval(52, days=7),
    "monthly": _Interval(12, months=1),
    "quarterly": _Interval(4, months=3),
    "biannually": _Interval(2, months=6),
    "annually": _Interval(1, months=12),
}
FREQUENCIES = tuple(_INTERVALS)
FREQUENCY = fields.one_of(*FREQUENCIES)


def compute_instalment(annual_premium: Calculation, frequency: str, rates: Rates) -> Price:
    """Return one instalment of an annual premium, rounded up so that a year of them is never less than it.

    InvalidInput if the product does not offer the frequency.
    """
    offered = rates.meta.get("premium_frequencies", FREQUENCIES)
    if frequency not in offered:
        raise InvalidInput.for_field("premium_frequency", f"must be offered by the product: {', '.join(offered)}")
    per_year = _INTERVALS[frequency].per_year
    working = f"annual premium / {per_year}, rounded up to the kobo"
    return annual_premium.add_step(f"Instalment, {frequency}", working, annual_premium.amount / per_year).build_price(
        money.round_up
    )


def build_instalment_term(frequency: str, start_on: date) -> Term:
    """Return the term that one instalment buys from a day: 7 days, or 1, 3, 6 or 12 months."""
    interval = _INTERVALS[frequency]
    end_on = clock.add_days(clock.add_months(start_on, interval.months), interval.days)
    return Term(start_on, start_on, end_on)
