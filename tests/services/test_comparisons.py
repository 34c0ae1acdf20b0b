"""Figures are compared like with like: months with months, days of a month with the same days, today with yesterday."""

from datetime import UTC, date, datetime

import pytest

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.lists import windows
from core.services.lists.windows import Comparison, Window
from core.services.sales import figures
from core.services.sales.figures import METRICS_BY_KEY
from core.services.sales.filter import SalesFilter
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.selling import sell

pytestmark = pytest.mark.both_databases

NOON = datetime(2026, 11, 22, 11, 0, 30, tzinfo=UTC)  # 12:00:30 in Lagos


@every_case(
    ("days", "compared"),
    [
        (("2026-10-01", "2026-10-31"), ("2026-09-01", "2026-09-30")),
        (("2026-02-01", "2026-02-28"), ("2026-01-01", "2026-01-31")),
        (("2026-07-01", "2026-09-30"), ("2026-04-01", "2026-06-30")),
        (("2026-11-01", "2026-11-22"), ("2026-10-01", "2026-10-22")),
        (("2026-03-01", "2026-03-30"), ("2026-02-01", "2026-02-28")),
        (("2026-05-23", "2026-11-22"), ("2025-11-23", "2026-05-22")),
        (("2025-11-23", "2026-11-22"), ("2024-11-23", "2025-11-22")),
        (("2026-11-16", "2026-11-22"), ("2026-11-09", "2026-11-15")),
        (("2026-11-20", "2026-11-20"), ("2026-11-19", "2026-11-19")),
    ],
)
def test_a_window_is_compared_with_what_is_like_it(days: tuple[str, str], compared: tuple[str, str]) -> None:
    window, expected = (Window.from_days(*map(date.fromisoformat, pair)) for pair in (days, compared))
    with clock.freeze(NOON):
        assert windows.find_comparison(window) == Comparison(expected)


@every_case(
    ("days", "compared"),
    [
        (("2026-10-01", "2026-10-31"), ("2025-10-01", "2025-10-31")),
        (("2026-02-01", "2026-02-28"), ("2025-02-01", "2025-02-28")),
        (("2026-10-24", "2026-11-22"), ("2025-10-24", "2025-11-22")),
        (("2026-11-22", "2026-11-22"), ("2025-11-22", "2025-11-22")),
    ],
)
def test_a_window_is_compared_with_the_same_days_of_the_year_before(
    days: tuple[str, str], compared: tuple[str, str]
) -> None:
    window, expected = (Window.from_days(*map(date.fromisoformat, pair)) for pair in (days, compared))
    with clock.freeze(NOON):
        found = windows.year_before(window)
    assert found.window == expected
    assert (found.until is not None) == (window.length == 1)


def test_so_many_days_are_compared_with_as_many_also_where_they_are_a_month() -> None:
    november = Window.from_days(date(2026, 11, 1), date(2026, 11, 30))
    with clock.freeze(NOON):
        assert windows.find_comparison(november, rolling=True) == Comparison(november.previous)


def premium(store: Store, window: Window, wanted: SalesFilter = SalesFilter()) -> tuple[int, int, str]:
    """The premium of a window, that of what it is compared with, and the change in percent."""
    with store.reading(Scope.staff(is_live=True)) as session:
        found = figures.build_summary(session, window, wanted)
    metric = METRICS_BY_KEY["premium"]
    now, then = found.value(metric), found.previous(metric)
    assert now is not None
    assert then is not None
    return int(now), int(then), f"{(found.change(metric) or 0) * 100:+.1f}"


# Moments in UTC, and naira of premium: 575.00 for each 100,000 of a loan.
SOLD = (
    (datetime(2026, 9, 15, 9, tzinfo=UTC), 575),
    (datetime(2026, 10, 1, 9, tzinfo=UTC), 1150),
    (datetime(2026, 10, 22, 22, tzinfo=UTC), 575),
    (datetime(2026, 10, 22, 23, tzinfo=UTC), 2300),  # the 23rd in Lagos
    (datetime(2026, 11, 2, 9, tzinfo=UTC), 1725),
    (datetime(2026, 11, 21, 9, tzinfo=UTC), 575),
    (datetime(2026, 11, 21, 11, tzinfo=UTC), 4600),  # noon in Lagos, as it is today
    (datetime(2026, 11, 22, 9, tzinfo=UTC), 1150),
)


def test_last_month_month_to_date_and_today_until_now_add_up(store: Store, partner: Partner) -> None:
    for moment, naira in SOLD:
        with clock.freeze(moment):
            changed = {"loan_amount": naira * 100_000 // 575, "loan_start_date": str(clock.today())}
            sell(store, partner, CREDIT_LIFE, is_live=True, email=f"{naira}@{moment:%d-%H}.example", **changed)
    with clock.freeze(NOON):
        today = clock.today()
        for wanted in (
            SalesFilter(),
            SalesFilter(distributor_ids=(partner.id,)),
            SalesFilter(request_sources=("api",)),
        ):
            assert premium(store, Window(date(2026, 10, 1), date(2026, 11, 1)), wanted) == (4025_00, 575_00, "+600.0")
            assert premium(store, Window.from_days(today.replace(day=1), today), wanted) == (8050_00, 1725_00, "+366.7")
            assert premium(store, Window.from_days(today, today), wanted) == (1150_00, 575_00, "+100.0")
