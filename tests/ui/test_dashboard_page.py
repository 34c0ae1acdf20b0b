"""The dashboard: the same figures as the services, narrowed by its address, clear when it is empty or misled."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock, ids
from core.services.filters import SalesFilter
from core.services.sales import breakdowns, figures
from core.services.sales.breakdowns import Series
from core.services.sales.choices import load_choices
from core.services.sales.metrics import METRICS, MONEY_METRICS
from core.services.sales.selection import Selection
from core.services.windows import Window
from core.store.access.engine import Store
from core.store.access.scope import Scope
from core.ui.kit import periods, words
from core.ui.sales import charts, tiles
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, lagos
from tests.ui.conftest import Screen, address, follow, press, texts


@pytest.fixture(autouse=True)
def now() -> Iterator[None]:
    with clock.freeze(NOW):
        yield


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    Portfolio(seed=11, size=80, sellers=(partner.id, stranger.id)).write(store)
    Portfolio(seed=12, size=8, sellers=(partner.id,), is_live=False).write(store)
    return store


def expected(store: Store, window: Window, selection: Selection = Selection(), *, is_live: bool = True) -> list[str]:
    with store.reading(Scope.staff(is_live=is_live)) as session:
        summary = figures.build_summary(session, window, selection.wanted)
    return [tiles.shown(metric, summary.value(metric)) for metric in METRICS]


def shown(at: AppTest) -> list[str]:
    return [tile.value for tile in at.metric][: len(METRICS)]


def drawn(at: AppTest) -> list[Any]:
    return list(at.get("plotly_chart"))


def test_tiles_say_what_the_services_say_and_what_it_means(sold: Store, screen: Screen) -> None:
    at = screen("operations")
    assert [tile.label for tile in at.metric] == [metric.label for metric in (*METRICS, *MONEY_METRICS)]
    assert shown(at) == expected(sold, periods.window_of("30d", lagos(NOW)))
    for tile, metric in zip(at.metric, METRICS, strict=False):
        assert metric.definition in tile.help
    assert "22 Oct – 20 Nov 2026" in texts(at)
    assert len(drawn(at)) == 8


@pytest.mark.parametrize("period", [name for name in periods.NAMES if name not in {"all", "custom"}])
def test_every_period_can_be_linked_to(sold: Store, screen: Screen, period: str) -> None:
    at = screen("finance", period=period)
    assert shown(at) == expected(sold, periods.window_of(period, lagos(NOW)))


def test_an_address_narrows_every_figure(sold: Store, screen: Screen, partner: Partner) -> None:
    selection = Selection.read({"from": ["2026-10-01"], "to": ["2026-10-31"], "distributor": [str(partner.id)]})
    at = screen("operations", **{"from": "2026-10-01", "to": "2026-10-31", "distributor": str(partner.id)})
    window = Window.from_days(selection.first, selection.last)
    assert shown(at) == expected(sold, window, replace(selection, first=None, last=None))
    assert at.multiselect(key="distributor").value == [str(partner.id)]
    assert at.date_input(key="day_from").value == selection.first


def test_choosing_writes_the_address_and_reset_clears_it(sold: Store, screen: Screen, partner: Partner) -> None:
    at = screen("operations")
    at.multiselect(key="distributor").select(str(partner.id)).run()
    assert address(at)["distributor"] == [str(partner.id)]
    at.segmented_control(key="period").set_value("7d").run()
    assert address(at)["period"] == ["7d"]
    at.segmented_control(key="split").set_value("category").run()
    assert address(at)["split"] == ["category"]
    press(at, "Reset")
    assert address(at) == {}
    assert shown(at) == expected(sold, periods.window_of("30d", lagos(NOW)))


@pytest.mark.parametrize("query", [{"to": "2031-01-01"}, {"to": "2026-10-15"}, {"from": "2000-01-01", "by": "day"}])
def test_unusual_days_are_shown_as_asked(sold: Store, screen: Screen, query: dict[str, str]) -> None:
    at = screen("operations", **query)
    selection = Selection.read({name: [value] for name, value in query.items() if name != "by"})
    last = selection.last or lagos(NOW)
    window = Window.from_days(selection.first or clock.add_days(last, -29), last)
    assert shown(at) == expected(sold, window)


def test_custom_days_start_from_the_days_on_the_screen(sold: Store, screen: Screen) -> None:
    at = screen("operations", period="7d")
    at.segmented_control(key="period").set_value("custom").run()
    assert address(at) == {"from": ["2026-11-14"], "to": ["2026-11-20"]}
    at.date_input(key="day_from").set_value(lagos(NOW)).run()
    assert shown(at) == expected(sold, periods.window_of("today", lagos(NOW)))


def test_a_click_on_a_bar_is_read_as_the_id_beside_it() -> None:
    def event(**point: object) -> SimpleNamespace:
        return SimpleNamespace(selection=SimpleNamespace(points=[point] if point else []))

    assert charts.clicked(event(customdata=["an id", "A name", 3])) == "an id"
    assert charts.clicked(event(customdata="2026-11-02")) == "2026-11-02"
    assert charts.clicked(event(customdata="")) is None, "the rest that was added up has no id"
    assert charts.clicked(event(x=1)) is None
    assert charts.clicked(event()) is None, "a second click lets the bar go"


def test_more_series_than_colours_are_added_up() -> None:
    lines = [Series(ids.new(), f"Line {n}", [100 * n, n]) for n in range(20, 0, -1)]
    chart = charts.over_time([lagos(NOW), lagos(NOW)], lines, "day", what="Premium")
    assert len(chart.figure.data) == charts.MOST_SERIES + 1
    assert chart.figure.data[-1].name == "13 others"
    assert sum(sum(bars.y) for bars in chart.figure.data) == pytest.approx(
        sum(line.total_minor for line in lines) / 100
    )
    assert "Line 20 ₦20.20" in chart.alt


def test_a_member_keeps_its_colour_whatever_its_rank(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        named = load_choices(session)
        window = periods.window_of("1y", lagos(NOW))
        lines = breakdowns.compute_premium_over_time(
            session, window, SalesFilter(), named, grain="month", split="provider"
        )
    assert len(lines) > 2

    def looks(shown: list[Series]) -> dict[str, str]:
        chart = charts.over_time(breakdowns.list_buckets(window, "month"), shown, "month", what="Premium")
        return {bars.name: f"{bars.marker.color} {bars.marker.pattern.shape}" for bars in chart.figure.data}

    usual = looks(lines)
    assert len(set(usual.values())) == len(lines)
    assert looks(lines[::-1]) == usual
    assert looks(lines[-1:]).items() <= usual.items()


def test_more_members_than_colours_differ_by_their_patterns() -> None:
    lines = [Series(ids.new(), f"Line {n}", [n], position=n) for n in (40, 31, 17, 16, 9, 8, 1, 0)]
    chart = charts.over_time([lagos(NOW)], lines, "day", what="Premium")
    assert len({(bars.marker.color, bars.marker.pattern.shape) for bars in chart.figure.data}) == len(lines)


def test_show_these_purchases_keeps_every_filter_and_the_total(sold: Store, screen: Screen, partner: Partner) -> None:
    at = screen("operations", period="1y", distributor=str(partner.id))
    selection = Selection(distributor=(partner.id,)).within(periods.window_of("1y", lagos(NOW)))
    with sold.reading(Scope.staff(is_live=True)) as session:
        taken = figures.build_summary(session, periods.window_of("1y", lagos(NOW)), selection.wanted).current.totals
    assert words.naira(taken.sold_minor) in texts(at)
    link = next(link.proto for link in at.get("page_link") if link.proto.label == "Show these purchases")
    follow(at, f"/purchases?{link.query_string}")
    assert at.title[0].value == "Purchases"
    assert Selection.read(address(at)) == selection
    assert f"**{words.naira(taken.sold_minor)}**" in texts(at)


def test_modes_never_mix(sold: Store, screen: Screen) -> None:
    at = screen("operations", mode="test", period="1y")
    assert shown(at) == expected(sold, periods.window_of("1y", lagos(NOW)), is_live=False)


def test_an_empty_store_says_what_to_do_next(store: Store, screen: Screen) -> None:
    at = screen("operations")
    assert "Nothing was sold in this period yet" in at.info[0].value
    assert "under Buy" in at.info[0].value
    assert drawn(at) == []
    assert shown(at)[:2] == ["₦0.00", "0"]
    assert "under Buy" not in screen("finance").info[0].value


def test_a_selection_without_sales_leads_back(sold: Store, screen: Screen, partner: Partner) -> None:
    at = screen("operations", **{"from": "2025-01-01", "to": "2025-01-02", "distributor": str(partner.id)})
    assert "Nothing was sold in this selection" in at.info[0].value
    press(at, "Start again without filters")
    assert shown(at) == expected(sold, periods.window_of("30d", lagos(NOW)))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"provider": "nope"}, "provider"),
        ({"provider": "01900000-0000-7000-8000-00000000ffff"}, "not known here"),
        ({"from": "2026-02-31"}, "from"),
        ({"from": "2026-11-02", "to": "2026-11-01"}, "must not be before"),
        ({"period": "banana"}, "period"),
        ({"period": "all"}, "period"),
        ({"period": "custom", "from": "2027-01-01"}, "future"),
    ],
)
def test_a_wrong_address_is_explained_and_leads_back(
    sold: Store, screen: Screen, query: dict[str, str], said: str
) -> None:
    at = screen("operations", **query)
    assert said in at.error[0].value
    assert not at.metric
    press(at, "Start again without filters")
    assert shown(at) == expected(sold, periods.window_of("30d", lagos(NOW)))


def test_who_lacks_the_role_is_refused(sold: Store, screen: Screen) -> None:
    with pytest.raises(ValueError, match="dashboard"):
        screen("claims", page="sales/dashboard.py")
