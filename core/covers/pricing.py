"""Premium calculation: exact through all steps, rounded once at the end (contract S4, P8).

An offer is the price and the term of a request by the rules of a sale.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

from core import clock, money
from core.covers import ages, fields
from core.covers.cover import Cover, Price, Rates, Step, Term
from core.errors import InvalidInput, run_checks


@dataclass(frozen=True, slots=True)
class Calculation:
    """A calculation in progress: exact amount in naira, its steps, and the sum insured."""

    amount: Decimal
    steps: tuple[Step, ...]
    insured: Decimal | None = None

    def add_step(self, label: str, working: str, amount: Decimal) -> "Calculation":
        """Return the calculation after one more step, whose result is `amount`."""
        return replace(self, amount=amount, steps=(*self.steps, Step(label, working, amount)))

    def build_price(self, rounding: Callable[[Decimal], Decimal] = money.round_half_up) -> Price:
        """Return the resulting price; the only place where it is rounded."""
        *before, last = self.steps
        total = rounding(self.amount)
        insured = None if self.insured is None else money.round_half_up(self.insured)
        return Price(total=total, steps=[*before, replace(last, amount=total)], sum_insured=insured)


def flat_price(amount: Decimal, label: str) -> Price:
    """Return a flat price, set by the product or its plan."""
    return Calculation(amount, (Step(label, "flat price", amount),)).build_price()


def compute_percentage(insured: Decimal, rates: Rates, label: str = "Annual premium") -> Calculation:
    """Return the product's percentage of the sum insured, or its flat price if it is not dynamic."""
    if not rates.dynamic:
        return Calculation(rates.price, (Step(label, "flat price", rates.price),), insured)
    amount = insured * rates.price / 100
    return Calculation(amount, (Step(label, f"{rates.price.normalize():f} % of {insured:,.2f}", amount),), insured)


def apply_minimum(calculation: Calculation, rates: Rates) -> Calculation:
    """Raise the amount to the product's minimum premium if it is below."""
    minimum = Decimal(rates.meta.get("minimum_premium", 0))
    return (
        calculation.add_step("Minimum premium", "the product's minimum", minimum)
        if calculation.amount < minimum
        else calculation
    )


def compute_annual(insured: Decimal, rates: Rates) -> Calculation:
    """Return the annual premium of a sum insured in naira, unrounded."""
    return apply_minimum(compute_percentage(insured, rates), rates)


def get_plan_price(plan: str, rates: Rates) -> Price:
    """Return the price of a plan from the product's list; InvalidInput for an unknown plan."""
    prices: Mapping[str, str] = rates.meta.get("plan_prices", {})
    if plan not in prices:
        raise InvalidInput.for_field("plan", f"must be a plan of this product: {', '.join(prices)}")
    return flat_price(Decimal(prices[plan]), f"{plan} plan")


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Offer:
    """The price with its steps, and the days of cover."""

    price: Price
    term: Term


# A product's own bound, in days, on how far ahead cover may begin; and the usual one.
MOST_DAYS_AHEAD: Final = "most_days_ahead"
USUAL_DAYS_AHEAD: Final = 5 * 365


def refuse_far_start(field: str | None, meta: Mapping[str, Any], first_on: date | None) -> None:
    """Refuse, by the field that names it, a first day of cover further ahead than the product sells (contract S15)."""
    latest = clock.add_days(clock.today(), int(meta.get(MOST_DAYS_AHEAD, USUAL_DAYS_AHEAD)))
    if field is not None and first_on is not None and first_on > latest:
        raise InvalidInput.for_field(field, f"must be {latest} at the latest: cover begins no later than that")


def offer(cover: Cover[Any], request: object, rates: Rates) -> Offer:
    """The price and the term of a request; InvalidInput names every field that the product does not take."""
    term = cover.term(request, rates)
    price, *_ = run_checks(
        lambda: cover.premium(request, rates),
        lambda: ages.refuse_younger(cover, request, rates, term.start_on),
        lambda: refuse_far_start(cover.starts_by, rates.meta, term.start_on),
    )
    return Offer(price=price, term=term)
