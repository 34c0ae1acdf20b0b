"""The figures of the dashboard: every metric for a window, the one before it, and each of their days."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

import sqlalchemy as sa
from sqlmodel import col

from core.services import filters
from core.services.filters import SalesFilter
from core.services.sales import takings, terms
from core.services.sales.metrics import Facts, Metric, Value, moved, together
from core.services.sales.takings import NOTHING
from core.services.windows import Window
from core.store.expressions import lagos_day
from core.store.scope import ScopedSession
from core.store.tables import Claim, ClaimPayment, Policy

EVERYTHING = SalesFilter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """What a window holds, and what the window of the same length before it held."""

    window: Window
    days: Sequence[Facts]
    current: Facts
    before: Facts

    def value(self, metric: Metric[Facts]) -> Value:
        """A metric over the whole window; none when there is nothing to divide by."""
        return metric.of(self.current)

    def previous(self, metric: Metric[Facts]) -> Value:
        """The same metric over the window before."""
        return metric.of(self.before)

    def change(self, metric: Metric[Facts]) -> Decimal | None:
        """How far a metric moved: a share of what it was, or points for one that is itself a share."""
        return moved(metric.unit, self.value(metric), self.previous(metric))

    def series(self, metric: Metric[Facts]) -> list[int | Decimal]:
        """A metric of each day; zero where there is nothing."""
        return [metric.of(day) or 0 for day in self.days]

    def trend(self, metric: Metric[Facts], most: int = 60) -> list[int | Decimal]:
        """A metric of each day, or of equal stretches of days that end with the last, `most` of them at the most."""
        size = -(-len(self.days) // most)
        starts = range(len(self.days) % size, len(self.days), size)
        stretches = [self.days[start : start + size] for start in starts]
        return [metric.of(together(days)) or 0 for days in stretches]


def summary(session: ScopedSession, window: Window, wanted: SalesFilter = EVERYTHING) -> Summary:
    """Every metric of a window and of the one before; the times of `wanted` are replaced by the window's."""
    both = Window(window.previous.start, window.end)
    wanted = replace(wanted, created=both.span)
    written = {day: sums for (day,), sums in takings.by(session, wanted, "day").items()}
    cover = terms.by_day(session, both, wanted, {day: sums.sold for day, sums in written.items()})
    paid = claims_paid_by_day(session, both, wanted)
    facts = [Facts(written.get(day, NOTHING), *cover[day], paid.get(day, 0)) for day in both.days]
    before, days = facts[: window.length], facts[window.length :]
    return Summary(window=window, days=days, current=together(days), before=together(before))


def claims_paid_by_day(session: ScopedSession, window: Window, wanted: SalesFilter) -> dict[date, int]:
    """What was paid on claims on each day, in kobo: every payment counts, whatever became of its claim."""
    paid_at = col(ClaimPayment.created_at)
    day = lagos_day(paid_at)
    query = sa.select(day, sa.func.sum(col(ClaimPayment.amount_minor)))
    query = query.select_from(ClaimPayment).join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
    rows = session.execute(query.where(*_claims(wanted), *window.span.on(paid_at)).group_by(day))
    return {when: int(minor) for when, minor in rows}


def _claims(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    kept = col(Claim.deleted_at).is_(None)
    if wanted.of_catalogue:
        return [*filters.on_catalogue(wanted, Claim), kept]
    policies = sa.select(col(Policy.id)).where(*terms.policies(wanted))
    return [col(Claim.policy_id).in_(policies), kept]
