"""The figures of the dashboard: every metric for a window, for what it is compared with, and each of its days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlmodel import col

from core.services import comparisons
from core.services.comparisons import Comparison
from core.services.sales import sales_totals, terms
from core.services.sales.filter import SalesFilter
from core.services.sales.metrics import Metric, PeriodFacts, Value, combine_days, compute_change
from core.services.sales.sales_totals import ZERO_TOTALS
from core.services.windows import Span, Window
from core.store.access import ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.tables import Claim, ClaimPayment, Policy

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
    compared = compared or comparisons.find_comparison(window)
    both_windows = Window(compared.window.start, window.end)
    criteria = replace(criteria, created=both_windows.span)
    totals_by_day = {day: sums for (day,), sums in sales_totals.group_totals(session, criteria, "day").items()}
    cover = terms.compute_by_day(
        session, both_windows, criteria, {day: sums.sold for day, sums in totals_by_day.items()}
    )
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
    written = sales_totals.group_totals(session, replace(wanted, created=part)).get((), ZERO_TOTALS)
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
    policies = sa.select(col(Policy.id)).where(*terms.build_policy_conditions(criteria))
    return [col(Claim.policy_id).in_(policies), not_deleted]
