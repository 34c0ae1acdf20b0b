"""Premium broken down by seller, product and time, cohorts of customers, and distributors that sell no more."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from statistics import median
from typing import Literal
from uuid import UUID

from core import clock
from core.services.lists.dimensions import UNKNOWN, Choices, Dimension
from core.services.lists.windows import Comparison, Window
from core.services.sales import figures, totals
from core.services.sales.figures import PeriodFacts
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import Key, SalesTotals, add_totals, group_totals
from core.store.access import ScopedSession

Grain = Literal["day", "week", "month"]
_PREMIUM_MEASURES = ("sold", "sold_minor", "renewed", "renewed_minor")


@dataclass(frozen=True, slots=True)
class Slice:
    """One member of a dimension with its totals; `id` is the filter value, None when it cannot be filtered by."""

    id: UUID | None
    name: str
    totals: SalesTotals


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart: an amount in kobo per bucket; `id` is None when it stands for everything.

    `place` is the member's fixed position in its dimension, whatever the filter and the order of the lines.
    """

    id: UUID | None
    name: str
    amounts_minor: Sequence[int]
    position: int | None = None

    @property
    def total_minor(self) -> int:
        """Sum of the line in kobo."""
        return sum(self.amounts_minor)


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Totals of a window, grouped for every chart that shows them."""

    groups: totals.Grouped
    choices: Choices

    @property
    def premium_minor(self) -> int:
        """Total premium in kobo."""
        return sum(part.premium_minor for part in self.groups.values())

    def list_shares(self, dimension: Dimension) -> list[Slice]:
        """Return the totals of each member of a dimension, the largest premium first."""
        names = self.choices.names[dimension]
        parts_by_member: defaultdict[UUID, list[SalesTotals]] = defaultdict(list)
        for (product_id, distributor_id, _), part in self.groups.items():
            parts_by_member[self.choices.get_member(dimension, product_id, distributor_id)].append(part)
        return _sort_by_premium(
            [Slice(key, names.get(key, UNKNOWN), add_totals(parts)) for key, parts in parts_by_member.items()]
        )

    def get_top_members(self, dimension: Dimension) -> list[Slice]:
        """Return the eight members with the largest premium."""
        return self.list_shares(dimension)[:8]

    def list_instalments(self) -> list[Slice]:
        """Return the totals by premium frequency, the largest premium first."""
        parts_by_frequency: defaultdict[str, list[SalesTotals]] = defaultdict(list)
        for (_, _, frequency), part in self.groups.items():
            parts_by_frequency[frequency].append(part)
        return _sort_by_premium(
            [Slice(None, key.capitalize(), add_totals(parts)) for key, parts in parts_by_frequency.items()]
        )


def _sort_by_premium(slices: list[Slice]) -> list[Slice]:
    return sorted(slices, key=lambda part: (-part.totals.premium_minor, part.name))


def compute_breakdown(session: ScopedSession, window: Window, criteria: SalesFilter, choices: Choices) -> Breakdown:
    """Compute the breakdown of one window, with a single set of queries."""
    within = replace(criteria, created=window.span)
    groups = totals.group_totals(
        session, within, "product_id", "distributor_id", "premium_frequency", measures=_PREMIUM_MEASURES
    )
    return Breakdown(groups, choices)


def compute_compared(
    session: ScopedSession, compared: Comparison, criteria: SalesFilter, choices: Choices
) -> Breakdown:
    """Like `compute_breakdown`, for what a window is compared with."""
    keys: tuple[Key, ...] = ("product_id", "distributor_id", "premium_frequency")
    return Breakdown(totals.group_comparison(session, compared, criteria, *keys, measures=_PREMIUM_MEASURES), choices)


@dataclass(frozen=True, slots=True)
class Mover:
    """One member of a dimension with its premium now and before, in kobo."""

    id: UUID
    name: str
    now_minor: int
    before_minor: int

    @property
    def change_minor(self) -> int:
        """Premium now less premium before."""
        return self.now_minor - self.before_minor


def list_movers(now: Breakdown, before: Breakdown, dimension: Dimension) -> list[Mover]:
    """Return the members whose premium changed, the greatest rise first and the greatest fall last."""
    current, earlier = ({part.id: part for part in each.list_shares(dimension)} for each in (now, before))
    movers = [
        Mover(
            key,
            (current.get(key) or earlier[key]).name,
            current[key].totals.premium_minor if key in current else 0,
            earlier[key].totals.premium_minor if key in earlier else 0,
        )
        for key in {*current, *earlier}
        if key is not None
    ]
    return sorted(
        (mover for mover in movers if mover.change_minor), key=lambda mover: (-mover.change_minor, mover.name)
    )


@dataclass(frozen=True, slots=True)
class MonthPair:
    """The premium of one month and of the same month a year before, in kobo."""

    month: date
    now_minor: int
    before_minor: int


def compute_year_on_year(session: ScopedSession, criteria: SalesFilter, today: date) -> list[MonthPair]:
    """Return the premium of the last 12 months, this one included, beside that of the 12 months before."""
    first = clock.add_months(today.replace(day=1), -23)
    window = Window(first, clock.add_months(today.replace(day=1), 1))
    within = replace(criteria, created=window.span)
    groups = totals.group_totals(session, within, "month", measures=("sold_minor", "renewed_minor"))
    premium = {month: totals.premium_minor for (month,), totals in groups.items()}
    months = [clock.add_months(first, place) for place in range(24)]
    return [
        MonthPair(month, premium.get(month, 0), premium.get(before, 0))
        for before, month in zip(months[:12], months[12:], strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount that a chart shows over time: the measures that it is made of, and how."""

    measures: tuple[str, ...]
    of: Callable[[SalesTotals], int]


