"""From a tile to its rows to a file, in a browser: one number all the way."""

import csv
import hashlib
import io
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Download, Locator, Page, expect

from core import money
from core.services.exports import receipts
from core.services.sales import figures
from core.services.sales.filter import PurchaseFilter
from core.services.sales.sales_totals import SalesTotals
from core.services.windows import Window
from core.store.access import Scope
from tests.e2e.conftest import PATIENCE, Desk, Visit, settled
from tests.e2e.presses import Presses


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


Pixel = tuple[int, int]
# The places of a canvas that have the colour of the first series, every third in either direction.
PIXELS = """canvas => {
  const [wide, high] = [canvas.width, canvas.height];
  const { data } = canvas.getContext("2d").getImageData(0, 0, wide, high);
  const found = [];
  for (let y = 0; y < high; y += 3)
    for (let x = 0; x < wide; x += 3) {
      const at = 4 * (y * wide + x);
      if (data[at] === 0x0b && data[at + 1] === 0x6b && data[at + 2] === 0x6b) found.push([x, y]);
    }
  return found.length ? found : null;
}"""


def click_bar(chart: Locator, choose: Callable[[list[Pixel]], Pixel]) -> None:
    """Click in a chart, which is as wide as it is drawn, on one of the places of its bars."""
    chart.evaluate("chart => chart.scrollIntoView({block: 'center', behavior: 'instant'})")
    canvas = chart.locator("canvas").first.element_handle()
    found = chart.page.wait_for_function(PIXELS, arg=canvas).json_value()
    x, y = choose([(x, y) for x, y in found])
    chart.click(position={"x": x, "y": y}, force=True)


def in_the_first_row(places: list[Pixel]) -> Pixel:
    """A place in the topmost of horizontal bars."""
    top = min(y for _, y in places)
    return next((x, y) for x, y in places if y >= top + 6)


def in_the_highest(places: list[Pixel]) -> Pixel:
    """A place in the highest of vertical bars."""
    columns = Counter(x for x, _ in places)
    highest = max(columns.values())
    x = next(x for x, many in columns.items() if many == highest)
    return x, sorted(y for column, y in places if column == x)[highest // 2]


def narrow_to_a_month_of_an_insurer(page: Page) -> None:
    """Click an insurer in one chart of the dashboard, then the best month in another."""
    months, insurers = page.get_by_test_id("stEChartsChart").nth(2), page.get_by_test_id("stEChartsChart").nth(3)
    expect(insurers).to_have_attribute("aria-label", re.compile("^Share by insurer"))
    everybody = months.get_attribute("aria-label") or ""
    click_bar(insurers, in_the_first_row)
    page.get_by_role("button", name="Filter by this").click()
    page.wait_for_url(re.compile("provider="))
    # Until the months are those of the one insurer, a click would hit what is about to be drawn anew.
    expect(months).not_to_have_attribute("aria-label", everybody)
    settled(page)
    click_bar(months, in_the_highest)
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
    expect(page.locator(".st-key-selection_total")).to_contain_text(money.format_naira(taken.sold_minor))

    content = Path(downloaded(page, "Export CSV").path()).read_bytes()
    check_file(content, taken)
    expect(page.get_by_text("Equals the total below")).to_be_visible()
    expect(page.get_by_text(hashlib.sha256(content).hexdigest())).to_be_visible()
    with desk.store.reading(Scope.system()) as session:
        assert receipts.list_latest(session, 1)[0].sum_minor == taken.sold_minor
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
