"""From a tile to its rows to a file, in a browser: one number all the way."""

import csv
import hashlib
import io
import re
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Download, Locator, Page, expect

from core import money
from core.desk import export_runs
from core.desk.export_runs import ReceiptFilter
from core.services.lists.windows import Window
from core.services.sales import figures
from core.services.sales.purchases import PurchaseFilter
from core.services.sales.totals import SalesTotals
from core.store.access import Scope
from tests.e2e.conftest import PATIENCE, Desk, Visit, settled
from tests.e2e.presses import Presses

# By how many pixels each table is wider than its place.
WIDER = """places => places.map(place => place.querySelector('[data-testid="stMarkdownContainer"]'))
    .map(place => place.scrollWidth - place.clientWidth)"""


def downloaded(page: Page, link: str) -> Download:
    """The file behind a link that opens in a tab of its own."""
    files: list[Download] = []

    def keep(file: Download) -> None:
        files.append(file)

    page.context.once("page", lambda tab: tab.on("download", keep))
    page.on("download", keep)
    page.locator('[class*="st-key-export_formats"] button').first.click()
    page.get_by_role("link", name=link).first.click()
    expect(page.get_by_text("Export receipt")).to_be_visible()
    until = time.monotonic() + PATIENCE / 1000
    while not files and time.monotonic() < until:
        page.wait_for_timeout(100)  # lets the browser's events come in, of which none can be waited for beforehand
    return files[0]


def bars_of(chart: Locator) -> Locator:
    """The bars of a chart that is in view.

    Playwright's own way to bring it there waits until it has not moved for two frames, and a busy machine draws few.
    """
    bars = chart.locator("g.points path")
    bars.first.wait_for(state="attached")
    chart.evaluate("chart => chart.scrollIntoView({block: 'center', behavior: 'instant'})")
    return bars


def tallest(bars: Locator) -> Locator:
    """The highest of vertical bars; a chart that is drawn anew has none for a moment."""
    heights: list[float] = []
    while not heights:
        bars.first.wait_for(state="attached")
        heights = bars.evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().height)")
    return bars.nth(heights.index(max(heights)))


def chart_called(page: Page, beginning: str) -> Locator:
    """The chart whose text alternative begins so."""
    return page.locator(f'[data-testid="stPlotlyChart"][aria-label^="{beginning}"]')


def narrow_to_a_month_of_an_insurer(page: Page) -> None:
    """Click an insurer in one chart of the dashboard, then the best month in another."""
    months, insurers = (
        chart_called(page, "Premium of new policies and renewals"),
        chart_called(page, "Share by insurer"),
    )
    everybody = months.get_attribute("aria-label") or ""
    bars_of(insurers).first.click(force=True)
    page.get_by_role("button", name="Filter by this").click()
    page.wait_for_url(re.compile("provider="))
    # Until the months are those of the one insurer, a click would hit what is about to be drawn anew; while the screen
    # runs, the chart from before may stand beside the new one.
    settled(page)
    expect(months).to_have_count(1)
    expect(months).not_to_have_attribute("aria-label", everybody)
    tallest(bars_of(months)).click(force=True)
    offer = page.locator(".st-key-drill_mix")
    expect(offer.get_by_role("link", name=re.compile("^See th(is|ese .*) purchases?"))).to_be_visible()
    before = page.evaluate("history.length")
    offer.get_by_role("button", name="Filter by this").click()
    page.wait_for_url(re.compile("from="))
    assert page.evaluate("history.length") == before + 1
    settled(page)


def check_file(content: bytes, taken: SalesTotals) -> None:
    """The file has as many rows as the tile counts, and their sum is the tile's."""
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert len(rows) == taken.sold
    assert sum(int(row["total"].replace(".", "")) for row in rows) == taken.sold_minor


