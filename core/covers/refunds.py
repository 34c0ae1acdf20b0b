"""Refund rules for cover that ends early: pure arithmetic, exact until it is rounded once at the end."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from core import clock, money
from core.covers.cover import Price, Step

SHORT_RATE = Decimal("0.90")
_DAY = timedelta(days=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidPeriod:
    """One paid term: its premium in naira, its first and last instant."""

    premium: Decimal
    start_at: datetime
    expiration_at: datetime

    @property
    def days(self) -> int:
        """The days of the term; a paid last day counts in full."""
        return max(1, math.ceil((self.expiration_at - self.start_at) / _DAY))

    def count_unexpired_days(self, on: date) -> int:
        """Return the days left if cover ends at the start of day `on`; at most the days of the term."""
        days_left = math.ceil((self.expiration_at - clock.midnight(on)) / _DAY)
        return min(self.days, max(0, days_left))


@dataclass(frozen=True, kw_only=True, slots=True)
class Refund:
    """Amount refunded of a term, the rule that was used, and the steps of the calculation."""

    method: str
    price: Price

    @property
    def amount_minor(self) -> int:
        """The refund in kobo."""
        return money.to_minor(self.price.total)


def compute_full(premium: Decimal) -> Refund:
    """Everything: no day was ever on risk."""
    return _build_refund("full", [Step("Premium", "never on risk, all of it goes back", premium)])


def none(why: str) -> Refund:
    """Nothing, and why: a claim was paid out of this premium."""
    return _build_refund("claim_paid", [Step("Premium", why, Decimal(0))])


def compute_pro_rata(stretch: PaidPeriod, on: date) -> Refund:
    """The premium of the unexpired days: 500 ended on day 150 of 365 gives 294.52."""
    return _build_refund("pro_rata", [_compute_unexpired_premium(stretch, on)])


def compute_short_rate(stretch: PaidPeriod, on: date) -> Refund:
    """Nine tenths of the pro rata refund, as the customer ends the cover."""
    unexpired = _compute_unexpired_premium(stretch, on)
    working = f"{SHORT_RATE * 100:.0f} % of {money.round_half_up(unexpired.amount):,.2f}"
    return _build_refund("short_rate", [unexpired, Step("Short rate", working, unexpired.amount * SHORT_RATE)])


def compute_level(premium: Decimal, months_left: int, months: int) -> Refund:
    """Return the refund of a level-sum credit life policy: k/n of the premium, with k of n months left."""
    working = f"{premium:,.2f} x {months_left} / {months} months"
    return _build_refund("level", [Step("Unexpired premium", working, premium * months_left / months)])


def compute_decreasing(premium: Decimal, months_left: int, months: int) -> Refund:
    """Return the refund of a reducing-balance credit life policy: k(k+1) / n(n+1) of the premium, k of n months
    left.
    """
    k, n = months_left, months
    working = f"{premium:,.2f} x {k} x {k + 1} / ({n} x {n + 1})"
    return _build_refund("decreasing", [Step("Unexpired premium", working, premium * (k * (k + 1)) / (n * (n + 1)))])


def count_months_left(on: date, expiration_on: date, months: int) -> int:
    """Return the whole months from a day to the expiration; at most the months of the term."""
    left = (expiration_on.year - on.year) * 12 + expiration_on.month - on.month
    if left > 0 and clock.add_months(on, left) > expiration_on:
        left -= 1
    return min(months, max(0, left))


def together(refunds: Sequence[Refund]) -> Refund:
    """The refunds of several terms of one policy as one sum; each was rounded for itself."""
    if len(refunds) == 1:
        return refunds[0]
    whole = sum((refund.price.total for refund in refunds), Decimal(0))
    steps = [step for refund in refunds for step in refund.price.steps]
    return _build_refund(refunds[-1].method, [*steps, Step("Together", "all terms that were paid for", whole)])


def _compute_unexpired_premium(period: PaidPeriod, on: date) -> Step:
    left = period.count_unexpired_days(on)
    working = f"{period.premium:,.2f} x {left} / {period.days} days"
    return Step("Unexpired premium", working, period.premium * left / period.days)


def _build_refund(method: str, steps: list[Step]) -> Refund:
    return Refund(method=method, price=Price(total=money.round_half_up(steps[-1].amount), steps=steps))
