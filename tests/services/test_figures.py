"""Figures equal a plain recount of the rows, whichever way the store computes them."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa

from core.services.lists.dimensions import DIMENSIONS, load_choices
from core.services.lists.windows import Comparison, Window
from core.services.sales import breakdowns, figures, totals
from core.services.sales.figures import METRICS, METRICS_BY_KEY
from core.services.sales.filter import SalesFilter
from core.store.access import Scope, ScopedSession, Store
from core.store.rollups import daily_rollup
from core.store.schema.tables import Claim, ClaimPayment, Policy, Product, Purchase, Refund, Renewal
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales, lagos, sales_at

pytestmark = pytest.mark.frozen_at(NOW)

TODAY = lagos(NOW)
WINDOWS = [Window.from_days(TODAY - timedelta(days=n), TODAY) for n in (0, 6, 29, 75)] + [
    Window(date(2026, 9, 1), date(2026, 10, 1)),
    Window(date(2026, 8, 20), date(2026, 11, 5)),
]


@pytest.fixture
def sales() -> Sales:
    return Sales(
        fixture="sold", of_both=(Portfolio(seed=7, size=160),), of_partner=(Portfolio(seed=8, size=40, is_live=False),)
    )


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    """A live portfolio of two distributors, and another in test mode that must never show."""
    return store


@dataclass(frozen=True)
class Books:
    """The live rows, as plain lists."""

    purchases: list[Purchase]
    policies: dict[Any, Policy]
    renewals: list[Renewal]
    refunds: list[Refund]
    payments: list[ClaimPayment]
    products: dict[Any, Product]

    @classmethod
    def read(cls, session: ScopedSession, keep: Any) -> "Books":
        """The rows of the sales whose purchase `keep` lets through."""
        purchases = {p.id: p for p in session.execute(sa.select(Purchase)).scalars() if keep(p)}
        policies = {
            p.purchase_id: p for p in session.execute(sa.select(Policy)).scalars() if p.purchase_id in purchases
        }
        mine = {p.id for p in policies.values()}
        claims = {c.id for c in session.execute(sa.select(Claim)).scalars() if c.policy_id in mine}
        renewals = [r for r in session.execute(sa.select(Renewal)).scalars() if r.purchase_id in purchases and r.status]
        return cls(
            list(purchases.values()),
            policies,
            renewals,
            [r for r in session.execute(sa.select(Refund)).scalars() if r.purchase_id in purchases],
            [p for p in session.execute(sa.select(ClaimPayment)).scalars() if p.claim_id in claims],
            {p.id: p for p in session.execute(sa.select(Product)).scalars()},
        )

    def recount(self, window: Window) -> dict[str, Any]:
        """Every metric of a window, one row after the other."""
        sales = [p for p in self.purchases if window.start <= lagos(p.created_at) < window.end]
        renewals = [r for r in self.renewals if window.start <= lagos(r.created_at) < window.end]
        refunds = [r for r in self.refunds if window.start <= lagos(r.created_at) < window.end]
        premium = sum(r.total_minor for r in (*sales, *renewals))
        written = len(sales) + len(renewals)
        ended, renewed = self.terms(window)
        paid = sum(p.amount_minor for p in self.payments if window.start <= lagos(p.created_at) < window.end)
        return {
            "premium": premium,
            "policies_sold": len(sales),
            "average_premium": int(Decimal(premium) / written + Decimal("0.5")) if written else None,
            "platform_commission": sum(r.mca_profit_minor for r in (*sales, *renewals))
            - sum(r.mca_profit_minor for r in refunds),
            "distributor_commission": sum(r.distributor_profit_minor for r in (*sales, *renewals))
            - sum(r.distributor_profit_minor for r in refunds),
            "in_force": self.in_force(window.end),
            "renewal_rate": Decimal(renewed) / ended if ended else None,
            "claims_to_premium": Decimal(paid) / premium if premium else None,
        }

    def in_force(self, end: date) -> int:
        """Policies in force at the midnight with which a day begins in Lagos."""
        at = datetime(end.year, end.month, end.day, tzinfo=UTC) - timedelta(hours=1)
        number = 0
        for policy in self.policies.values():
            over = [i for i in (policy.expiration_at, policy.cancelled_at, policy.declined_at) if i and i < at]
            gap = any(r.policy_id == policy.id and r.previous_expiration_at < at <= r.start_at for r in self.renewals)
            number += policy.activated and policy.created_at < at and not over and not gap
        return number

    def terms(self, window: Window) -> tuple[int, int]:
        """Terms of renewable products that ended in the window by today, and those of them that were renewed."""

        def inside(end: datetime) -> bool:
            return window.start <= lagos(end) < window.end and lagos(end) <= TODAY

        last = [p for p in self.policies.values() if p.activated and p.expiration_at and inside(p.expiration_at)]
        open_ = [
            p
            for p in last
            if all(i is None or i >= p.expiration_at for i in (p.cancelled_at, p.declined_at))
            and self.products[p.product_id].renewable
        ]
        renewed = [
            r for r in self.renewals if inside(r.previous_expiration_at) and self.products[r.product_id].renewable
        ]
        return len(open_) + len(renewed), len(renewed)


def narrowed(session: ScopedSession, partner: Partner) -> list[tuple[SalesFilter, Any]]:
    """Filters of every kind, each with the same thing said in Python."""
    product = Random(3).choice(list(session.execute(sa.select(Product)).scalars()))
    return [
        (SalesFilter(), lambda p: True),
        (SalesFilter(distributor_ids=(partner.id,)), lambda p: p.distributor_id == partner.id),
        (SalesFilter(provider_ids=(product.provider_id,)), lambda p: p.provider_id == product.provider_id),
        (
            SalesFilter(category_ids=(product.product_category_id,), distributor_ids=(partner.id,)),
            lambda p: p.product_category_id == product.product_category_id and p.distributor_id == partner.id,
        ),
        (SalesFilter(product_ids=(product.id,)), lambda p: p.product_id == product.id),
        (SalesFilter(request_sources=("desk",)), lambda p: p.request_source == "desk"),
    ]


@pytest.mark.both_databases
def test_every_metric_equals_a_recount_of_the_rows(sold: Store, partner: Partner) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        for wanted, keep in narrowed(session, partner):
            books = Books.read(session, keep)
            for window in WINDOWS:
                summary = figures.build_summary(session, window, wanted, compared=Comparison(window.previous))
                assert {m.key: summary.value(m) for m in METRICS} == books.recount(window)
                assert {m.key: summary.previous(m) for m in METRICS} == books.recount(window.previous)


def test_the_days_of_a_summary_add_up_to_it_and_none_is_missing(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        summary = figures.build_summary(session, WINDOWS[3])
    assert len(summary.days) == WINDOWS[3].length
    for key in ("premium", "policies_sold", "platform_commission", "distributor_commission"):
        assert sum(summary.series(METRICS_BY_KEY[key])) == summary.value(METRICS_BY_KEY[key])
    assert summary.series(METRICS_BY_KEY["in_force"])[-1] == summary.value(METRICS_BY_KEY["in_force"])


def test_a_trend_is_made_of_equal_stretches_that_end_with_the_window(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        summary = figures.build_summary(session, WINDOWS[3])
    sold_each_day, trend = (f(METRICS_BY_KEY["policies_sold"]) for f in (summary.series, summary.trend))
    assert len(sold_each_day) == 76
    assert trend == [sum(sold_each_day[start : start + 2]) for start in range(0, 76, 2)]
    assert summary.trend(METRICS_BY_KEY["policies_sold"], max_points=30)[-1] == sum(sold_each_day[-3:])
    assert summary.trend(METRICS_BY_KEY["in_force"])[-1] == summary.value(METRICS_BY_KEY["in_force"])


@pytest.mark.both_databases
def test_daybook_and_rows_tell_the_same(sold: Store, partner: Partner) -> None:
    every_source = SalesFilter(request_sources=("api", "desk"))
    with sold.writing(Scope.system()) as session:
        session.execute(
            sa.update(Purchase).where(Purchase.request_source.is_(None)).values(request_source="api"),
            execution_options={"synchronize_session": False},
        )
    keys = ("day", "week", "month", "product_id", "distributor_id", "premium_frequency")
    with sold.reading(Scope.staff(is_live=True)) as session:
        for window in WINDOWS:
            from_book, from_rows = (replace(f, created=window.span) for f in (SalesFilter(), every_source))
            for chosen in [(), *((key,) for key in keys), keys[2:]]:
                assert totals.group_totals(session, from_book, *chosen) == totals.group_totals(
                    session, from_rows, *chosen
                )
        assert totals.compute_total(session, SalesFilter()) == totals.compute_total(session, every_source)


@pytest.mark.both_databases
def test_daybook_is_kept_in_step_and_can_be_made_anew(sold: Store) -> None:
    with sold.writers.begin() as connection:
        assert daily_rollup.list_faults(connection) == []
        connection.execute(sa.text("UPDATE daybook_line SET sold = sold + 1 WHERE grain = 'day'"))
        assert daily_rollup.list_faults(connection) != []
        daily_rollup.rebuild(connection)
        assert daily_rollup.list_faults(connection) == []


@pytest.mark.both_databases
def test_a_rolled_back_sale_leaves_no_trace_in_the_daybook(store: Store, partner: Partner) -> None:
    class Halt(Exception):
        pass

    with pytest.raises(Halt), store.writing(Scope.system()) as session:  # noqa: PT012
        sales_at(session, partner.id, NOW)
        raise Halt
    with store.reading(Scope.system()) as session:
        assert totals.compute_total(session, SalesFilter()) == totals.ZERO_TOTALS


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-10-31T22:59:59.999+00:00", date(2026, 10, 31)),
        ("2026-10-31T23:00:00.000+00:00", date(2026, 11, 1)),
        ("2026-11-01T00:00:00.000+00:00", date(2026, 11, 1)),
    ],
)
def test_a_window_opens_and_closes_at_midnight_in_lagos(store: Store, partner: Partner, at: str, day: date) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, datetime.fromisoformat(at))
    october, november = Window(date(2026, 10, 1), date(2026, 11, 1)), Window(date(2026, 11, 1), date(2026, 12, 1))
    with store.reading(Scope.staff(is_live=True)) as session:
        for window in (october, november):
            for wanted in (SalesFilter(), SalesFilter(request_sources=("api", "desk"))):
                summary = figures.build_summary(session, window, wanted)
                assert summary.value(METRICS_BY_KEY["policies_sold"]) == int(window.start <= day < window.end)


@pytest.mark.both_databases
def test_breakdowns_add_up_to_the_premium_of_the_summary(sold: Store) -> None:
    window = WINDOWS[3]
    with sold.reading(Scope.staff(is_live=True)) as session:
        named, premium = load_choices(session), figures.build_summary(session, window).current.totals.premium_minor
        parts = breakdowns.compute_breakdown(session, window, SalesFilter(), named)
        for dimension in DIMENSIONS:
            shares = parts.list_shares(dimension)
            assert sum(part.totals.premium_minor for part in shares) == premium
            assert [part.totals.premium_minor for part in shares] == sorted(
                (part.totals.premium_minor for part in shares), reverse=True
            )
            for grain in ("day", "week", "month"):
                lines = breakdowns.compute_over_time(
                    session, window, SalesFilter(), named, grain=grain, split=dimension
                )
                assert {line.id: line.total_minor for line in lines} == {
                    part.id: part.totals.premium_minor for part in shares
                }
                assert all(len(line.amounts_minor) == len(breakdowns.list_buckets(window, grain)) for line in lines)
        assert sum(part.totals.premium_minor for part in parts.list_instalments()) == premium
        assert {part.name for part in parts.list_instalments()} == {"Once", "Monthly", "Quarterly", "Weekly"}


def test_an_empty_store_gives_zeros_and_no_rates(store: Store) -> None:
    with store.reading(Scope.staff(is_live=True)) as session:
        summary = figures.build_summary(session, WINDOWS[1])
        assert (
            breakdowns.compute_breakdown(session, WINDOWS[1], SalesFilter(), load_choices(session)).list_shares(
                "provider"
            )
            == []
        )
    assert [summary.value(metric) for metric in METRICS] == [0, 0, None, 0, 0, 0, None, None]
    assert all(summary.change(metric) is None for metric in METRICS if metric.unit != "share")
    assert summary.series(METRICS[0]) == [0] * 7


@pytest.mark.both_databases
def test_every_metric_says_what_it_counts_leaves_out_and_is_timed_by() -> None:
    assert len({metric.key for metric in METRICS}) == len(METRICS) == 8
    for metric in METRICS:
        assert metric.counts.endswith(".")
        assert metric.leaves_out.endswith(".")
        assert metric.basis.endswith(".")
        assert metric.leaves_out in metric.definition
