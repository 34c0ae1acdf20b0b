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
class Stretch:
    """One paid term: its premium in naira, its first and last instant."""

    premium: Decimal
    start_at: datetime
    expiration_at: datetime

    @property
    def days(self) -> int:
        """The days of the term; a paid last day counts in full."""
        return max(1, math.ceil((self.expiration_at - self.start_at) / _DAY))

    def unexpired_days(self, on: date) -> int:
        """Return the days left if cover ends at the start of day `on`; at most the days of the term."""
        left = math.ceil((self.expiration_at - clock.midnight(on)) / _DAY)
        return min(self.days, max(0, left))


@dataclass(frozen=True, kw_only=True, slots=True)
class Refund:
    """What goes back of a term, by which rule, and the steps that lead to it."""

    method: str
    price: Price

    @property
    def amount_minor(self) -> int:
        """The refund in kobo."""
        return money.to_minor(self.price.total)


def full(premium: Decimal) -> Refund:
    """Everything: no day was ever on risk."""
    return _refund("full", [Step("Premium", "never on risk, all of it goes back", premium)])


def none(why: str) -> Refund:
    """Nothing, and why: a claim was paid out of this premium."""
    return _refund("claim_paid", [Step("Premium", why, Decimal(0))])


def pro_rata(stretch: Stretch, on: date) -> Refund:
    """The premium of the unexpired days: 500 ended on day 150 of 365 gives 294.52."""
    return _refund("pro_rata", [_unexpired(stretch, on)])


def short_rate(stretch: Stretch, on: date) -> Refund:
    """Nine tenths of the pro rata refund, as the customer ends the cover."""
    unexpired = _unexpired(stretch, on)
    working = f"{SHORT_RATE * 100:.0f} % of {money.half_up(unexpired.amount):,.2f}"
    return _refund("short_rate", [unexpired, Step("Short rate", working, unexpired.amount * SHORT_RATE)])


def level(premium: Decimal, months_left: int, months: int) -> Refund:
    """Return the refund of a level-sum credit life policy: k/n of the premium, with k of n months left."""
    working = f"{premium:,.2f} x {months_left} / {months} months"
    return _refund("level", [Step("Unexpired premium", working, premium * months_left / months)])


def decreasing(premium: Decimal, months_left: int, months: int) -> Refund:
    """Return the refund of a reducing-balance credit life policy: k(k+1) / n(n+1) of the premium, k of n months
    left.
    """
    k, n = months_left, months
    working = f"{premium:,.2f} x {k} x {k + 1} / ({n} x {n + 1})"
    return _refund("decreasing", [Step("Unexpired premium", working, premium * (k * (k + 1)) / (n * (n + 1)))])


def months_left(on: date, expiration_on: date, months: int) -> int:
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
    return _refund(refunds[-1].method, [*steps, Step("Together", "all terms that were paid for", whole)])


def _unexpired(stretch: Stretch, on: date) -> Step:
    left = stretch.unexpired_days(on)
    working = f"{stretch.premium:,.2f} x {left} / {stretch.days} days"
    return Step("Unexpired premium", working, stretch.premium * left / stretch.days)


def _refund(method: str, steps: list[Step]) -> Refund:
    return Refund(method=method, price=Price(total=money.half_up(steps[-1].amount), steps=steps))
