"""How premiums are worked out: exact while the steps go on, rounded once at the end (contract S4, P8)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from core import money
from core.covers.cover import Price, Rates, Step
from core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum under way: its exact amount in naira, the steps that led to it, and the sum insured."""

    amount: Decimal
    steps: tuple[Step, ...]
    insured: Decimal | None = None

    def then(self, label: str, working: str, amount: Decimal) -> "Sum":
        """The sum after one more step, which makes it `amount`."""
        return replace(self, amount=amount, steps=(*self.steps, Step(label, working, amount)))

    def price(self, rounded: Callable[[Decimal], Decimal] = money.half_up) -> Price:
        """The price that the sum comes to, rounded here and nowhere before."""
        *before, last = self.steps
        total = rounded(self.amount)
        insured = None if self.insured is None else money.half_up(self.insured)
        return Price(total=total, steps=[*before, replace(last, amount=total)], sum_insured=insured)


def flat(amount: Decimal, label: str) -> Price:
    """A price that depends on nothing but the product or its plan."""
    return Sum(amount, (Step(label, "flat price", amount),)).price()


def percentage(insured: Decimal, rates: Rates, label: str = "Annual premium") -> Sum:
    """The product's percentage of the sum insured, or its flat price when it is not dynamic."""
    if not rates.dynamic:
        return Sum(rates.price, (Step(label, "flat price", rates.price),), insured)
    amount = insured * rates.price / 100
    return Sum(amount, (Step(label, f"{rates.price.normalize():f} % of {insured:,.2f}", amount),), insured)


def at_least_minimum(so_far: Sum, rates: Rates) -> Sum:
    """The sum, or the product's minimum premium where that is more."""
    floor = Decimal(rates.meta.get("minimum_premium", 0))
    return so_far.then("Minimum premium", "the product's minimum", floor) if so_far.amount < floor else so_far


def annual(insured: Decimal, rates: Rates) -> Sum:
    """The annual premium of a sum insured in naira, still exact."""
    return at_least_minimum(percentage(insured, rates), rates)


def plan_price(plan: str, rates: Rates) -> Price:
    """The price of a plan from the product's own list; a plan that it lacks is refused by name."""
    prices: Mapping[str, str] = rates.meta.get("plan_prices", {})
    if plan not in prices:
        raise InvalidInput.one("plan", f"must be a plan of this product: {', '.join(prices)}")
    return flat(Decimal(prices[plan]), f"{plan} plan")
