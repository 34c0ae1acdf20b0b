"""Cover: the frozen declaration of one insurance product that can be bought."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, TypeVar

from core import clock, money
from core.covers.request import Request

R = TypeVar("R", bound=Request)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """A product's rates on the day of a sale; the sold policy keeps them.

    `price` is naira, or a percentage of the sum insured when `dynamic` (contract S4).
    """

    price: Decimal
    dynamic: bool
    cover_months: int
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a calculation for display: label, working, and the result in naira."""

    label: str
    working: str
    amount: Decimal


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """The premium to pay now, in naira to the kobo, with the calculation steps."""

    total: Decimal
    steps: Sequence[Step]
    sum_insured: Decimal | None = None

    @property
    def explain(self) -> list[dict[str, str]]:
        """The steps as JSON-ready data, for API responses and for the sold policy."""
        return [
            {"step": s.label, "working": s.working, "amount": f"{money.round_half_up(s.amount):.2f}"}
            for s in self.steps
        ]


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else clock.midnight(day)


@dataclass(frozen=True, slots=True)
class Term:
    """The period of cover; dates are None where the insurer has not set them yet (contract S8).

    Cover ends at the start of the expiration day, or at its end if `last_day_paid`.
    """

    start_on: date | None
    activation_on: date | None
    expiration_on: date | None
    last_day_paid: bool = False

    @property
    def start_at(self) -> datetime | None:
        """First instant of cover, UTC."""
        return _midnight(self.start_on)

    @property
    def activation_at(self) -> datetime | None:
        """Instant of activation, UTC."""
        return _midnight(self.activation_on)

    @property
    def expiration_at(self) -> datetime | None:
        """Instant at which cover ends, UTC."""
        if self.expiration_on is None or not self.last_day_paid:
            return _midnight(self.expiration_on)
        return clock.lagos_midnight(clock.add_days(self.expiration_on, 1)) - timedelta(milliseconds=1)

    @classmethod
    def from_months(cls, start_on: date, months: int) -> "Term":
        """Return a term that activates on its first day and lasts whole months."""
        return cls(start_on, start_on, clock.add_months(start_on, months))

    @classmethod
    def from_days(cls, first_on: date, last_on: date) -> "Term":
        """Return a term of whole days, the last day included."""
        return cls(first_on, first_on, last_on, last_day_paid=True)

    @classmethod
    def undated(cls) -> "Term":
        """Return a term whose dates the insurer has yet to set."""
        return cls(None, None, None)


@dataclass(frozen=True, slots=True)
class InitialState:
    """The policy flags set at the sale: `activated` and `submitted_to_provider`."""

    active: bool
    submitted: bool


IN_FORCE = InitialState(active=True, submitted=True)
UNREPORTED = InitialState(active=True, submitted=False)
PENDING = InitialState(active=False, submitted=False)


class ResponseShape(Enum):
    """Place of the policy in the purchase response."""

    UNDER_POLICY = "data.policy"
    DIRECT = "data"


def _no_key(_: object) -> str | None:
    return None


def full_cover_period(_: Mapping[str, Any], rates: Rates, start_on: date) -> Term:
    """Return the product's full cover period, whatever was submitted."""
    return Term.from_months(start_on, rates.cover_months)


@dataclass(frozen=True, kw_only=True)
class Cover(Generic[R]):
    """One buy endpoint: what the API, the form, the sale and the tests need to know about it.

    `next_term` is what the same money buys from a given day, told from the submitted data of a sold
    policy: for the activation of a pending one, and for a renewal (contract S4, S8). `rated_on` is the field whose
    amount the premium is a share of, and which is at fault when that comes to nothing. `life_insured` names the
    field with the date of birth of whoever is insured for life or accident (contract S17), and `starts_by` the one with
    the first day of cover, where the buyer chooses it (contract S15). Of the insured thing,
    `risk_key` is what is insured only once at a time (contract S12), `registration` the plate of a vehicle and
    `device_number` the number of a device: lists show them.
    """

    prefix: str
    route: str
    insurer: str
    title: str
    request: type[R]
    premium: Callable[[R, Rates], Price]
    term: Callable[[R, Rates], Term]
    next_term: Callable[[Mapping[str, Any], Rates, date], Term] = full_cover_period
    initial_state: InitialState
    response_shape: ResponseShape
    payload: Callable[[R, Price], Mapping[str, Any]]
    risk_key: Callable[[R], str | None] = _no_key
    registration: Callable[[R], str | None] = _no_key
    device_number: Callable[[R], str | None] = _no_key
    duplicate_key: Callable[[R], str | None] = _no_key
    life_insured: str | None = None
    starts_by: str | None = None
    echo_field: str = "payload"
    rated_on: str = "body"

    @property
    def names_possible_duplicates(self) -> bool:
        """True where a second equal sale goes through and is marked (contract S12)."""
        return self.duplicate_key is not _no_key

    @property
    def path(self) -> str:
        """The path under /v1, verbatim from the specification."""
        return "/".join(part for part in ("/products", self.prefix, self.route) if part)

    @property
    def key(self) -> str:
        """A name for files and tests: "insurer-a/buy-thirdparty"."""
        return f"{self.prefix}/{self.route}".strip("/")
