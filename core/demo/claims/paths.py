"""How claims go: the statuses one after the other, and how long each takes (contract C5)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from core import clock
from core.store.schema.claims import DECIDED, WAITING

PENDING = "Pending"
_PAID = ("Offer sent", "Offer accepted", "Paid", "Settled")
_HAGGLED = ("Offer sent", "Offer rejected", *_PAID)
_REPAIR = ("Viewed", "Inspection submitted", "Repair estimate submitted")
# Every way a claim can go after Pending, and how many of a hundred go it.
LOANS: Sequence[tuple[tuple[str, ...], int]] = (
    (("Viewed", "Reviewing", "Approved", *_PAID), 47),
    (("Viewed", "Approved", *_PAID), 14),
    (("Viewed", "Reviewing", "Approved", *_HAGGLED), 6),
    (("Viewed", "Reviewing", "Declined"), 21),
    (("Viewed", "Reviewing", "Declined", "Reviewing", "Approved", *_PAID), 3),
    (("Viewed", "Reviewing", "Approved", "Offer sent", "Offer rejected", "Declined"), 2),
    ((*_REPAIR, "Declined"), 4),
)
DEVICES: Sequence[tuple[tuple[str, ...], int]] = (
    ((*_REPAIR, "Approved", *_PAID), 55),
    ((*_REPAIR, "Reviewing", "Approved", *_PAID), 10),
    ((*_REPAIR, "Approved", *_HAGGLED), 9),
    (("Viewed", "Reviewing", "Declined"), 16),
    (("Viewed", "Inspection submitted", "Declined"), 10),
)
OPEN = (PENDING, *_REPAIR, "Reviewing", "Approved", "Offer sent", "Offer accepted", "Offer rejected", "Paid")
# The days that half of the claims need at most to reach a status.
_MEDIAN_DAYS: Mapping[str, float] = {
    "Viewed": 0.4,
    "Reviewing": 0.9,
    "Inspection submitted": 2.6,
    "Repair estimate submitted": 3.4,
    "Approved": 3.6,
    "Declined": 4.2,
    "Offer sent": 0.8,
    "Offer accepted": 2.3,
    "Offer rejected": 2.8,
    "Paid": 1.9,
    "Settled": 2.6,
}
_SPREAD, _SLOW, _SLOWER = 0.75, 0.09, 4.5


class Reached(NamedTuple):
    """A status and when a claim came to it."""

    status: str
    at: datetime


def clock_of(reached: Sequence[Reached], asked: Collection[int]) -> tuple[datetime, datetime | None]:
    """The lodging moved on by every wait for the claimant, and since when the clock stands still (contract C9).

    `asked` are the places of the steps at which the claimant was asked for something, until the next step.
    """
    began_at, stopped_at = reached[0].at, None
    for place, step in enumerate(reached):
        if stopped_at is not None and not (step.status in DECIDED and reached[place - 1].status in DECIDED):
            began_at, stopped_at = began_at + (step.at - stopped_at), None
        if stopped_at is None and (step.status in DECIDED | WAITING or place in asked):
            stopped_at = step.at
    return began_at, stopped_at


def way(dice: Random, ways: Sequence[tuple[tuple[str, ...], int]], *, to: str | None = None) -> tuple[str, ...]:
    """One of the ways; with `to`, one that comes by that status, and no farther."""
    fitting = [(path, weight) for path, weight in ways if to is None or to in (PENDING, *path)]
    path = dice.choices([path for path, _ in fitting], [weight for _, weight in fitting])[0]
    whole = (PENDING, *path)
    return whole if to is None else whole[: whole.index(to) + 1]


def timed(dice: Random, statuses: Sequence[str], lodged_at: datetime) -> list[Reached]:
    """The statuses at working hours, each some days after the one before; some claims are slow all the way."""
    pace = _SLOWER if dice.random() < _SLOW else 1.0
    reached = [Reached(statuses[0], lodged_at)]
    for status in statuses[1:]:
        days = dice.lognormvariate(0, _SPREAD) * _MEDIAN_DAYS[status] * pace
        reached.append(Reached(status, _at_work(dice, reached[-1].at, days)))
    return reached


def _at_work(dice: Random, after: datetime, days: float) -> datetime:
    day = clock.to_lagos_day(after + timedelta(days=days))
    while day.weekday() == 6:
        day = clock.add_days(day, 1)
    moment = clock.lagos_midnight(day) + timedelta(minutes=int(dice.triangular(8.2, 18, 11.5) * 60))
    return moment if moment > after else after + timedelta(minutes=dice.randint(4, 90))