def test_a_month_of_an_insurer_is_one_number_in_chart_tile_table_and_file(
    visit: Visit, desk: Desk, presses: Presses
) -> None:
    page = visit("finance", "/?period=1y&by=month")
    presses.forget()
    narrow_to_a_month_of_an_insurer(page)
    tile = page.get_by_text(re.compile("^Gross written premium ₦.* = purchases ")).inner_text()

    page.get_by_role("link", name=re.compile("^See th(is|ese .*) purchases?")).click()
    expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
    settled(page)
    selection = PurchaseFilter.read(parse_qs(urlsplit(page.url).query))
    assert selection.provider_ids
    first, last = selection.days()
    assert first
    assert last
    assert (last - first).days < 31
    with desk.store.reading(Scope.staff(is_live=True)) as session:
        window = Window.from_days(first, last)
        taken = figures.build_summary(session, window, selection).current.totals
    assert taken.sold
    assert f"purchases {money.format_naira(taken.sold_minor)} (" in tile
    expect(page.locator(".st-key-list_head")).to_contain_text(money.format_naira(taken.sold_minor))

    content = Path(downloaded(page, "Export CSV").path()).read_bytes()
    check_file(content, taken)
    expect(page.get_by_text("Equals the total above")).to_be_visible()
    expect(page.get_by_text(hashlib.sha256(content).hexdigest())).to_be_visible()
    with desk.store.reading(Scope.system()) as session:
        assert export_runs.list_receipts(session, ReceiptFilter()).items[0].sum_minor == taken.sold_minor
    page.get_by_role("navigation", name="App pages").get_by_role("link", name="Statements", exact=True).click()
    expect(page.get_by_role("heading", name="Statements", exact=True)).to_be_visible()
    # Insurer, month, their purchases, the file, and what is owed.
    assert (presses.clicks(), presses.keys()) == (8, 0)


def test_a_row_opens_and_the_way_back_keeps_the_selection(visit: Visit) -> None:
    page = visit("operations", "/purchases?period=1y&order=largest")
    page.locator("tbody tr:has(a)").first.click()
    expect(page.get_by_text("Split of the money", exact=True)).to_be_visible()
    assert re.search(r"/purchase\?id=[0-9a-f-]{36}$", page.url)
    page.reload()
    expect(page.get_by_text("Split of the money", exact=True)).to_be_visible()
    page.get_by_text("Back to the purchases").click()
    expect(page.get_by_role("heading", name="Purchases")).to_be_visible()


@pytest.mark.exhaustive
def test_bars_are_seen_at_once_are_offered_by_their_names_and_close_when_clicked_again(visit: Visit) -> None:
    page = visit("operations", "/?period=1y&by=month")
    page.set_viewport_size({"width": 1440, "height": 900})
    settled(page)
    bars = bars_of_the_top(page)
    assert min(bars.evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().top)")) < 500
    expect(page.get_by_text("Net due to insurers")).not_to_be_visible()
    page.get_by_text("More", exact=True).click()
    expect(page.get_by_text("Net due to insurers")).to_be_visible()
    chart, offer = chart_called(page, "Gross written premium"), page.locator(".st-key-drill_premium")
    each_of_a_stack_is_the_one_that_is_offered(chart, offer)
    one_that_is_clicked_again_closes_its_offer(chart, offer)
    series = chart.locator("g.trace.bars").count()
    chart.locator(".legendtoggle").first.click(force=True)
    expect(chart.locator("g.trace.bars")).to_have_count(series - 1)
    page.set_viewport_size({"width": 390, "height": 900})
    settled(page)
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    amounts = page.locator(".st-key-amounts")
    assert amounts.evaluate_all(WIDER) == [0], "each amount is read without scrolling sideways"
    expect(amounts.get_by_role("row").nth(1)).to_contain_text("Purchases")


def each_of_a_stack_is_the_one_that_is_offered(chart: Locator, offer: Locator) -> None:
    series = chart.locator("g.trace.bars")
    bars_of(chart)
    names = chart.locator(".legendtext").evaluate_all("all => all.map(one => one.textContent)")
    for place in (0, 1):  # too soon after each other for anything but a double click
        middle = tallest(series.nth(place).locator("g.point path")).bounding_box()
        assert middle
        chart.page.mouse.click(middle["x"] + middle["width"] / 2, middle["y"] + middle["height"] / 2)
    expect(offer.get_by_text(re.compile(f"^{re.escape(names[1])}, "))).to_be_visible()
    settled(chart.page)
    expect(offer).to_be_visible()
    clicked = 0
    for place, name in enumerate(names):
        bar = tallest(series.nth(place).locator("g.point path"))
        if bar.evaluate("bar => bar.getBoundingClientRect().height") < 6:
            continue
        bar.click(force=True)
        clicked += 1
        expect(offer.get_by_text(re.compile(f"^{re.escape(name)}, "))).to_be_visible()
        settled(chart.page)
    assert clicked > 1
    offer.get_by_role("button", name="Close").click()
    expect(offer).to_have_count(0)


def one_that_is_clicked_again_closes_its_offer(chart: Locator, offer: Locator) -> None:
    bar = tallest(bars_of(chart))
    bar.click(force=True)
    expect(offer).to_be_visible()
    bar.click(force=True)
    expect(offer).to_have_count(0)


def bars_of_the_top(page: Page) -> Locator:
    """The bars of the first chart where they stand when the page is opened."""
    bars = chart_called(page, "Gross written premium").locator("g.points path")
    bars.first.wait_for(state="attached")
    return bars
