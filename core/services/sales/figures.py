"""Figures of a period for the dashboard: each metric from its days, terms that begin and end, claims paid."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists import windows
from core.services.lists.windows import EARLIEST, Comparison, Span, Window
from core.services.sales import totals
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import ZERO_TOTALS, SalesTotals, add_totals
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.sales import UNUSUAL
from core.store.schema.tables import Claim, ClaimPayment, DayTotal, Policy, Product, Renewal

Value = int | Decimal | None
Unit = Literal["naira", "count", "share", "time"]
Source = TypeVar("Source")
WRITTEN_BASIS = "The moment a purchase or renewal is recorded, as days in Lagos."
MOVED = "The moment a purchase, renewal, refund or adjustment is recorded, as days in Lagos."


class PeriodFacts(NamedTuple):
    """Facts of a period that the metrics are computed from; amounts in kobo."""

    totals: SalesTotals = ZERO_TOTALS
    in_force: int = 0
    ended: int = 0
    renewed: int = 0
    claims_paid_minor: int = 0


def combine_days(days: Sequence[PeriodFacts]) -> PeriodFacts:
    """Combine several days into one period: amounts add up, policies in force are those of the last day."""
    if not days:
        return PeriodFacts()
    return PeriodFacts(
        add_totals([day.totals for day in days]),
        days[-1].in_force,
        sum(day.ended for day in days),
        sum(day.renewed for day in days),
        sum(day.claims_paid_minor for day in days),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric(Generic[Source]):
    """One figure, computed from the facts of a period.

    `better` says which direction is good, if either; times are in milliseconds.
    """

    key: str
    label: str
    unit: Unit
    counts: str
    leaves_out: str
    basis: str
    better: Literal["more", "less", "neither"] = "more"
    compute: Callable[[Source], Value]

    @property
    def definition(self) -> str:
        """Definition of the figure as Markdown, for its help text."""
        return f"**Counts** {self.counts}\n\n**Leaves out** {self.leaves_out}\n\n**Timed by** {self.basis}"


def compute_change(unit: Unit, now: Value, then: Value) -> Decimal | None:
    """Return the change of a figure: relative, or in points for a share; None without a base."""
    if now is None or then is None:
        return None
    if unit == "share":
        return Decimal(now) - Decimal(then)
    return (Decimal(now) - then) / then if then else None


def average(minor: int, number: int) -> int | None:
    """Return the average amount in kobo, halves rounded up; None for no items."""
    return (2 * minor + number) // (2 * number) if number else None


def share(part: int, whole: int) -> Decimal | None:
    """Return the ratio of a part to a whole, None when the whole is zero."""
    return Decimal(part) / whole if whole else None


METRICS: tuple[Metric[PeriodFacts], ...] = (
    Metric(
        key="premium",
        label="Gross written premium",
        unit="naira",
        counts="the totals of purchases and of renewals that took effect, before commission.",
        leaves_out="refunds, which are shown apart; deleted records; the other mode.",
        basis=WRITTEN_BASIS,
        compute=lambda facts: facts.totals.premium_minor,
    ),
    Metric(
        key="policies_sold",
        label="Policies sold",
        unit="count",
        counts="purchases; each is one policy, the ones that await their insurer too.",
        leaves_out="renewals, deleted records.",
        basis="The moment a purchase is recorded, as days in Lagos.",
        compute=lambda facts: facts.totals.sold,
    ),
    Metric(
        key="average_premium",
        label="Average premium",
        unit="naira",
        counts="gross written premium divided by the policies it was written for, sold or renewed.",
        leaves_out="refunds, deleted records.",
        basis=WRITTEN_BASIS,
        compute=lambda facts: average(facts.totals.premium_minor, facts.totals.written),
    ),
    Metric(
        key="platform_commission",
        label="Platform commission",
        unit="naira",
        counts="our own share of the gross written premium, at the rates each sale was made at, less our share of what "
        "refunds gave back, with adjustments.",
        leaves_out="the distributors' share.",
        basis=MOVED,
        compute=lambda facts: facts.totals.mca_minor,
    ),
    Metric(
        key="distributor_commission",
        label="Distributor commission",
        unit="naira",
        counts="the distributors' share of the gross written premium, at the rates each sale was made at, less their "
        "share of what refunds gave back, with adjustments.",
        leaves_out="our own share.",
        basis=MOVED,
        compute=lambda facts: facts.totals.distributor_minor,
    ),
    Metric(
        key="in_force",
        label="In force or about to start",
        unit="count",
        counts="policies that are activated, neither cancelled nor declined, and not past their expiration, "
        "also those whose cover has not started yet.",
        leaves_out="policies that await their insurer, and the days between two terms of one renewed late.",
        basis="The end of the last day of the period.",
        compute=lambda facts: facts.in_force,
    ),
    Metric(
        key="renewal_rate",
        label="Renewal rate",
        unit="share",
        counts="terms that were renewed, of the terms that came to their end; by number, not by premium.",
        leaves_out="products that cannot be renewed, terms cancelled before their end, terms still to end. "
        "A term can be renewed for some weeks after its end, so recent days still rise.",
        basis="The day a term ended in Lagos, whenever it was renewed.",
        compute=lambda facts: share(facts.renewed, facts.ended),
    ),
    Metric(
        key="claims_to_premium",
        label="Claims paid to premium",
        unit="share",
        counts="what was paid on claims, divided by the gross written premium of the same days. "
        "A simple proxy: the loss ratio proper weighs earned premium and open claims.",
        leaves_out="offers that are not paid yet, costs of handling.",
        basis="The day of each payment, and the day premium was written, in Lagos.",
        better="less",
        compute=lambda facts: share(facts.claims_paid_minor, facts.totals.premium_minor),
    ),
)
REFUNDS: Metric[PeriodFacts] = Metric(
    key="refunds",
    label="Given back",
    unit="naira",
    counts="what was given back when cover ended early, the shares of insurers, platform and distributors together.",
    leaves_out="nothing; the gross written premium is not lowered by it, the commissions are.",
    basis="The moment a refund is recorded, as days in Lagos.",
    better="less",
    compute=lambda facts: facts.totals.refunded_minor,
)
NET_PREMIUM: Metric[PeriodFacts] = Metric(
    key="net_premium",
    label="Net premium",
    unit="naira",
    counts="gross written premium, less what was given back, with adjustments.",
    leaves_out="commissions, which are part of it.",
    basis=MOVED,
    compute=lambda facts: facts.totals.net.total_minor,
)
NET_TO_INSURERS: Metric[PeriodFacts] = Metric(
    key="net_to_insurers",
    label="Net due to insurers",
    unit="naira",
    counts="the net premium less both net commissions: the insurers' share, less its part of what was given back.",
    leaves_out="what was paid to insurers already.",
    basis=MOVED,
    better="neither",
    compute=lambda facts: facts.totals.net.provider_share_minor,
)
MONEY_METRICS = (REFUNDS, NET_PREMIUM, NET_TO_INSURERS)
METRICS_BY_KEY = {metric.key: metric for metric in (*METRICS, *MONEY_METRICS)}

# Terms of cover per day: policies in force, terms ended and terms renewed.

_ends, _cancelled, _declined = col(Policy.expiration_at), col(Policy.cancelled_at), col(Policy.declined_at)
_stopped = sa.case((_cancelled.is_(None), _declined), (_declined < _cancelled, _declined), else_=_cancelled)
_lapse, _return = col(Renewal.previous_expiration_at), col(Renewal.start_at)
_active = col(Policy.activated).is_(True)
_renewable = sa.select(col(Product.id)).where(col(Product.renewable).is_(True))


class DailyTerms(NamedTuple):
    """One day: policies in force at its end, terms of renewable products that ended on it, and those renewed."""

    in_force: int
    ended: int
    renewed: int


def compute_by_day(
    session: ScopedSession, window: Window, criteria: SalesFilter, sold: Mapping[date, int]
) -> dict[date, DailyTerms]:
    """Return the terms of every day of a window; `sold` is the number of policies sold per day.

    A policy is in force from its sale until it expires, is cancelled or declined; never while it awaits its
    insurer, nor between two terms when it was renewed late (contract S11). A term counts as renewed on the day it
    ended, whenever the renewal was bought; terms cancelled before their end and future terms do not count.
    """
    if totals.can_roll_up(session.scope, criteria):
        return _read_day_totals(session, window)
    ended, renewed, change = (
        _count_ended(session, window.span, criteria),
        _count_renewed(session, window.span, criteria),
        Counter(sold),
    )
    for query, sign in _build_change_queries(window.span, criteria):
        for day, number in session.execute(query):
            change[day] += sign * number
    in_force, terms_by_day = _count_in_force_at_start(session, window.span, criteria), {}
    for day in window.days:
        in_force += change[day] - ended[day, True] - ended[day, False]
        over = day <= clock.today()
        terms = ended[day, True] + renewed[day] if over else 0
        terms_by_day[day] = DailyTerms(in_force, terms, renewed[day] if over else 0)
    return terms_by_day


def count_ended_by_day(session: ScopedSession, window: Window, criteria: SalesFilter) -> dict[date, tuple[int, int]]:
    """Return the terms of renewable products that ended on each day of a window, and those of them renewed."""
    if totals.can_roll_up(session.scope, criteria):
        return {day: (terms.ended, terms.renewed) for day, terms in _read_day_totals(session, window).items()}
    lapsed, renewed = _count_ended(session, window.span, criteria), _count_renewed(session, window.span, criteria)
    today = clock.today()
    return {day: (lapsed[day, True] + renewed[day], renewed[day]) for day in window.days if day <= today}


def _read_day_totals(session: ScopedSession, window: Window) -> dict[date, DailyTerms]:
    before, in_force_sum = Window(EARLIEST, window.start), sa.func.sum(col(DayTotal.in_force_change))
    in_force = int(
        session.execute(sa.select(in_force_sum).where(*totals.build_rollup_conditions(session.scope, before))).scalar()
        or 0
    )
    sums = (in_force_sum, sa.func.sum(col(DayTotal.terms_ended)), sa.func.sum(col(DayTotal.terms_renewed)))
    query = sa.select(col(DayTotal.day), *sums).where(*totals.build_rollup_conditions(session.scope, window))
    lines = {day: tuple(map(int, rest)) for day, *rest in session.execute(query.group_by(col(DayTotal.day)))}
    terms_by_day, today = {}, clock.today()
    for day in window.days:
        change, ended, renewed = lines.get(day, (0, 0, 0))
        in_force += change
        terms_by_day[day] = (
            DailyTerms(in_force, ended + renewed, renewed) if day <= today else DailyTerms(in_force, 0, 0)
        )
    return terms_by_day


def _count_in_force_at_start(session: ScopedSession, span: Span, criteria: SalesFilter) -> int:
    start, conditions = span.start, build_policy_conditions(criteria)
    sold = [*conditions, col(Policy.created_at) < start]
    stopped = sa.or_(~_active, _cancelled < start, _declined < start)
    # Most policies are ordinary: counting all and subtracting the few exceptions reads the fewest rows.
    unexpired = sa.select(sa.func.count()).where(*sold, _ends >= start)
    never_ending = sa.select(sa.func.count()).where(*sold, _ends.is_(None), sa.not_(sa.func.coalesce(stopped, False)))
    lapsed = sa.select(sa.func.count()).where(*_build_renewal_conditions(criteria), _lapse < start, _return >= start)
    counted = (
        (unexpired, 1),
        (unexpired.where(sa.text(UNUSUAL), stopped), -1),
        (never_ending, 1),
        (lapsed, -1),
    )
    return sum(sign * int(session.execute(query).scalar_one()) for query, sign in counted)


def _count_ended(session: ScopedSession, span: Span, criteria: SalesFilter) -> Counter[tuple[date, bool]]:
    """Count terms that ran to their end, by day and by whether the product is renewable."""
    day, renewable = lagos_day(_ends), col(Policy.product_id).in_(_renewable)
    unbroken = (sa.or_(instant.is_(None), instant >= _ends) for instant in (_cancelled, _declined))
    query = sa.select(day, renewable, sa.func.count()).where(
        *build_policy_conditions(criteria), _active, *span.on(_ends), *unbroken
    )
    return Counter({(day, bool(can)): number for day, can, number in session.execute(query.group_by(day, renewable))})


def _count_renewed(session: ScopedSession, span: Span, criteria: SalesFilter) -> Counter[date]:
    """Count ended terms that have a renewal, by the day they ended."""
    query = _count_by_day(
        _lapse, *_build_renewal_conditions(criteria), *span.on(_lapse), col(Renewal.product_id).in_(_renewable)
    )
    return Counter(dict(iter(session.execute(query))))


def _build_change_queries(span: Span, criteria: SalesFilter) -> Iterator[tuple[AnySelect, int]]:
    """Yield queries of the other daily changes: never activated (-1), ended early (-1), lapsed (-1), resumed (+1)."""
    unusual, created = sa.text(UNUSUAL), col(Policy.created_at)
    yield _count_by_day(created, *build_policy_conditions(criteria), unusual, ~_active, *span.on(created)), -1
    early = sa.or_(_ends.is_(None), _stopped < _ends)
    yield _count_by_day(_stopped, *build_policy_conditions(criteria), unusual, _active, *span.on(_stopped), early), -1
    yield _count_by_day(_lapse, *_build_renewal_conditions(criteria), _return > _lapse, *span.on(_lapse)), -1
    yield _count_by_day(_return, *_build_renewal_conditions(criteria), _return > _lapse, *span.on(_return)), 1


def _count_by_day(instant: object, *conditions: Any) -> AnySelect:
    day = lagos_day(instant)
    return sa.select(day, sa.func.count()).where(*conditions).group_by(day)


def build_policy_conditions(criteria: SalesFilter) -> list[Any]:
    """Return the conditions on the policies of a filter, ignoring the time of sale."""
    not_deleted = col(Policy.deleted_at).is_(None)
    if criteria.of_catalogue:
        return [*criteria.product_conditions(Policy), not_deleted]
    return [*criteria.anytime().conditions(Policy), not_deleted]


def _build_renewal_conditions(criteria: SalesFilter) -> list[Any]:
    is_effective = [col(Renewal.status).is_(True), col(Renewal.deleted_at).is_(None)]
    if criteria.of_catalogue:
        return [*criteria.product_conditions(Renewal), *is_effective]
    return [
        col(Renewal.policy_id).in_(sa.select(col(Policy.id)).where(*build_policy_conditions(criteria))),
        *is_effective,
    ]


# The figures of the dashboard: every metric for a window, for what it is compared with, and each of its days.

UNFILTERED = SalesFilter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Figures of a window and of its comparison window."""

    window: Window
    compared: Comparison
    days: Sequence[PeriodFacts]
    current: PeriodFacts
    before: PeriodFacts

    def value(self, metric: Metric[PeriodFacts]) -> Value:
        """Return a metric over the window, None when its divisor is zero."""
        return metric.compute(self.current)

    def previous(self, metric: Metric[PeriodFacts]) -> Value:
        """The same metric over what the window is compared with."""
        return metric.compute(self.before)

    def change(self, metric: Metric[PeriodFacts]) -> Decimal | None:
        """Return the change of a metric: relative, or in points for a metric that is itself a share."""
        return compute_change(metric.unit, self.value(metric), self.previous(metric))

    def series(self, metric: Metric[PeriodFacts]) -> list[int | Decimal]:
        """Return a metric per day; zero where there is no value."""
        return [metric.compute(day) or 0 for day in self.days]

    def trend(self, metric: Metric[PeriodFacts], max_points: int = 60) -> list[int | Decimal]:
        """Return a metric per day, or per equal run of days ending with the last day, limited in number of points."""
        size = -(-len(self.days) // max_points)
        starts = range(len(self.days) % size, len(self.days), size)
        stretches = [self.days[start : start + size] for start in starts]
        return [metric.compute(combine_days(days)) or 0 for days in stretches]


def build_summary(
    session: ScopedSession, window: Window, criteria: SalesFilter = UNFILTERED, *, compared: Comparison | None = None
) -> Summary:
    """Every metric of a window and of what it is compared with; the times of `wanted` are replaced by theirs."""
    compared = compared or windows.find_comparison(window)
    both_windows = Window(compared.window.start, window.end)
    criteria = replace(criteria, created=both_windows.span)
    totals_by_day = {day: sums for (day,), sums in totals.group_totals(session, criteria, "day").items()}
    cover = compute_by_day(session, both_windows, criteria, {day: sums.sold for day, sums in totals_by_day.items()})
    paid = sum_claims_paid_by_day(session, both_windows.span, criteria)
    facts = {
        day: PeriodFacts(totals_by_day.get(day, ZERO_TOTALS), *cover[day], paid.get(day, 0))
        for day in both_windows.days
    }
    days = [facts[day] for day in window.days]
    if compared.until is not None:
        facts |= _part_of_day(session, compared, criteria, facts)
    before = combine_days([facts[day] for day in compared.window.days])
    return Summary(window=window, compared=compared, days=days, current=combine_days(days), before=before)


def _part_of_day(
    session: ScopedSession, compared: Comparison, wanted: SalesFilter, facts: Mapping[date, PeriodFacts]
) -> dict[date, PeriodFacts]:
    """The last day that is compared with as far as it counts; cover is always that of the day's end."""
    day = compared.window.last
    part = Span(Window.from_days(day, day).span.start, compared.until)
    written = totals.group_totals(session, replace(wanted, created=part)).get((), ZERO_TOTALS)
    paid = sum(sum_claims_paid_by_day(session, part, wanted).values())
    return {day: facts[day]._replace(totals=written, claims_paid_minor=paid)}


def sum_claims_paid_by_day(session: ScopedSession, span: Span, criteria: SalesFilter) -> dict[date, int]:
    """Sum claim payments by day, in kobo; every payment counts, whatever the claim's status became."""
    paid_at = col(ClaimPayment.created_at)
    day = lagos_day(paid_at)
    query = sa.select(day, sa.func.sum(col(ClaimPayment.amount_minor)))
    query = query.select_from(ClaimPayment).join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
    rows = session.execute(query.where(*_build_claim_conditions(criteria), *span.on(paid_at)).group_by(day))
    return {when: int(minor) for when, minor in rows}


def _build_claim_conditions(criteria: SalesFilter) -> list[sa.ColumnElement[bool]]:
    not_deleted = col(Claim.deleted_at).is_(None)
    if criteria.of_catalogue:
        return [*criteria.product_conditions(Claim), not_deleted]
    policies = sa.select(col(Policy.id)).where(*build_policy_conditions(criteria))
    return [col(Claim.policy_id).in_(policies), not_deleted]