PREMIUM = Amount(("sold_minor", "renewed_minor"), lambda totals: totals.premium_minor)
# Of the platform and of the distributors, less what refunds took back, with adjustments.
COMMISSION = Amount(
    tuple(
        f"{moved}_{share}_minor"
        for moved in ("sold", "renewed", "refunded", "adjusted")
        for share in ("mca", "distributor")
    ),
    lambda totals: totals.mca_minor + totals.distributor_minor,
)


def compute_over_time(
    session: ScopedSession,
    window: Window,
    criteria: SalesFilter,
    choices: Choices,
    *,
    amount: Amount = PREMIUM,
    grain: Grain,
    split: Dimension,
) -> list[Series]:
    """Return an amount per bucket, one line per member of a dimension, largest first; empty buckets are zero."""
    key: Key = "distributor_id" if split == "distributor" else "product_id"
    within = replace(criteria, created=window.span)
    sums: defaultdict[UUID, defaultdict[date, int]] = defaultdict(lambda: defaultdict(int))
    for (bucket, member), part in totals.group_totals(session, within, grain, key, measures=amount.measures).items():
        sums[choices.get_member(split, member, member)][bucket] += amount.of(part)
    names, when, places = choices.names[split], list_buckets(window, grain), choices.get_positions(split)
    lines = [
        Series(key, names.get(key, UNKNOWN), [part[day] for day in when], places.get(key)) for key, part in sums.items()
    ]
    return sorted(lines, key=lambda line: (-line.total_minor, line.name))


def build_bucket_series(
    window: Window, days: Sequence[PeriodFacts], grain: Grain, measure: Callable[[SalesTotals], int], name: str
) -> Series:
    """Sum a measure of a summary's days into buckets."""
    sums: defaultdict[date, int] = defaultdict(int)
    for day, facts in zip(window.days, days, strict=True):
        sums[get_bucket_start(day, grain)] += measure(facts.totals)
    return Series(None, name, [sums[day] for day in list_buckets(window, grain)])


def list_buckets(window: Window, grain: Grain) -> list[date]:
    """List the first day of every bucket that a window touches: days, Mondays or first days of months."""
    found, at = [], get_bucket_start(window.start, grain)
    while at < window.end:
        found.append(at)
        at = clock.add_months(at, 1) if grain == "month" else clock.add_days(at, 7 if grain == "week" else 1)
    return found


def get_bucket_start(day: date, grain: Grain) -> date:
    """Return the first day of the bucket that contains a day."""
    if grain == "week":
        return clock.add_days(day, -day.weekday())
    return day.replace(day=1) if grain == "month" else day


# Renewal cohorts: the terms that ended in each month, and how many of them were renewed.

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
        return figures.share(self.renewed, self.ended)


def list_cohorts(session: ScopedSession, criteria: SalesFilter, today: date) -> list[Cohort]:
    """Return the last 12 months, the latest first; this month counts the terms that have ended until today.

    A term can be renewed for some weeks after its end, so the latest months still rise.
    """
    this_month = today.replace(day=1)
    window = Window(clock.add_months(this_month, 1 - _MONTHS), clock.add_days(today, 1))
    sums: defaultdict[date, list[int]] = defaultdict(lambda: [0, 0])
    for day, (ended, renewed) in figures.count_ended_by_day(session, window, criteria).items():
        month = sums[day.replace(day=1)]
        month[0] += ended
        month[1] += renewed
    months = (clock.add_months(this_month, -place) for place in range(_MONTHS))
    return [Cohort(month, *sums[month]) for month in months]


# Distributors that fell silent: no sale for three times the usual gap between their days of selling.

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
    groups = group_totals(session, SalesFilter(created=window.span), "distributor_id", "day", measures=("sold",))
    days_by_distributor: defaultdict[UUID, list[date]] = defaultdict(list)
    for (distributor_id, day), sums in groups.items():
        if sums.sold:
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
