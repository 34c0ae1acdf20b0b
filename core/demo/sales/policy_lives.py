"""The life of a policy after its sale: accepted or declined, renewed, lapsed, or cancelled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random

from core import clock, money
from core.covers import refunds
from core.covers.cover import IN_FORCE
from core.covers.refunds import PaidPeriod
from core.demo.market.offers import Offer
from core.demo.sales.requests import Variant
from core.states.policies import SubmissionState

# How many pay again when a term ends, by how long it lasted; by group for a year.
_INSTALMENTS_GO_ON = {7: 0.975, 31: 0.93, 92: 0.88, 184: 0.8}
_YEARS_GO_ON = {"auto": 0.58, "mini": 0.55, "content": 0.52, "personal accident": 0.44, "comprehensive": 0.67}
_CANCELLED_A_YEAR = 0.024
_NEVER_CANCELLED = ("travel", "marine")
_DECLINED, _FORGOTTEN, _FORGOTTEN_DAYS = 0.035, 0.08, 45
_REASONS = {
    "loan": ("Loan repaid early", "Loan repaid early", "Loan was not paid out"),
    "motor": ("Vehicle sold", "Vehicle sold", "Bought twice by mistake", "Cheaper cover found", "Vehicle scrapped"),
    "other": ("Bought twice by mistake", "No longer needed", "Cheaper cover found", "Moved abroad"),
}
_DECLINES = (
    "Vehicle is older than the insurer takes",
    "Inspection found earlier damage",
    "Value does not fit the model",
)
_ERRORS = ("The insurer did not answer within 10 seconds", "The insurer answered 503", "The connection was refused")


@dataclass(frozen=True, slots=True)
class Paid:
    """A term that was paid for again: when, by which door, and the dates before and after."""

    at: datetime
    source: str
    previous_expiration_at: datetime
    start_at: datetime
    expiration_at: datetime


# The place of a paid term in the life of its policy, 0 being the purchase, and what goes back of it.
TermRefund = tuple[int, refunds.Refund]


@dataclass(frozen=True, slots=True)
class Ended:
    """A policy that was ended early: when, why, by whom, and what went back."""

    at: datetime
    reason: str
    by_insurer: bool
    of_terms: Sequence[TermRefund]

    @property
    def refund(self) -> refunds.Refund:
        """The refunds of all terms as one sum."""
        return refunds.together([refund for _, refund in self.of_terms])


@dataclass(slots=True)
class Life:
    """A policy as it stands at the end of the demonstration, and how it came to that."""

    start_at: datetime | None
    activation_at: datetime | None
    expiration_at: datetime | None
    activated: bool
    submitted: bool
    activated_on: date | None = None
    accepted_at: datetime | None = None
    cancelled: Ended | None = None
    declined: Ended | None = None
    renewals: list[Paid] = field(default_factory=list)
    state: SubmissionState = SubmissionState.DELEGATED
    attempts: int = 0
    last_error: str | None = None
    next_try_at: datetime | None = None
    heard_at: datetime | None = None

    @property
    def ended(self) -> Ended | None:
        """The early end, None for a policy that ran on."""
        return self.cancelled or self.declined

    @property
    def stretches(self) -> list[tuple[datetime, datetime]]:
        """Every term that was paid for and ran, first to last."""
        if not self.activated or self.start_at is None or self.expiration_at is None:
            return []
        first_end = self.renewals[0].previous_expiration_at if self.renewals else self.expiration_at
        return [(self.start_at, first_end), *((paid.start_at, paid.expiration_at) for paid in self.renewals)]


class Fates:
    """Decides what becomes of each policy, by seeded dice, up to the end of the demonstration."""

    def __init__(self, dice: Random, until: datetime) -> None:
        self.dice = dice
        self.until = until

    def decide(self, offer: Offer, variant: Variant, sold_at: datetime) -> Life:
        """The life of a policy that is sold now."""
        birth = offer.cover.initial_state if offer.cover else IN_FORCE
        today = clock.to_lagos_day(sold_at)
        term = variant.term(today)
        sold_on = today if birth.active else None
        life = Life(term.start_at, term.activation_at, term.expiration_at, birth.active, birth.submitted, sold_on)
        if not birth.active:
            self._ask_insurer(life, offer, variant, sold_at)
        elif not birth.submitted:
            self._report(life, sold_at)
        if life.activated:
            self._go_on(life, offer, variant, sold_at)
        return life

    def _report(self, life: Life, sold_at: datetime) -> None:
        """An active policy is told to its insurer a little later."""
        heard_at = _whole(sold_at + timedelta(hours=self.dice.lognormvariate(1.2, 0.9)))
        if heard_at > self.until:
            self._wait(life, sold_at)
        else:
            life.submitted, life.state, life.attempts, life.heard_at = True, SubmissionState.ACCEPTED, 1, heard_at

    def _ask_insurer(self, life: Life, offer: Offer, variant: Variant, sold_at: datetime) -> None:
        """A pending policy waits for its insurer: days, sometimes weeks, sometimes for a no."""
        heard_at = self._at_work(sold_at + timedelta(days=self.dice.lognormvariate(0.7, 0.7)), sold_at)
        forgotten = self.dice.random() < _FORGOTTEN and self.until - sold_at < timedelta(days=_FORGOTTEN_DAYS)
        if heard_at > self.until or forgotten:
            self._wait(life, sold_at)
        elif self.dice.random() < _DECLINED:
            whole = refunds.compute_full(money.to_naira(variant.split.total_minor))
            life.declined = Ended(heard_at, self.dice.choice(_DECLINES), by_insurer=True, of_terms=[(0, whole)])
            life.state, life.attempts, life.heard_at = SubmissionState.DECLINED, 1, heard_at
        else:
            self._accept(life, offer, variant, heard_at)

    def _accept(self, life: Life, offer: Offer, variant: Variant, heard_at: datetime) -> None:
        first_on = clock.to_lagos_day(life.start_at or heard_at)
        life.start_at = life.activation_at = clock.midnight(first_on)
        life.expiration_at = _next_end(offer, variant, first_on)
        life.activated = life.submitted = True
        life.activated_on, life.accepted_at = clock.to_lagos_day(heard_at), heard_at
        life.state, life.attempts, life.heard_at = SubmissionState.ACCEPTED, self.dice.choice((1, 1, 1, 2, 3)), heard_at

    def _wait(self, life: Life, sold_at: datetime) -> None:
        """Still queued when the demonstration ends; after some days without an answer it is set aside as dead."""
        days = (self.until - sold_at) / timedelta(days=1)
        life.attempts = min(12, int(days * 1.5))
        if not life.attempts:
            life.state, life.next_try_at = SubmissionState.QUEUED, sold_at
            return
        life.last_error = self.dice.choice(_ERRORS)
        life.heard_at = self.until - timedelta(minutes=self.dice.randint(3, 300))
        is_dead = life.attempts == 12 and self.dice.random() < 0.5
        life.state = SubmissionState.DEAD if is_dead else SubmissionState.QUEUED
        life.next_try_at = None if is_dead else self.until + timedelta(minutes=self.dice.randint(2, 240))

    def _go_on(self, life: Life, offer: Offer, variant: Variant, since: datetime) -> None:
        """Term after term, until one is not paid for again or the policy is cancelled."""
        while (ends_at := life.expiration_at) is not None:
            starts_at = life.renewals[-1].start_at if life.renewals else life.start_at
            days = (ends_at - (starts_at or since)).days
            if self.dice.random() < _CANCELLED_A_YEAR * days / 365 and self._cancel(life, offer, variant, since):
                return
            if not offer.renewable or self.dice.random() > _persistence(offer.group, days):
                return
            paid_at = self._at_work(ends_at + self._lateness(days), since)
            if paid_at > self.until:
                return
            life.renewals.append(self._pay_again(offer, variant, ends_at, paid_at))
            life.expiration_at, since = life.renewals[-1].expiration_at, paid_at

    def _lateness(self, days: int) -> timedelta:
        """Draw the time between the end of a term and its renewal, negative for a renewal before the end."""
        if days < 200:
            return timedelta(days=self.dice.triangular(-min(2.5, days / 3), 1.5, -0.4))
        early_or_late = self.dice.random()
        if early_or_late < 0.72:
            return timedelta(days=self.dice.triangular(-30, 0, -3))
        return timedelta(days=self.dice.triangular(-75, -30, -32) if early_or_late < 0.88 else self.dice.uniform(0, 25))

    def _pay_again(self, offer: Offer, variant: Variant, ends_at: datetime, paid_at: datetime) -> Paid:
        by_api = offer.title.startswith("Third-party") and offer.segment == "insurer-a" and self.dice.random() < 0.8
        start_at = max(paid_at, ends_at)
        next_end = _next_end(offer, variant, clock.to_lagos_day(start_at))
        return Paid(paid_at, "api" if by_api else "desk", ends_at, start_at, next_end)

    def _cancel(self, life: Life, offer: Offer, variant: Variant, since: datetime) -> bool:
        """End the policy some day of the term that it is in, unless that day has not come yet."""
        term = (life.expiration_at or since) - since
        at = self._at_work(since + term * self.dice.uniform(0.02, 0.93), since)
        if at > self.until or offer.group in _NEVER_CANCELLED:
            return False
        by_insurer = self.dice.random() < 0.15
        kind = "loan" if "loan_tenure" in variant.body else "motor" if variant.plate else "other"
        reason = "Premium payment was reversed" if by_insurer else self.dice.choice(_REASONS[kind])
        given_back = _refunds(life.stretches, offer, variant, at, by_insurer=by_insurer)
        life.cancelled = Ended(at, reason, by_insurer, given_back)
        return True

    def _at_work(self, at: datetime, after: datetime) -> datetime:
        """An hour of that day at which people are at work, or of the next day if it would not be after."""
        day = clock.lagos_midnight(clock.to_lagos_day(at))
        moment = _whole(day + timedelta(hours=self.dice.triangular(8, 18.5, 11)))
        return moment if moment > after else moment + timedelta(days=1)


def _whole(at: datetime) -> datetime:
    """An instant to the millisecond, as every row keeps it (contract P9)."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def _next_end(offer: Offer, variant: Variant, start_on: date) -> datetime:
    if offer.cover is None:
        return clock.midnight(clock.add_months(start_on, offer.rates.cover_months))
    ends_at = offer.cover.next_term(variant.body, offer.rates, start_on).expiration_at
    assert ends_at is not None, "what is paid for again has an end"  # noqa: S101 - next_term's promise
    return ends_at


def _persistence(group: str, days: int) -> float:
    in_parts = next((share for longest, share in _INSTALMENTS_GO_ON.items() if days <= longest), None)
    return in_parts or _YEARS_GO_ON.get(group, 0.5)


def _refunds(
    stretches: Sequence[tuple[datetime, datetime]], offer: Offer, variant: Variant, at: datetime, *, by_insurer: bool
) -> list[TermRefund]:
    """Compute the refund of each term by the rules of a cancellation at the desk."""
    premium, on = money.to_naira(variant.split.total_minor), clock.to_lagos_day(at)
    if "loan_tenure" in variant.body:
        months = int(variant.body["loan_tenure"])
        rule = refunds.compute_decreasing if offer.rates.meta.get("basis") == "reducing" else refunds.compute_level
        return [(0, rule(premium, refunds.count_months_left(on, clock.to_lagos_day(stretches[0][1]), months), months))]
    by_days = refunds.compute_pro_rata if by_insurer else refunds.compute_short_rate
    return [
        (place, by_days(PaidPeriod(premium=premium, start_at=start, expiration_at=end), on))
        for place, (start, end) in enumerate(stretches)
        if end > at
    ]
