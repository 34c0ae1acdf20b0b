"""Cover: the frozen description of one product group that can be bought."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, TypeVar

from core import clock, money
from core.covers.request import Request
from core.errors import InvalidInput

R = TypeVar("R", bound=Request)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """What a product charges on the day of a sale; the sold policy keeps these figures.

    `price` is naira, or a percentage of the sum insured when `dynamic` (contract S4).
    """

    price: Decimal
    dynamic: bool
    cover_months: int
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a sum as a person would write it: what, how, and the result in naira."""

    label: str
    working: str
    amount: Decimal


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """What the customer pays now, in naira to the kobo, with the steps that lead to it."""

    total: Decimal
    steps: Sequence[Step]
    sum_insured: Decimal | None = None

    @property
    def explained(self) -> list[dict[str, str]]:
        """The steps as plain data, for answers and for the sold policy."""
        return [{"step": s.label, "working": s.working, "amount": f"{s.amount:.2f}"} for s in self.steps]


@dataclass(frozen=True, slots=True)
class Term:
    """Days of cover; none where the insurer has not set them yet (contract S8)."""

    start_on: date | None
    activation_on: date | None
    expiration_on: date | None

    @classmethod
    def months(cls, start_on: date, months: int) -> "Term":
        """A term that activates on its first day and runs whole months."""
        return cls(start_on, start_on, clock.add_months(start_on, months))

    @classmethod
    def open(cls) -> "Term":
        """A term that the insurer has yet to set."""
        return cls(None, None, None)


@dataclass(frozen=True, slots=True)
class Birth:
    """The flags of a policy at birth."""

    active: bool
    submitted: bool


IN_FORCE = Birth(active=True, submitted=True)
UNREPORTED = Birth(active=True, submitted=False)
PENDING = Birth(active=False, submitted=False)


class Answer(Enum):
    """Where a purchase answer carries the policy."""

    UNDER_POLICY = "data.policy"
    DIRECT = "data"


def _none(_: Any) -> str | None:
    return None


@dataclass(frozen=True, kw_only=True)
class Cover(Generic[R]):
    """One buy endpoint: everything that the API, the form, the sale and the tests know of it."""

    prefix: str
    route: str
    insurer: str
    title: str
    request: type[R]
    premium: Callable[[R, Rates], Price]
    term: Callable[[R, Rates], Term]
    birth: Birth
    answer: Answer
    payload: Callable[[R, Price], Mapping[str, Any]]
    risk: Callable[[R], str | None] = _none
    plate: Callable[[R], str | None] = _none
    twin: Callable[[R], str | None] = _none
    echo: str = "payload"

    @property
    def path(self) -> str:
        """The path under /v1, verbatim from the specification."""
        return "/".join(part for part in ("/products", self.prefix, self.route) if part)

    @property
    def key(self) -> str:
        """A name for files and tests: "insurer-a/buy-thirdparty"."""
        return f"{self.prefix}/{self.route}".strip("/")


def flat(amount: Decimal, label: str) -> Price:
    """A price that depends on nothing but the product or its plan."""
    total = money.half_up(amount)
    return Price(total=total, steps=[Step(label, "flat price", total)])


def percent_of(sum_insured: Decimal, rates: Rates, label: str) -> Price:
    """A percentage of the sum insured, or the flat price of a product that is not dynamic."""
    if not rates.dynamic:
        return flat(rates.price, "Annual premium")
    total = money.half_up(sum_insured * rates.price / 100)
    working = f"{rates.price.normalize():f} % of {sum_insured:,.2f}"
    floor = Decimal(rates.meta.get("minimum_premium", 0))
    steps = [Step(label, working, total)]
    if total < floor:
        total = money.half_up(floor)
        steps.append(Step("Minimum premium", "the product's minimum", total))
    return Price(total=total, steps=steps, sum_insured=sum_insured)


def plan_price(plan: str, rates: Rates) -> Price:
    """The price of a plan from the product's own list."""
    prices: Mapping[str, str] = rates.meta.get("plan_prices", {})
    if plan not in prices:
        raise InvalidInput.one("plan", f"must be a plan of this product: {', '.join(prices)}")
    return flat(Decimal(prices[plan]), f"{plan} plan")
