"""Premium calculation: exact through all steps, rounded once at the end (contract S4, P8)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from core import money
from core.covers.cover import Price, Rates, Step
from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Sum:
    """A calculation in progress: exact amount in naira, its steps, and the sum insured."""

    amount: Decimal
    steps: tuple[Step, ...]
    insured: Decimal | None = None

    def then(self, label: str, working: str, amount: Decimal) -> "Sum":
        """Return the calculation after one more step, whose result is `amount`."""
        return replace(self, amount=amount, steps=(*self.steps, Step(label, working, amount)))

    def price(self, rounded: Callable[[Decimal], Decimal] = money.half_up) -> Price:
        """Return the resulting price; the only place where it is rounded."""
        *before, last = self.steps
        total = rounded(self.amount)
        insured = None if self.insured is None else money.half_up(self.insured)
        return Price(total=total, steps=[*before, replace(last, amount=total)], sum_insured=insured)


def flat(amount: Decimal, label: str) -> Price:
    """Return a flat price, set by the product or its plan."""
    return Sum(amount, (Step(label, "flat price", amount),)).price()


def percentage(insured: Decimal, rates: Rates, label: str = "Annual premium") -> Sum:
    """Return the product's percentage of the sum insured, or its flat price if it is not dynamic."""
    if not rates.dynamic:
        return Sum(rates.price, (Step(label, "flat price", rates.price),), insured)
    amount = insured * rates.price / 100
    return Sum(amount, (Step(label, f"{rates.price.normalize():f} % of {insured:,.2f}", amount),), insured)


def at_least_minimum(so_far: Sum, rates: Rates) -> Sum:
    """Raise the amount to the product's minimum premium if it is below."""
    floor = Decimal(rates.meta.get("minimum_premium", 0))
    return so_far.then("Minimum premium", "the product's minimum", floor) if so_far.amount < floor else so_far


def annual(insured: Decimal, rates: Rates) -> Sum:
    """Return the annual premium of a sum insured in naira, unrounded."""
    return at_least_minimum(percentage(insured, rates), rates)


def plan_price(plan: str, rates: Rates) -> Price:
    """Return the price of a plan from the product's list; InvalidInput for an unknown plan."""
    prices: Mapping[str, str] = rates.meta.get("plan_prices", {})
    if plan not in prices:
        raise InvalidInput.one("plan", f"must be a plan of this product: {', '.join(prices)}")
    return flat(Decimal(prices[plan]), f"{plan} plan")
