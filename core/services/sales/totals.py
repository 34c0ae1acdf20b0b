"""Totals of sales: count, premium and shares, from the roll-up of days where it can answer, and what was given back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.money import Split
from core.services.lists.windows import Comparison, Span, Window
from core.services.sales.filter import SalesFilter
from core.store.access import AnySelect, Scope, ScopedSession
from core.store.expressions import first_of_month, first_of_week, lagos_day, sum_of
from core.store.rollups.daily_rollup import ONCE
from core.store.rollups.day_totals import MEASURED
from core.store.schema.tables import DaybookLine, DayTotal, Policy, Purchase, Refund, Renewal


def can_roll_up(scope: Scope, criteria: SalesFilter) -> bool:
    """Return True when the roll-up can answer: only times are filtered, and the scope covers all distributors."""
    return scope.distributor_id is None and criteria.is_answered_by(DayTotal)


def build_rollup_conditions(scope: Scope, days: Window) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on the day totals of a window, in the scope's mode, or both modes for the system."""
    mode = [] if scope.is_live is None else [col(DayTotal.is_live).is_(scope.is_live)]
    return [*mode, col(DayTotal.day) >= days.start, col(DayTotal.day) < days.end]


# Counts and sums of purchases, renewals, refunds and adjustments, grouped by day, product and the like.
#
# Read from the day totals when only whole days are filtered, from the daily roll-up when catalogue fields are filtered
# too, and from the rows otherwise; all three give the same figures.

Key = Literal["day", "week", "month", "product_id", "distributor_id", "premium_frequency"]


class SalesTotals(NamedTuple):
    """Sales and refunds of a period; amounts in kobo, premium before commission."""

    sold: int = 0
    sold_minor: int = 0
    sold_mca_minor: int = 0
    sold_distributor_minor: int = 0
    renewed: int = 0
    renewed_minor: int = 0
    renewed_mca_minor: int = 0
    renewed_distributor_minor: int = 0
    refunds: int = 0
    refunded_minor: int = 0
    refunded_mca_minor: int = 0
    refunded_distributor_minor: int = 0
    adjustments: int = 0
    adjusted_minor: int = 0
    adjusted_mca_minor: int = 0
    adjusted_distributor_minor: int = 0

    @property
    def premium_minor(self) -> int:
        """Gross written premium: purchases and renewals."""
        return self.sold_minor + self.renewed_minor

    @property
    def written(self) -> int:
        """Number of policies sold or renewed."""
        return self.sold + self.renewed

    @property
    def purchases(self) -> Split:
        """Premium of purchases and its three parts."""
        return Split(self.sold_minor, self.sold_mca_minor, self.sold_distributor_minor)

    @property
    def renewals(self) -> Split:
        """Premium of renewals and its three parts."""
        return Split(self.renewed_minor, self.renewed_mca_minor, self.renewed_distributor_minor)

    @property
    def gross(self) -> Split:
        """Everything that was written."""
        return self.purchases + self.renewals

    @property
    def refunds_split(self) -> Split:
        """Refunded premium and its three parts."""
        return Split(self.refunded_minor, self.refunded_mca_minor, self.refunded_distributor_minor)

    @property
    def adjusted(self) -> Split:
        """Adjusted premium, with its sign, and its three parts."""
        return Split(self.adjusted_minor, self.adjusted_mca_minor, self.adjusted_distributor_minor)

    @property
    def net(self) -> Split:
        """Premium less refunds plus adjustments, and its three parts."""
        return self.gross - self.refunds_split + self.adjusted

    @property
    def mca_minor(self) -> int:
        """The platform's commission, net of refunds and adjustments."""
        return self.net.mca_profit_minor

    @property
    def distributor_minor(self) -> int:
        """The distributors' commission, net of refunds and adjustments."""
        return self.net.distributor_profit_minor


ZERO_TOTALS = SalesTotals()
Grouped = dict[tuple[Any, ...], SalesTotals]
_CALENDAR_KEYS: frozenset[Key] = frozenset({"day", "week", "month"})


def add_totals(parts: Sequence[SalesTotals]) -> SalesTotals:
    """Add up the totals of several groups or days."""
    return SalesTotals(*map(sum, zip(*parts, strict=True))) if parts else ZERO_TOTALS


def compute_total(session: ScopedSession, criteria: SalesFilter) -> SalesTotals:
    """Return the totals of all sales of a filter."""
    return group_totals(session, criteria).get((), ZERO_TOTALS)


def group_totals(
    session: ScopedSession, criteria: SalesFilter, *keys: Key, measures: Sequence[str] = SalesTotals._fields
) -> Grouped:
    """Return the totals grouped by the keys, in their order; measures not requested stay zero.

    Days, weeks (their Mondays) and months (their first days) are in Lagos time. Empty groups are absent.
    """
    sums_by_group: dict[tuple[Any, ...], list[int]] = {}
    width = len(keys)
    for query in _queries(session.scope, criteria, keys, measures):
        result = session.execute(query)
        positions = [SalesTotals._fields.index(name) for name in list(result.keys())[width:]]
        for row in result:
            sums = sums_by_group.setdefault(tuple(row[:width]), [0] * len(SalesTotals._fields))
            for place, value in zip(positions, row[width:], strict=True):
                sums[place] += int(value or 0)
    return {group: SalesTotals(*sums) for group, sums in sums_by_group.items() if any(sums)}


