"""The figures of the dashboard: every metric for a window, for what it is compared with, and each of its days."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlmodel import col

from core.services import comparisons, filters
from core.services.comparisons import Comparison
from core.services.filters import SalesFilter, Span
from core.services.sales import sales_totals, terms
from core.services.sales.metrics import Facts, Metric, Value, moved, together
from core.services.sales.sales_totals import NOTHING
from core.services.windows import Window
from core.store.access.scope import ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.tables import Claim, ClaimPayment, Policy

EVERYTHING = SalesFilter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What a window holds, and what that which it is compared with held."""

    window: Window
    compared: Comparison
    days: Sequence[Facts]
    current: Facts
    before: Facts

    def value(self, metric: Metric[Facts]) -> Value:
        """Return a metric over the window, None when its divisor is zero."""
        return metric.of(self.current)

    def previous(self, metric: Metric[Facts]) -> Value:
        """The same metric over what the window is compared with."""
        return metric.of(self.before)

    def change(self, metric: Metric[Facts]) -> Decimal | None:
        """Return the change of a metric: relative, or in points for a metric that is itself a share."""
        return moved(metric.unit, self.value(metric), self.previous(metric))

    def series(self, metric: Metric[Facts]) -> list[int | Decimal]:
        """Return a metric per day; zero where there is no value."""
        return [metric.of(day) or 0 for day in self.days]

    def trend(self, metric: Metric[Facts], most: int = 60) -> list[int | Decimal]:
        """Return a metric per day, or per equal run of days ending with the last day, limited in number of points."""
        size = -(-len(self.days) // most)
        starts = range(len(self.days) % size, len(self.days), size)
        stretches = [self.days[start : start + size] for start in starts]
        return [metric.of(together(days)) or 0 for days in stretches]


def summary(
    session: ScopedSession, window: Window, wanted: SalesFilter = EVERYTHING, *, compared: Comparison | None = None
) -> Summary:
    """Every metric of a window and of what it is compared with; the times of `wanted` are replaced by theirs."""
    compared = compared or comparisons.like(window)
    both = Window(compared.window.start, window.end)
    wanted = replace(wanted, created=both.span)
    written = {day: sums for (day,), sums in sales_totals.by(session, wanted, "day").items()}
    cover = terms.by_day(session, both, wanted, {day: sums.sold for day, sums in written.items()})
    paid = claims_paid_by_day(session, both.span, wanted)
    facts = {day: Facts(written.get(day, NOTHING), *cover[day], paid.get(day, 0)) for day in both.days}
    days = [facts[day] for day in window.days]
    if compared.until is not None:
        facts |= _part_of_day(session, compared, wanted, facts)
    before = together([facts[day] for day in compared.window.days])
    return Summary(window=window, compared=compared, days=days, current=together(days), before=before)


def _part_of_day(
    session: ScopedSession, compared: Comparison, wanted: SalesFilter, facts: Mapping[date, Facts]
) -> dict[date, Facts]:
    """The last day that is compared with as far as it counts; cover is always that of the day's end."""
    day = compared.window.last
    part = Span(Window.of_days(day, day).span.start, compared.until)
    written = sales_totals.by(session, replace(wanted, created=part)).get((), NOTHING)
    paid = sum(claims_paid_by_day(session, part, wanted).values())
    return {day: facts[day]._replace(takings=written, claims_paid_minor=paid)}


def claims_paid_by_day(session: ScopedSession, span: Span, wanted: SalesFilter) -> dict[date, int]:
    """What was paid on claims on each day, in kobo: every payment counts, whatever became of its claim."""
    paid_at = col(ClaimPayment.created_at)
    day = lagos_day(paid_at)
    query = sa.select(day, sa.func.sum(col(ClaimPayment.amount_minor)))
    query = query.select_from(ClaimPayment).join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
    rows = session.execute(query.where(*_claims(wanted), *span.on(paid_at)).group_by(day))
    return {when: int(minor) for when, minor in rows}


def _claims(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    kept = col(Claim.deleted_at).is_(None)
    if wanted.of_catalogue:
        return [*filters.on_catalogue(wanted, Claim), kept]
    policies = sa.select(col(Policy.id)).where(*terms.policies(wanted))
    return [col(Claim.policy_id).in_(policies), kept]
