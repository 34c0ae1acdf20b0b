"""Paths of claims: the statuses in order and the time that each takes (contract C5)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import NamedTuple

from core import clock
from core.states import claims as claim_states
from core.states.claims import DECIDED, WAITING
from core.states.claims import ClaimStatus as S

Path = tuple[S, ...]
_PAID = (S.OFFER_SENT, S.OFFER_ACCEPTED, S.PAID, S.SETTLED)
_HAGGLED = (S.OFFER_SENT, S.OFFER_REJECTED, *_PAID)
_REPAIR = (S.VIEWED, S.INSPECTION_SUBMITTED, S.ESTIMATE_SUBMITTED)
# Every way a claim can go after Pending, and how many of a hundred go it, where nobody can look at the loss.
UNSEEN: Sequence[tuple[Path, int]] = (
    ((S.VIEWED, S.REVIEWING, S.APPROVED, *_PAID), 47),
    ((S.VIEWED, S.APPROVED, *_PAID), 14),
    ((S.VIEWED, S.REVIEWING, S.APPROVED, *_HAGGLED), 6),
    ((S.VIEWED, S.REVIEWING, S.DECLINED), 21),
    ((S.VIEWED, S.REVIEWING, S.DECLINED, S.REVIEWING, S.APPROVED, *_PAID), 3),
    ((S.VIEWED, S.REVIEWING, S.APPROVED, S.OFFER_SENT, S.OFFER_REJECTED, S.DECLINED), 2),
)
# On what somebody looks at, such as contents, and on what is repaired.
INSPECTED: Sequence[tuple[Path, int]] = (*UNSEEN, ((*_REPAIR, S.DECLINED), 4))
REPAIRED: Sequence[tuple[Path, int]] = (
    ((*_REPAIR, S.APPROVED, *_PAID), 55),
    ((*_REPAIR, S.REVIEWING, S.APPROVED, *_PAID), 10),
    ((*_REPAIR, S.APPROVED, *_HAGGLED), 9),
    ((S.VIEWED, S.REVIEWING, S.DECLINED), 16),
    ((S.VIEWED, S.INSPECTION_SUBMITTED, S.DECLINED), 10),
)
_USUAL = {S.PENDING, *(status for path, _ in (*INSPECTED, *REPAIRED) for status in path)}
# Statuses in which some claim of the demonstration stands today; finished ones come about by themselves.
_OPEN = (S.PENDING, *_REPAIR, S.REVIEWING, S.APPROVED, S.OFFER_SENT, S.OFFER_ACCEPTED, S.OFFER_REJECTED, S.PAID)
OPEN = (*_OPEN, *(status for status in S if status not in DECIDED and status not in _OPEN))
# The days that half of the claims need at most to reach a status.
_MEDIAN_DAYS: Mapping[S, float] = {
    S.VIEWED: 0.4,
    S.REVIEWING: 0.9,
    S.INSPECTION_SUBMITTED: 2.6,
    S.ESTIMATE_SUBMITTED: 3.4,
    S.APPROVED: 3.6,
    S.DECLINED: 4.2,
    S.OFFER_SENT: 0.8,
    S.OFFER_ACCEPTED: 2.3,
    S.OFFER_REJECTED: 2.8,
    S.PAID: 1.9,
    S.SETTLED: 2.6,
}
_USUAL_DAYS, _SPREAD, _SLOW, _SLOWER = 1.0, 0.75, 0.09, 4.5


class Reached(NamedTuple):
    """A status and when a claim came to it."""

    status: S
    at: datetime


def clock_of(reached: Sequence[Reached], questioned: Collection[int]) -> tuple[datetime, datetime | None]:
    """The lodging moved on by every wait for the claimant, and since when the clock stands still (contract C9).

    `questioned` are the places of the steps at which the claimant was asked for something, until the next step.
    """
    began_at, stopped_at = reached[0].at, None
    for place, step in enumerate(reached):
        if stopped_at is not None and not (step.status in DECIDED and reached[place - 1].status in DECIDED):
            began_at, stopped_at = began_at + (step.at - stopped_at), None
        if stopped_at is None and (step.status in DECIDED | WAITING or place in questioned):
            stopped_at = step.at
    return began_at, stopped_at


def way(dice: Random, ways: Sequence[tuple[Path, int]], *, to: S | None = None) -> Path:
    """One of the ways; with `to`, one that comes by that status, and no farther."""
    fitting = [(path, weight) for path, weight in ways if to is None or to in (S.PENDING, *path)]
    fitting = fitting or [(_find_shortest(to or S.PENDING), 1)]
    path = dice.choices([path for path, _ in fitting], [weight for _, weight in fitting])[0]
    whole = (S.PENDING, *path)
    return whole if to is None else whole[: whole.index(to) + 1]


def list_open(ways: Sequence[tuple[Path, int]]) -> list[S]:
    """Return the open statuses that these ways come by, and those that no way does."""
    return [status for status in OPEN if status not in _USUAL or any(status in (S.PENDING, *path) for path, _ in ways)]


def _find_shortest(to: S) -> Path:
    """Return the shortest path from Pending to a status that no path above comes by."""
    paths: list[Path] = [()]
    for path in paths:
        last = path[-1] if path else S.PENDING
        if last is to:
            return path
        paths += [(*path, move.to) for move in claim_states.TRANSITIONS.list_from(last) if move.to not in path]
    raise ValueError(f"{to} cannot be reached")


def date_statuses(dice: Random, statuses: Path, lodged_at: datetime) -> list[Reached]:
    """The statuses at working hours, each some days after the one before; some claims are slow all the way."""
    pace = _SLOWER if dice.random() < _SLOW else 1.0
    reached = [Reached(statuses[0], lodged_at)]
    for status in statuses[1:]:
        days = dice.lognormvariate(0, _SPREAD) * _MEDIAN_DAYS.get(status, _USUAL_DAYS) * pace
        reached.append(Reached(status, _at_work(dice, reached[-1].at, days)))
    return reached


def _at_work(dice: Random, after: datetime, days: float) -> datetime:
    day = clock.to_lagos_day(after + timedelta(days=days))
    while day.weekday() == 6:
        day = clock.add_days(day, 1)
    moment = clock.lagos_midnight(day) + timedelta(minutes=int(dice.triangular(8.2, 18, 11.5) * 60))
    return moment if moment > after else after + timedelta(minutes=dice.randint(4, 90))
