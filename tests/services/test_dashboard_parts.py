"""Parts of the dashboard: movers, year on year, cohorts, silent distributors and stuck work add up to its figures."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers.insurers import insurer_b
from core.desk import backlog
from core.services.finance import movements
from core.services.lists.dimensions import load_choices
from core.services.lists.windows import Comparison, Window
from core.services.renewals import due
from core.services.sales import breakdowns, figures, totals
from core.services.sales.filter import SalesFilter
from core.states.policies import SubmissionState
from core.store.access import Scope, Store
from core.store.schema.tables import Submission, WebhookEndpoint
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales, lagos, sales_at
from tests.services.selling import plate_field, sell

pytestmark = pytest.mark.frozen_at(NOW)

TODAY = lagos(NOW)
MONTH = Window.from_days(TODAY - timedelta(days=29), TODAY)
LIVE = Scope.staff(is_live=True)


@pytest.fixture
def sales() -> Sales:
    return Sales(
        fixture="sold",
        of_both=(Portfolio(seed=21, size=160, days=200),),
        of_partner=(Portfolio(seed=22, size=30, is_live=False, days=200),),
    )


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


@pytest.mark.both_databases
@every_case("dimension", ["provider", "category", "product", "distributor"])
def test_what_moved_adds_up_to_the_change_of_the_premium(sold: Store, dimension: str) -> None:
    with sold.reading(LIVE) as session:
        names = load_choices(session)
        for compared in (
            Comparison(MONTH.previous),
            Comparison(MONTH.previous, clock.lagos_midnight(MONTH.previous.last) + timedelta(hours=9)),
        ):
            summary = figures.build_summary(session, MONTH, compared=compared)
            before = breakdowns.compute_compared(session, compared, SalesFilter(), names)
            now = breakdowns.compute_breakdown(session, MONTH, SalesFilter(), names)
            movers = breakdowns.list_movers(now, before, dimension)  # type: ignore[arg-type]
            assert before.premium_minor == summary.before.totals.premium_minor
            assert sum(mover.change_minor for mover in movers) == now.premium_minor - before.premium_minor
            changes = [mover.change_minor for mover in movers]
            assert changes == sorted(changes, reverse=True)
            assert 0 not in changes


@pytest.mark.both_databases
def test_year_on_year_is_each_month_beside_the_same_month_a_year_before(sold: Store, partner: Partner) -> None:
    with sold.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW - timedelta(days=400), NOW - timedelta(days=380))
    with sold.reading(LIVE) as session:
        for criteria in (SalesFilter(), SalesFilter(distributor_ids=(partner.id,))):
            pairs = breakdowns.compute_year_on_year(session, criteria, TODAY)
            assert [pair.month for pair in pairs][:: len(pairs) - 1] == [date(2025, 12, 1), date(2026, 11, 1)]
            for pair in pairs:
                for month, minor in (
                    (pair.month, pair.now_minor),
                    (clock.add_months(pair.month, -12), pair.before_minor),
                ):
                    span = Window(month, clock.add_months(month, 1)).span
                    total = totals.compute_total(session, replace(criteria, created=span))
                    assert minor == total.premium_minor
    assert any(pair.before_minor for pair in pairs)


def test_cohorts_are_the_renewal_rate_of_their_months(sold: Store, partner: Partner) -> None:
    with sold.reading(LIVE) as session:
        for criteria in (SalesFilter(), SalesFilter(distributor_ids=(partner.id,))):
            found = breakdowns.list_cohorts(session, criteria, TODAY)
            assert len(found) == 12
            assert any(cohort.renewed for cohort in found)
            for cohort in found:
                last = min(clock.add_months(cohort.month, 1), TODAY + timedelta(days=1))
                facts = figures.build_summary(session, Window(cohort.month, last), criteria).current
                assert (cohort.ended, cohort.renewed) == (facts.ended, facts.renewed)


def days_ago(*days: int) -> list[object]:
    return [NOW - timedelta(days=each) for each in days]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("days", "silent"),
    [
        ((26, 22, 19, 16, 13), 13),
        ((26, 23, 20, 17, 14, 9), None),
        ((90, 60, 30), None),
        ((0, 1, 2, 3, 4), None),
        ((7, 6, 5, 4, 4, 4, 3), None),
        ((8, 7, 6, 5, 4), 4),
    ],
)
def test_a_distributor_is_silent_after_three_times_its_usual_gap(
    store: Store, partner: Partner, days: tuple[int, ...], silent: int | None
) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, *days_ago(*days))  # type: ignore[arg-type]
    with store.reading(LIVE) as session:
        found = breakdowns.list_silent(session, load_choices(session), TODAY)
        assert [each.silent_days for each in found] == ([silent] if silent else [])
        assert all(each.id == partner.id and each.last_on == TODAY - timedelta(days=min(days)) for each in found)
    with store.reading(Scope.staff(is_live=False)) as session:
        assert breakdowns.list_silent(session, load_choices(session), TODAY) == []


def test_stuck_work_is_counted_as_its_lists_count_it(sold: Store) -> None:
    with sold.reading(LIVE) as session:
        found = backlog.load_backlog(session, load_choices(session), TODAY)
        week = due.list_due(session, TODAY)[0]
    counts = {item.key: (item.count, item.amount_minor) for item in found.items}
    assert counts["due"] == (week.policies, week.premium_minor)
    assert all(item.count for item in found.items)


@pytest.mark.both_databases
def test_premium_that_is_not_placed_and_endpoints_that_fail_are_stuck(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.COMPREHENSIVE, is_live=True)
    with store.writing(LIVE) as session:
        for state in ("active", "failing", "disabled"):
            session.insert(
                WebhookEndpoint(
                    distributor_id=partner.id, is_live=True, url="https://shop.example", state=state, secret="sealed"
                )
            )
    with store.reading(LIVE) as session:
        found = backlog.load_backlog(session, load_choices(session), TODAY)
    counts = {item.key: (item.count, item.amount_minor) for item in found.items}
    assert counts["awaiting"] == (1, money.to_minor(sale.price.total))
    assert "unplaced" not in counts, "a policy is stuck once"
    assert counts["endpoints"] == (2, None)


@pytest.mark.both_databases
def test_each_policy_without_its_insurer_is_stuck_once(store: Store, partner: Partner) -> None:
    plate = plate_field(insurer_b.COMPREHENSIVE)
    waits, dead, unsent = (
        sell(store, partner, insurer_b.COMPREHENSIVE, is_live=True, **{plate: f"LSR46{number}XA"})
        for number in range(3)
    )
    with store.writing(LIVE) as session:
        for sale, state in ((dead, SubmissionState.DEAD), (unsent, SubmissionState.WITHDRAWN)):
            change = sa.update(Submission).where(col(Submission.policy_id) == sale.policy_id).values(state=state)
            session.execute(change)
    with store.reading(LIVE) as session:
        found = backlog.load_backlog(session, load_choices(session), TODAY)
        everything = movements.compute_unplaced(session, SalesFilter())
    counts = {item.key: (item.count, item.amount_minor) for item in found.items}
    premium = [money.to_minor(sale.price.total) for sale in (dead, waits, unsent)]
    assert [counts[key] for key in ("set_aside", "awaiting", "unplaced")] == [(1, minor) for minor in premium]
    assert (everything.policies, everything.total_minor) == (3, sum(premium))


def test_an_empty_store_has_nothing_stuck(store: Store) -> None:
    with store.reading(LIVE) as session:
        found = backlog.load_backlog(session, load_choices(session), TODAY)
    assert found.items == ()
    assert found.silent == ()
