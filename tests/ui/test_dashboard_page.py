"""The dashboard: the same figures as the services, narrowed by its address, clear when it is empty or misled."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core import clock, ids, money
from core.services.lists import windows
from core.services.lists.dimensions import Dimension, load_choices
from core.services.lists.windows import Window
from core.services.sales import breakdowns, figures, totals
from core.services.sales.breakdowns import Mover, Series
from core.services.sales.figures import METRICS, MONEY_METRICS
from core.services.sales.filter import SalesFilter
from core.services.sales.purchases import PurchaseFilter
from core.services.sales.totals import SalesTotals
from core.store.access import Scope, Store
from core.ui.kit import charts as kit_charts
from core.ui.kit import figure_tiles, words
from core.ui.lists import periods
from core.ui.lists.periods import LABELS
from pages.sales import _dashboard_charts as charts
from pages.sales import dashboard
from pages.sales._dashboard_charts import Clicked
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales, lagos, sales_at
from tests.ui.conftest import Screen, address, follow, lists, person_of, press, sent, texts

pytestmark = pytest.mark.frozen_at(NOW)


@pytest.fixture
def sales() -> Sales:
    return Sales(
        fixture="sold", of_both=(Portfolio(seed=11, size=80),), of_partner=(Portfolio(seed=12, size=8, is_live=False),)
    )


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


def expected(
    store: Store, window: Window, selection: PurchaseFilter = PurchaseFilter(), *, is_live: bool = True
) -> list[str]:
    with store.reading(Scope.staff(is_live=is_live)) as session:
        summary = figures.build_summary(session, window, selection)
    return [figure_tiles.format_value(metric, summary.value(metric)) for metric in METRICS]


def tiles_of(at: AppTest) -> list[dict[str, Any]]:
    return next((payload["tiles"] for payload in sent(at) if "tiles" in payload), [])


def shown(at: AppTest) -> list[str]:
    return [tile["value"] for tile in tiles_of(at)][: len(METRICS)]


def drawn(at: AppTest) -> list[Any]:
    """The charts, also those below, which follow once a browser says that the first ones rest."""
    return list(rested(at).get("plotly_chart"))


def rested(at: AppTest) -> AppTest:
    at.session_state[kit_charts.BELOW] = {"rests": True}
    return at.run()


def test_tiles_say_what_the_services_say_and_what_it_means(sold: Store, screen: Screen) -> None:
    at = screen("operations")
    assert [tile["label"] for tile in tiles_of(at)] == [metric.label for metric in (*METRICS, *MONEY_METRICS)]
    assert shown(at) == expected(sold, windows.named_window("30d", lagos(NOW)))
    for tile, metric in zip(tiles_of(at), METRICS, strict=False):
        assert [metric.counts, metric.leaves_out, metric.basis] == [text for _, text in tile["help"][:3]]
    assert "22 Oct – 20 Nov 2026" in texts(at)
    assert [chart.proto.alt.partition(" stacked")[0] for chart in at.get("plotly_chart")] == ["Gross written premium"]
    assert len(drawn(at)) == 9


@every_case("period", [name for name in periods.NAMES if name not in {"all", "custom"}])
def test_every_period_can_be_linked_to(sold: Store, screen: Screen, period: str) -> None:
    at = screen("finance", period=period)
    assert shown(at) == expected(sold, windows.named_window(period, lagos(NOW)))


def test_an_address_narrows_every_figure(sold: Store, screen: Screen, partner: Partner) -> None:
    selection = PurchaseFilter.read({"from": ["2026-10-01"], "to": ["2026-10-31"], "distributor": [str(partner.id)]})
    at = screen("operations", **{"from": "2026-10-01", "to": "2026-10-31", "distributor": str(partner.id)})
    window = Window.from_days(*selection.days())
    assert shown(at) == expected(sold, window, selection.anytime())
    assert at.multiselect(key="distributor").value == [str(partner.id)]
    assert at.date_input(key="day_from").value == selection.days()[0]
    assert "Distributor: Swift Lenders" in {button.label for button in at.button}
    at = at.button(key="chip distributor").click().run()
    assert set(address(at)) == {"from", "to"}, "a chip takes its filter away and leaves the days"


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
    assert shown(at) == expected(sold, windows.named_window("30d", lagos(NOW)))


@every_case("query", [{"to": "2031-01-01"}, {"to": "2026-10-15"}, {"from": "2000-01-01", "by": "day"}])
def test_unusual_days_are_shown_as_asked(sold: Store, screen: Screen, query: dict[str, str]) -> None:
    at = screen("operations", **query)
    selection = PurchaseFilter.read({name: [value] for name, value in query.items() if name != "by"})
    first, last = selection.days()
    last = last or lagos(NOW)
    window = Window.from_days(first or clock.add_days(last, -29), last)
    assert shown(at) == expected(sold, window)


def test_custom_days_start_from_the_days_on_the_screen(sold: Store, screen: Screen) -> None:
    at = screen("operations", period="7d")
    at.segmented_control(key="period").set_value("custom").run()
    assert address(at) == {"from": ["2026-11-14"], "to": ["2026-11-20"]}
    at.date_input(key="day_from").set_value(lagos(NOW)).run()
    assert shown(at) == expected(sold, windows.named_window("today", lagos(NOW)))


def test_a_click_is_the_bar_that_joined_the_selection_or_left_it() -> None:
    first, second, other = (0, 4), (0, 7), (2, 4)
    assert kit_charts.find_clicked(frozenset(), frozenset({first})) == first
    assert kit_charts.find_clicked(frozenset({first}), frozenset({second})) == second, "one series has one selected bar"
    assert kit_charts.find_clicked(frozenset({first}), frozenset({first, other})) == other
    assert kit_charts.find_clicked(frozenset({first, other}), frozenset({other})) == first
    assert kit_charts.find_clicked(frozenset(), frozenset()) is None


def test_each_bar_stands_for_its_member_and_its_days() -> None:
    member, when = ids.new(), [lagos(NOW) - timedelta(days=1), lagos(NOW)]
    chart = charts.over_time(when, [Series(member, "A", [1, 2]), Series(None, "B", [3, 4])], "day", what="Premium")
    assert chart.targets[0][1] == Clicked(str(member), lagos(NOW))
    assert chart.targets[1][0] == Clicked(None, when[0])


def test_the_bar_of_a_single_day_is_no_wider_than_one_of_six() -> None:
    days = [lagos(NOW) - timedelta(days=ago) for ago in range(30)]
    gaps = [
        charts.over_time(days[:number], [Series(None, "A", [1] * number)], "day", what="Premium").figure["layout"][
            "bargap"
        ]
        for number in (1, 30)
    ]
    assert gaps == [0.88, 0.25]


@every_case(
    ("now", "before", "said"),
    [(15_000, 10_000, "▲ ₦50 · 50 %"), (10_000, 0, "▲ ₦100 · new"), (301_000, 1_000, "▲ ₦3.0k · over 1,000 %")],
)
def test_a_member_that_had_hardly_any_premium_before_has_no_share_of_thousands(
    now: int, before: int, said: str
) -> None:
    assert dashboard._describe_change(Mover(ids.new(), "A", now, before)) == said


def test_a_chart_that_another_period_does_not_change_is_not_drawn_anew(sold: Store, screen: Screen) -> None:
    def ids_of(at: AppTest) -> dict[str, str]:
        return {chart.proto.alt.partition(".")[0]: chart.proto.id for chart in drawn(at)}

    at = screen("operations", period="30d")
    before = ids_of(at)
    after = ids_of(at.segmented_control(key="period").set_value("6m").run())
    assert after["Premium by month, year on year"] == before["Premium by month, year on year"]
    assert after["Share by insurer"] != before["Share by insurer"]
    at = rested(screen("operations", period="1y", by="month"))
    days = Window(date(2026, 10, 1), date(2026, 11, 1))
    premium = charts.Drill(chart=charts.PREMIUM, dimension=None, member=None, days=days, address=address(at))
    at.session_state["drill"] = premium
    assert "1 Oct – 31 Oct 2026**" in texts(at.run())
    at.session_state["drill"] = replace(premium, chart="mix")
    assert texts(at.run()).count("1 Oct – 31 Oct 2026**") == 1, "one offer at a time"


def test_a_figure_does_not_change_when_its_width_is_found_so_that_it_is_drawn_once(sold: Store, screen: Screen) -> None:
    for chart in drawn(screen("operations", period="1y")):
        layout = json.loads(chart.proto.spec)["layout"]
        assert "template" not in layout, "no two templates are equal for the library"
        assert (layout["autosize"], layout["datarevision"]) == (True, 1)
        assert {"hovermode", "dragmode", "clickmode", "height"} <= set(layout), "what the framework would set later"


def test_names_are_text_in_what_the_pointer_shows(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        names, window = load_choices(session), windows.named_window("1y", lagos(NOW))
        part = breakdowns.compute_breakdown(session, window, SalesFilter(), names).list_shares("provider")[0]
    two = [replace(part, name="<img src=x>"), replace(part, name="Compass <b> Rose Insurance")]
    chart = charts.ranked_bars(two, whole=1, what="Share")
    (bars,), up = chart.figure["data"], chart.figure["layout"]["yaxis"]
    assert bars["hovertext"][0].startswith("&lt;img src=x><br>₦")
    assert up["categoryarray"][0] == "&lt;img src=x>"
    assert up["ticktext"] == ["&lt;img src=x>", "Compass &lt;b><br>Rose Insurance"], "a long name takes two lines"
    margins = chart.figure["layout"]["margin"]
    assert margins["r"] > 6 * len(bars["text"][0]), "what is beyond the longest bar is not cut on a telephone"
    assert margins["l"] < 6 * len(two[1].name)
    series = charts.over_time([lagos(NOW)], [Series(None, "A & <b>B</b>", [1])], "day", what="Premium").figure["data"]
    assert series[0]["name"] == "A &amp; &lt;b>B&lt;/b>"


def test_more_series_than_colours_are_added_up() -> None:
    lines = [Series(ids.new(), f"Line {n}", [100 * n, n]) for n in range(20, 0, -1)]
    chart = charts.over_time([lagos(NOW), lagos(NOW)], lines, "day", what="Premium")
    drawn = chart.figure["data"]
    assert len(drawn) == len(chart.targets) == charts.MOST_SERIES + 1
    assert drawn[-1]["name"] == "13 others"
    assert sum(sum(bars["y"]) for bars in drawn) == pytest.approx(sum(line.total_minor for line in lines) / 100)
    assert {target.member for target in chart.targets[-1]} == {None}, "the rest that was added up has no id"
    assert "Line 20 ₦20.20" in chart.alt


def test_the_file_of_a_chart_is_its_figures_with_every_member(sold: Store, screen: Screen) -> None:
    window = windows.named_window("1y", lagos(NOW))
    with sold.reading(Scope.staff(is_live=True)) as session:
        names = load_choices(session)
        parts = breakdowns.compute_breakdown(session, window, SalesFilter(), names)
        by_product = breakdowns.compute_over_time(session, window, SalesFilter(), names, grain="month", split="product")
    when = breakdowns.list_buckets(window, "month")
    chart = charts.over_time(when, by_product, "month", what="Premium")
    rows = list(csv.DictReader(io.StringIO(kit_charts.write_csv(chart).decode())))
    assert [row["Month from"] for row in rows] == [str(day) for day in when]
    assert list(rows[0]) == ["Month from", *(line.name for line in by_product), "Total"]
    assert sum(Decimal(row["Total"]) for row in rows) == money.to_naira(parts.premium_minor)
    for line in by_product:
        assert [Decimal(row[line.name]) for row in rows] == [*map(money.to_naira, line.amounts_minor)], line.name
    hostile = charts.over_time(when[:1], [Series(None, '=HYPERLINK("x")', [5])], "month", what="Premium")
    assert kit_charts.write_csv(hostile).startswith(b"Month from,\"'=HYPERLINK")
    offered = {element.proto.label for element in screen("operations", period="1y").get("download_button")}
    assert offered == {"CSV"}


def look_of(bars: dict[str, Any]) -> str:
    """The colour of a series and the pattern over it."""
    marker = bars["marker"]
    colour = marker["color"] if isinstance(marker["color"], str) else marker["color"][0]
    return f"{colour} {marker.get('pattern', {}).get('shape', '')}"


def test_a_member_keeps_its_colour_whatever_its_rank(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        named = load_choices(session)
        window = windows.named_window("1y", lagos(NOW))
        lines = breakdowns.compute_over_time(session, window, SalesFilter(), named, grain="month", split="provider")
    assert len(lines) > 2

    def looks(shown: list[Series]) -> dict[str, str]:
        chart = charts.over_time(breakdowns.list_buckets(window, "month"), shown, "month", what="Premium")
        return {bars["name"]: look_of(bars) for bars in chart.figure["data"]}

    usual = looks(lines)
    assert len(set(usual.values())) == len(lines)
    assert looks(lines[::-1]) == usual
    assert looks(lines[-1:]).items() <= usual.items()


def test_more_members_than_colours_differ_by_their_patterns() -> None:
    lines = [Series(ids.new(), f"Line {n}", [n], position=n) for n in (40, 31, 17, 16, 9, 8, 1, 0)]
    chart = charts.over_time([lagos(NOW)], lines, "day", what="Premium")
    assert len({look_of(bars) for bars in chart.figure["data"]}) == len(lines)


def test_show_these_purchases_keeps_every_filter_and_the_total(sold: Store, screen: Screen, partner: Partner) -> None:
    at = screen("operations", period="1y", distributor=str(partner.id))
    selection = PurchaseFilter(distributor_ids=(partner.id,), created=windows.named_window("1y", lagos(NOW)).span)
    with sold.reading(Scope.staff(is_live=True)) as session:
        taken = figures.build_summary(session, windows.named_window("1y", lagos(NOW)), selection).current.totals
    assert words.naira(taken.sold_minor) in texts(at)
    label = f"See these {taken.sold} purchases"
    link = next(link.proto for link in at.get("page_link") if link.proto.label == label)
    follow(at, f"/purchases?{link.query_string}")
    assert at.title[0].value == "Purchases"
    assert PurchaseFilter.read(address(at)) == selection
    assert f"**{words.naira(taken.sold_minor)}**" in texts(at)


def test_modes_never_mix(sold: Store, screen: Screen) -> None:
    at = screen("operations", mode="test", period="1y")
    assert shown(at) == expected(sold, windows.named_window("1y", lagos(NOW)), is_live=False)


def test_an_empty_store_says_what_to_do_next(store: Store, screen: Screen) -> None:
    at = screen("operations")
    assert "There is no sale in this mode yet" in at.info[0].value
    assert "under Buy" in at.info[0].value
    assert not drawn(at)
    assert shown(at)[:2] == ["₦0.00", "0"]
    assert "under Buy" not in screen("finance").info[0].value


def test_a_selection_without_sales_leads_back(sold: Store, screen: Screen, partner: Partner) -> None:
    at = screen("operations", **{"from": "2025-01-01", "to": "2025-01-02", "distributor": str(partner.id)})
    assert "Nothing was sold in this selection" in at.info[0].value
    press(at, "Start again without filters")
    assert shown(at) == expected(sold, windows.named_window("30d", lagos(NOW)))


@every_case(
    ("query", "message"),
    [
        ({"provider": "nope"}, "**Insurer** names nothing that is known here"),
        ({"provider": "01900000-0000-7000-8000-00000000ffff"}, "not known here"),
        ({"from": "2026-02-31"}, "**From**"),
        ({"from": "2026-11-02", "to": "2026-11-01"}, "must not be before"),
        ({"period": "banana"}, "**Period** must be one of Today, 7 days"),
        ({"period": "all"}, "**Period**"),
        ({"period": "custom", "from": "2027-01-01"}, "future"),
    ],
)
def test_a_wrong_address_is_explained_and_leads_back(
    sold: Store, screen: Screen, query: dict[str, str], message: str
) -> None:
    at = screen("operations", **query)
    assert message in at.error[0].value
    assert not tiles_of(at)
    press(at, "Start again without filters")
    assert shown(at) == expected(sold, windows.named_window("30d", lagos(NOW)))


def test_who_lacks_the_role_is_refused(sold: Store, screen: Screen) -> None:
    with pytest.raises(ValueError, match="dashboard"):
        screen("claims", path="sales/dashboard.py")


def totals_of(store: Store, selection: PurchaseFilter) -> SalesTotals:
    with store.reading(Scope.staff(is_live=True)) as session:
        return totals.compute_total(session, selection)


def test_a_clicked_segment_offers_its_sales_with_the_whole_selection(
    sold: Store, screen: Screen, partner: Partner
) -> None:
    at = screen("operations", period="1y", by="month", distributor=str(partner.id))
    with sold.reading(Scope.staff(is_live=True)) as session:
        names = load_choices(session)
    window, insurer = windows.named_window("1y", lagos(NOW)), next(iter(names.names["provider"]))
    october = Window(date(2026, 10, 1), date(2026, 11, 1)).span
    selection = PurchaseFilter(distributor_ids=(partner.id,), provider_ids=(insurer,), created=october)
    totals = totals_of(sold, selection)
    assert totals.sold
    days = charts.days_of_bucket(date(2026, 10, 1), "month", window)
    at.session_state["drill"] = charts.Drill(
        chart="premium", dimension="provider", member=str(insurer), days=days, address=address(at)
    )
    at.run()
    heading = f"**{words.plain(names.names['provider'][insurer])}, 1 Oct – 31 Oct 2026**"
    assert heading.replace("\\", "") in texts(at)
    links = {link.proto.label: link.proto for link in at.get("page_link")}
    purchases = "See this purchase" if totals.sold == 1 else f"See these {totals.sold} purchases"
    follow(at, f"/purchases?{links[purchases].query_string}")
    assert PurchaseFilter.read(address(at)) == selection
    assert f"**{words.naira(totals.sold_minor)}**" in texts(at)


@every_case("split", ["provider", "distributor"])
def test_commissions_are_split_like_the_premium_and_lead_to_their_movements(
    sold: Store, screen: Screen, split: Dimension
) -> None:
    assert_commissions_are_split(sold, screen, split)


@pytest.mark.exhaustive
@every_case("split", ["category", "product"])
def test_commissions_are_split_by_every_dimension(sold: Store, screen: Screen, split: Dimension) -> None:
    assert_commissions_are_split(sold, screen, split)


def assert_commissions_are_split(sold: Store, screen: Screen, split: Dimension) -> None:
    window = windows.named_window("1y", lagos(NOW))
    with sold.reading(Scope.staff(is_live=True)) as session:
        names = load_choices(session)
        lines = breakdowns.compute_over_time(
            session, window, SalesFilter(), names, amount=breakdowns.COMMISSION, grain="month", split=split
        )
        days = figures.build_summary(session, window).current.totals
    assert sum(line.total_minor for line in lines) == days.mca_minor + days.distributor_minor
    at = screen("finance", period="1y", by="month", earned=split)
    assert any(chart.proto.alt.startswith(f"Commissions stacked by {LABELS[split].lower()}") for chart in drawn(at))
    at.session_state["drill"] = charts.Drill(
        chart=charts.COMMISSIONS,
        dimension=split,
        member=str(lines[0].id),
        days=Window(date(2026, 10, 1), date(2026, 11, 1)),
        address=address(at),
    )
    at.run()
    minor = lines[0].amounts_minor[breakdowns.list_buckets(window, "month").index(date(2026, 10, 1))]
    assert f"commission {words.naira(minor)}: platform" in texts(at)
    link = next(link.proto for link in at.get("page_link") if "with their shares" in link.proto.label)
    follow(at, f"/movements?{link.query_string}")
    assert at.title[0].value == "Movements"
    number = lists(at)[0].shape[0]
    assert link.label == f"See {'this movement' if number == 1 else f'these {number} movements'} with their shares"


def test_commissions_are_by_default_those_of_platform_and_distributors(sold: Store, screen: Screen) -> None:
    at = screen("operations", period="1y")
    chart = next(chart.proto for chart in drawn(at) if chart.proto.alt.startswith("Commissions"))
    assert [bars["name"] for bars in json.loads(chart.spec)["data"]] == ["Platform", "Distributors"]
    at.segmented_control(key="by_too").set_value("week").run()
    assert address(at) == {"period": ["1y"], "by": ["week"]}
    at.segmented_control(key="earned").set_value("product").run()
    assert address(at)["earned"] == ["product"]


def test_filtering_by_a_segment_writes_member_and_days_at_once(sold: Store, screen: Screen) -> None:
    at = screen("operations", period="1y", by="month")
    with sold.reading(Scope.staff(is_live=True)) as session:
        insurer = next(iter(load_choices(session).names["provider"]))
    days = Window(date(2026, 10, 1), date(2026, 11, 1))
    at.session_state["drill"] = charts.Drill(
        chart="premium", dimension="provider", member=str(insurer), days=days, address=address(at)
    )
    press(at.run(), "Filter by this")
    assert address(at) == {"by": ["month"], "from": ["2026-10-01"], "to": ["2026-10-31"], "provider": [str(insurer)]}
    assert not [button for button in at.button if button.label == "Filter by this"], "the offer closes with the page"


def test_what_it_is_compared_with_is_a_choice_in_the_address(sold: Store, screen: Screen) -> None:
    at = screen("operations", period="last-month")
    assert "compared with 1 Sep – 30 Sep 2026" in texts(at)
    at.selectbox(key="against").set_value("year").run()
    assert address(at)["against"] == ["year"]
    assert "compared with 1 Oct – 31 Oct 2025" in texts(at)
    at.selectbox(key="against").set_value("none").run()
    assert "compared with" not in texts(at)
    assert "What moved" not in texts(at)
    assert [tile["from"] for tile in tiles_of(at)] == [None] * 11
    at.selectbox(key="against").set_value("previous").run()
    assert "against" not in address(at)
    press(at.selectbox(key="against").set_value("year").run(), "Reset")
    assert address(at) == {}


def test_a_change_from_little_is_told_by_the_earlier_figure(store: Store, screen: Screen, partner: Partner) -> None:
    earlier, later = NOW - timedelta(days=40), NOW - timedelta(days=3)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, earlier, earlier, earlier, *[later] * 40)
    tile = next(tile for tile in tiles_of(screen("operations")) if tile["label"] == "Policies sold")
    assert (tile["value"], tile["badge"], tile["from"]) == ("40", None, "from 3")


def test_a_figure_is_unchanged_only_where_it_is_equal() -> None:
    def badge(now: int, then: int) -> tuple[str | None, str]:
        return figure_tiles.find_badge(METRICS[0], now, then, rests_on=100)

    assert badge(500_000_00, 500_000_00) == ("unchanged", "plain")
    assert badge(500_100_00, 500_000_00) == ("▲ 0.02 %", "good")
    assert badge(499_900_00, 500_000_00) == ("▼ 0.02 %", "bad")
    assert badge(550_000_00, 500_000_00) == ("▲ 10.0 %", "good")


def test_what_moved_lists_rises_then_falls_and_a_row_narrows_the_page(sold: Store, screen: Screen) -> None:
    at = screen("operations", period="30d", split="product")
    with sold.reading(Scope.staff(is_live=True)) as session:
        names, window = load_choices(session), windows.named_window("30d", lagos(NOW))
        now, before = (
            breakdowns.compute_breakdown(session, each, SalesFilter(), names) for each in (window, window.previous)
        )
    movers = breakdowns.list_movers(now, before, "provider")
    # On a narrow list the headings are not seen.
    assert [each.value for each in at.caption if each.value in {"Insurers", "Products", "Distributors"}] == [
        *("Insurers", "Products", "Distributors")
    ]
    table = next(table for table in lists(at) if "Insurer" in table)
    assert table["Insurer"].iloc[0] == movers[0].name
    assert table["Insurer"].iloc[-1] == movers[-1].name
    assert all(re.fullmatch(r"[▲▼] ₦[\d.,]+[a-z]* · (new|(over )?[\d.,]+ %)", each) for each in table["Change"])
    href = next(
        row["href"] for payload in sent(at) for row in payload.get("rows", ()) if row["key"] == str(movers[0].id)
    )
    assert parse_qs(urlsplit(href).query) == {"period": ["30d"], "split": ["product"], "provider": [str(movers[0].id)]}


def test_a_day_under_way_is_pale() -> None:
    when = [lagos(NOW) - timedelta(days=2), lagos(NOW) - timedelta(days=1), lagos(NOW)]
    lines = [Series(None, "Platform", [100_00, 200_00, 5_00])]
    (bars,) = charts.over_time(when, lines, "day", what="Commissions").figure["data"]
    whole, same, pale = bars["marker"]["color"]
    assert whole == same == kit_charts.series_colours()[0]
    assert pale == kit_charts.pale(whole) != whole
    (over,) = charts.over_time(when[:2], [Series(None, "Platform", [1, 2])], "day", what="Commissions").figure["data"]
    assert over["marker"]["color"] == whole, "every day of it is over"


def test_the_pointer_names_the_day_and_the_total_and_the_axis_only_the_day() -> None:
    when = [lagos(NOW) - timedelta(days=days) for days in (2, 1, 0)]
    chart = charts.over_time(when, [Series(None, "A", [1_00, 2_00, 3_00])], "day", what="Premium")
    across, (bars,) = chart.figure["layout"]["xaxis"], chart.figure["data"]
    assert bars["x"][0] == across["categoryarray"][0] == "Wed 18 Nov 2026 · ₦1.00 in all"
    assert bars["x"][2] == "Fri 20 Nov 2026 · ₦3.00 in all so far"
    assert bars["hovertemplate"] == "<b>%{fullData.name} ₦%{y:,.2f}</b><br>%{x}<extra></extra>"
    assert across["ticktext"] == ["18 Nov", "19 Nov", "20 Nov"]


@every_case("most", [0, 1, 99_99, 3_000_00, 1_234_567_89, 10**12])
def test_the_axis_has_few_marks_in_the_units_of_the_page(most: int) -> None:
    up = charts.over_time([lagos(NOW)], [Series(None, "A", [most])], "day", what="Premium").figure["layout"]["yaxis"]
    assert 2 <= len(up["tickvals"]) <= 8
    assert up["range"][0] == up["tickvals"][0] == 0
    assert up["range"][1] >= up["tickvals"][-1]
    assert most <= up["range"][1] * 100 <= max(most * 1.1, 200), "the highest bar reaches the top"
    assert all(text.startswith("₦") for text in up["ticktext"])


def test_a_day_that_gave_back_more_than_it_sold_reaches_below_the_axis() -> None:
    when = [lagos(NOW) - timedelta(days=2), lagos(NOW) - timedelta(days=1)]
    lines = [Series(None, "A", [300_00, -250_00]), Series(None, "B", [200_00, 100_00])]
    figure = charts.over_time(when, lines, "day", what="Commissions").figure
    low, high = figure["layout"]["yaxis"]["range"]
    assert (low <= -250, high >= 500, low <= min(figure["layout"]["yaxis"]["tickvals"]) < 0) == (True, True, True)
    assert figure["layout"]["barmode"] == "relative"
    assert figure["layout"]["legend"]["maxheight"] == 0.9, "it is scrolled in half a chart otherwise"


def test_operations_set_a_target_and_finance_only_sees_it(store: Store, screen: Screen, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW - timedelta(hours=1))
        author = person_of("operations")
    at = press(screen(signed_in=author), "Set a target")
    at.text_input(key="decision.field.amount").set_value("2m")
    press(at, "Save the target")
    assert "Choose a distributor or an insurer" in texts(at)
    at.selectbox(key="decision.field.member").set_value(f"distributor {partner.id}")
    press(at, "Save the target")
    assert at.text_input(key="decision.field.amount").value == "2m", "what was typed stays"
    at.text_input(key="decision.field.amount").set_value("2,000,000")
    press(at, "Save the target")
    assert "is saved" in at.success[0].value
    assert "of ₦2.0m" in " ".join(str(bar.proto.text) for bar in at.get("progress")).replace("\\", "")
    reader = screen("finance")
    assert len(reader.get("progress")) == 1
    assert not [button for button in reader.button if button.label in ("Set a target", "Remove")]
    assert not screen("operations", mode="test").get("progress")


def test_stuck_work_links_to_its_list_for_those_who_may_open_it(sold: Store, screen: Screen) -> None:
    at = screen("operations")
    link = next(link.proto for link in at.get("page_link") if "due within 7 days" in link.proto.label)
    assert (link.page, link.query_string) == ("due", "")
    assert "Stuck today" in texts(at)


def test_an_axis_ends_at_the_lowest_bar_and_its_marks_have_their_sign_in_front() -> None:
    little = kit_charts.amount_axis(15_000_000, -50_000)
    assert little["ticktext"][0] == "₦0"
    assert -1_000 < little["range"][0] < 0, "no room is left below for a whole step"
    much = kit_charts.amount_axis(15_000_000, -12_000_000)
    assert much["ticktext"][0] == "-₦100k"
    assert much["range"][0] < -120_000
