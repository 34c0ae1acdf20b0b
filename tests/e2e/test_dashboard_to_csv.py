"""From a tile to its rows to a file, in a browser: one number all the way."""

import csv
import hashlib
import io
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Download, Locator, Page, expect

from core import money
from core.services.exports import receipts
from core.services.sales import figures
from core.services.sales.selection import Selection
from core.services.sales.takings import Takings
from core.services.windows import Window
from core.store.scope import Scope
from tests.e2e.conftest import Desk, Visit, settled


def downloaded(page: Page, link: str) -> Download:
    """The file behind a link that opens in a tab of its own."""
    files: list[Download] = []

    def keep(file: Download) -> None:
        files.append(file)

    page.context.on("page", lambda tab: tab.on("download", keep))
    page.on("download", keep)
    page.get_by_role("link", name=link).first.click()
    expect(page.get_by_text("Export receipt")).to_be_visible()
    for _ in range(50):
        if files:
            break
        page.wait_for_timeout(100)
    return files[0]


def tallest(chart: Locator) -> Locator:
    """The largest bar of a chart."""
    chart.scroll_into_view_if_needed()
    bars = chart.locator("g.points path")
    bars.first.wait_for(state="attached")
    heights = bars.evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().height)")
    return bars.nth(heights.index(max(heights)))


def check_file(content: bytes, taken: Takings) -> None:
    """The file has as many rows as the tile counts, and their sum is the tile's."""
    rows = list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    assert len(rows) == taken.sold
    assert sum(int(row["total"].replace(".", "")) for row in rows) == taken.sold_minor


def test_a_month_of_an_insurer_is_one_number_in_chart_tile_table_and_file(visit: Visit, desk: Desk) -> None:
    page = visit("finance", "/?period=1y&by=month")
    charts = page.get_by_test_id("stPlotlyChart")
    charts.nth(3).scroll_into_view_if_needed()
    charts.nth(3).locator("g.points path").last.click(force=True)
    page.wait_for_url(re.compile("provider="))
    settled(page)
    tallest(charts.nth(2)).click(force=True)
    page.wait_for_url(re.compile("from="))
    settled(page)
    tile = page.get_by_text(re.compile("^Gross written premium ₦.* = purchases ")).inner_text()

    page.get_by_role("link", name="Show these purchases").click()
    expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
    settled(page)
    selection = Selection.read(parse_qs(urlsplit(page.url).query))
    assert selection.provider
    assert selection.first
    assert selection.last
    assert (selection.last - selection.first).days < 31
    with desk.store.reading(Scope.staff(is_live=True)) as session:
        window = Window.of_days(selection.first, selection.last)
        taken = figures.summary(session, window, selection.wanted).current.takings
    assert taken.sold
    assert f"purchases {money.shown(taken.sold_minor)} (" in tile
    expect(page.locator(".st-key-selection_total")).to_contain_text(money.shown(taken.sold_minor))

    content = Path(downloaded(page, "Export CSV").path()).read_bytes()
    check_file(content, taken)
    expect(page.get_by_text("Equals the total below")).to_be_visible()
    expect(page.get_by_text(hashlib.sha256(content).hexdigest())).to_be_visible()
    with desk.store.reading(Scope.system()) as session:
        assert receipts.latest(session, 1)[0].sum_minor == taken.sold_minor


def test_a_row_opens_and_the_way_back_keeps_the_selection(visit: Visit) -> None:
    page = visit("operations", "/purchases?period=1y&order=largest")
    page.locator("tbody tr").first.click()
    expect(page.get_by_text("Split of the money", exact=True)).to_be_visible()
    assert re.search(r"/purchase\?id=[0-9a-f-]{36}$", page.url)
    page.reload()
    expect(page.get_by_text("Split of the money", exact=True)).to_be_visible()
    page.get_by_text("Back to the purchases").click()
    expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
