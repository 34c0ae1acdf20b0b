"""Renewal windows and policy years: pure date arithmetic (contract R1, R3, S4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from core import clock

DAYS_BEFORE, DAYS_AFTER = 90, 30
# A test policy is renewed at any time; a bound keeps a loop from running off the calendar.
TEST_YEARS_AHEAD = 10


@dataclass(frozen=True, slots=True)
class RenewalWindow:
    """The days on which a term can be renewed, both ends included."""

    opens_on: date
    closes_on: date

    def contains(self, day: date) -> bool:
        """Return True on a day of the window."""
        return self.opens_on <= day <= self.closes_on


def compute_window(start_on: date, expiration_on: date, meta: Mapping[str, Any]) -> RenewalWindow:
    """Return the renewal window of a term; the product's `meta` may set `renewal_window: {days_before, days_after}`.

    It opens no earlier than half-way through the term: otherwise a renewed monthly instalment would be in its own
    window
    again at once, and a renewal must close it.
    """
    days = {"days_before": DAYS_BEFORE, "days_after": DAYS_AFTER, **meta.get("renewal_window", {})}
    before = min(int(days["days_before"]), (expiration_on - start_on).days // 2)
    return RenewalWindow(clock.add_days(expiration_on, -before), clock.add_days(expiration_on, int(days["days_after"])))


def is_far_ahead(expiration_on: date, today: date) -> bool:
    """True for a test term that ends so late that it is not renewed once more."""
    return expiration_on > clock.add_months(today, 12 * TEST_YEARS_AHEAD)


def compute_policy_year(first_on: date, day: date) -> int:
    """Return how many whole years after the first day of a policy a day is."""
    years = day.year - first_on.year
    return years if clock.add_months(first_on, 12 * years) <= day else years - 1
