"""Renewal cohorts: the terms that ended in each month, and how many of them were renewed."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from core import clock
from core.services.sales import metrics, terms
from core.services.sales.filter import SalesFilter
from core.services.windows import Window
from core.store.access import ScopedSession

_MONTHS = 12


@dataclass(frozen=True, slots=True)
class Cohort:
    """The terms of renewable products that ended in one month."""

    month: date
    ended: int
    renewed: int

    @property
    def rate(self) -> Decimal | None:
        """Share renewed, None when no term ended."""
        return metrics.share(self.renewed, self.ended)


def list_cohorts(session: ScopedSession, criteria: SalesFilter, today: date) -> list[Cohort]:
    """Return the last 12 months, the latest first; this month counts the terms that have ended until today.

    A term can be renewed for some weeks after its end, so the latest months still rise.
    """
    this_month = today.replace(day=1)
    window = Window(clock.add_months(this_month, 1 - _MONTHS), clock.add_days(today, 1))
    sums: defaultdict[date, list[int]] = defaultdict(lambda: [0, 0])
    for day, (ended, renewed) in terms.count_ended_by_day(session, window, criteria).items():
        month = sums[day.replace(day=1)]
        month[0] += ended
        month[1] += renewed
    months = (clock.add_months(this_month, -place) for place in range(_MONTHS))
    return [Cohort(month, *sums[month]) for month in months]
