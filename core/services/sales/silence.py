"""Distributors that fell silent: no sale for three times the usual gap between their days of selling."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from statistics import median
from uuid import UUID

from core import clock
from core.services.dimensions import UNKNOWN, Choices
from core.services.sales import sales_totals
from core.services.sales.filter import SalesFilter
from core.services.windows import Window
from core.store.access import ScopedSession

_DAYS_BACK = 365
# With fewer days of selling there is no usual gap.
_FEWEST_DAYS = 5
_TIMES_USUAL = 3


@dataclass(frozen=True, slots=True)
class SilentDistributor:
    """A distributor, the day of its last sale, the days since, and the usual days between two days of selling."""

    id: UUID
    name: str
    last_on: date
    silent_days: int
    usual_days: float


def list_silent(session: ScopedSession, choices: Choices, today: date) -> list[SilentDistributor]:
    """Return the distributors that fell silent within the last year, the longest silence first."""
    window = Window.from_days(clock.add_days(today, -_DAYS_BACK), today)
    groups = sales_totals.group_totals(
        session, SalesFilter(created=window.span), "distributor_id", "day", measures=("sold",)
    )
    days_by_distributor: defaultdict[UUID, list[date]] = defaultdict(list)
    for (distributor_id, day), totals in groups.items():
        if totals.sold:
            days_by_distributor[distributor_id].append(day)
    found = (_assess(key, choices, sorted(days), today) for key, days in days_by_distributor.items())
    return sorted(filter(None, found), key=lambda each: (-each.silent_days, each.name))


def _assess(key: UUID, choices: Choices, days: list[date], today: date) -> SilentDistributor | None:
    if len(days) < _FEWEST_DAYS:
        return None
    usual = float(median((later - earlier).days for earlier, later in pairwise(days)))
    silent = (today - days[-1]).days
    name = choices.names["distributor"].get(key, UNKNOWN)
    return SilentDistributor(key, name, days[-1], silent, usual) if silent > _TIMES_USUAL * usual else None