def group_comparison(
    session: ScopedSession, compared: Comparison, criteria: SalesFilter, *keys: Key, measures: Sequence[str]
) -> Grouped:
    """Like `group_totals`, for the days of a comparison, the last of which may count in part."""
    days, last = compared.window, compared.window.last
    if compared.until is None:
        return group_totals(session, replace(criteria, created=days.span), *keys, measures=measures)
    spans = (Span(clock.lagos_midnight(last), compared.until), Window(days.start, last).span)
    parts = [
        group_totals(session, replace(criteria, created=span), *keys, measures=measures)
        for span in spans[: 2 if days.length > 1 else 1]
    ]
    groups = {group for part in parts for group in part}
    return {group: add_totals([part.get(group, ZERO_TOTALS) for part in parts]) for group in groups}


def _queries(scope: Scope, criteria: SalesFilter, keys: Sequence[Key], measures: Sequence[str]) -> Iterator[AnySelect]:
    window = Window.from_span(criteria.created)
    if window and _CALENDAR_KEYS.issuperset(keys) and can_roll_up(scope, criteria):
        yield _build_day_totals_query(scope, window, keys, measures)
        return
    if window and criteria.of_catalogue:
        # One query per grain: the lines of a grain are already sorted by day.
        for grain, days in _split_window(window, keys):
            yield _build_rollup_query(grain, days, criteria, keys, measures)
        return
    for entity, source in MEASURED.items():
        sums = [sa.func.sum(value).label(name) for name, value in source.of(entity).items() if name in measures]
        if sums:
            yield _build_rows_query(entity, criteria, keys, sums).where(*source.build_conditions(entity))


def _build_day_totals_query(scope: Scope, days: Window, keys: Sequence[Key], measures: Sequence[str]) -> AnySelect:
    groups = _build_calendar_keys(col(DayTotal.day))
    sums = [sa.func.sum(col(getattr(DayTotal, name))).label(name) for name in measures]
    query = sa.select(*(groups[key] for key in keys), *sums).where(*build_rollup_conditions(scope, days))
    return query.group_by(*(groups[key] for key in keys))


def _split_window(window: Window, keys: Sequence[Key]) -> list[tuple[str, Window]]:
    """Return the roll-up lines to read: whole months where they suffice, and the days before and after."""
    until = window.end
    if until > clock.today():
        # Future days have no sales, so the current month can be read as a whole.
        until = max(until, clock.add_months(clock.today().replace(day=1), 1))
    months = None if {"day", "week"} & set(keys) else Window(window.start, until).whole_months
    if months is None:
        return [("day", window)]
    before, after = Window(window.start, months.start), Window(months.end, until)
    return [("month", months), *(("day", days) for days in (before, after) if days.length)]


def _build_rollup_query(
    grain: str, days: Window, criteria: SalesFilter, keys: Sequence[Key], measures: Sequence[str]
) -> AnySelect:
    groups = _build_rollup_keys(grain, days, keys)
    sums = [sa.func.sum(col(getattr(DaybookLine, name))).label(name) for name in measures]
    query = sa.select(*groups, *sums).where(
        col(DaybookLine.grain) == grain,
        col(DaybookLine.day) >= days.start,
        col(DaybookLine.day) < days.end,
        *criteria.product_conditions(DaybookLine),
    )
    return query.group_by(*groups)


def _build_rollup_keys(grain: str, days: Window, keys: Sequence[Key]) -> list[Any]:
    """Return the grouping expressions on roll-up lines; avoids computing the month of a day in SQL, which is slow."""
    groups: dict[Key, Any] = dict(_build_calendar_keys(col(DaybookLine.day)))
    if grain == "month":
        groups["month"] = col(DaybookLine.day)
    elif days.start.replace(day=1) == days.last.replace(day=1):
        groups["month"] = sa.literal(days.start.replace(day=1), sa.Date())
    return [groups[key] if key in groups else col(getattr(DaybookLine, key)) for key in keys]


def _build_rows_query(row: Any, criteria: SalesFilter, keys: Sequence[Key], sums: Sequence[Any]) -> AnySelect:
    groups = {
        **_build_calendar_keys(lagos_day(col(row.created_at))),
        "product_id": col(Purchase.product_id),
        "distributor_id": col(row.distributor_id),
        "premium_frequency": sa.func.coalesce(col(Purchase.premium_frequency), ONCE),
    }
    query = sa.select(*(groups[key] for key in keys), *sums).select_from(row)
    if row is not Purchase:
        query = query.join(Purchase, col(Purchase.id) == col(row.purchase_id))
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return query.where(
        *criteria.anytime().conditions(Purchase),
        *criteria.created.on(col(row.created_at)),
    ).group_by(*(groups[key] for key in keys))


def _build_calendar_keys(day: Any) -> dict[Key, Any]:
    return {"day": day, "week": first_of_week(day), "month": first_of_month(day)}


# Refunds of a term: join conditions to its purchase or renewal, and sums.

OF_PURCHASE = sa.and_(col(Refund.purchase_id) == col(Purchase.id), col(Refund.renewal_id).is_(None))
OF_RENEWAL = col(Refund.renewal_id) == col(Renewal.id)
_AMOUNTS = (Refund.total_minor, Refund.mca_profit_minor, Refund.distributor_profit_minor)


def sum_refunds(session: ScopedSession, *conditions: Any, of: Any = None, criteria: SalesFilter | None = None) -> Split:
    """Sum the refunds that meet some conditions, which may read the table `of` sales and, by the criteria, policies."""
    query: AnySelect = sa.select(*(sum_of(col(amount)) for amount in _AMOUNTS))
    query = query.select_from(Refund)
    if of is not None:
        query = query.join(of, OF_PURCHASE if of is Purchase else OF_RENEWAL)
    if criteria and criteria.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Refund.policy_id))
    return Split(*map(int, session.execute(query.where(*conditions)).one()))
