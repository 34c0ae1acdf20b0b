"""Premium calculation: exact through all steps, rounded once at the end (contract S4, P8)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from core import money
from core.covers.cover import Price, Rates, Step
from core.errors import InvalidInput


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
