"""The days of operations and finance, from the question to the answer, with their presses counted.

That of finance by mouse, from the dashboard to the file and what is owed, is in `test_dashboard_to_csv`.
"""

import csv
import io
import re
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from core import money
from tests.e2e.conftest import Visit, settled
from tests.e2e.presses import Presses, tab_to, tab_to_element

MOVED = '[class*="st-key-moved_"] a'


def arrived(page: Page, heading: str) -> None:
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    settled(page)


def choose_period(page: Page, *, steps: int) -> None:
    """Skip the menu and choose a period by its arrow keys."""
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    tab_to_element(page, page.get_by_role("radiogroup", name="Period").first)
    for _ in range(steps):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settled(page)


def open_by_palette(page: Page, typed: str, heading: str) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type(typed)
    page.keyboard.press("Enter")
    arrived(page, heading)


@pytest.mark.exhaustive
def test_operations_see_the_week_what_moved_and_what_is_stuck_in_4_clicks(visit: Visit, presses: Presses) -> None:
    page = visit("operations")
    presses.forget()
    page.get_by_text("7 days", exact=True).click()
    expect(page).to_have_url(re.compile("period=7d"))
    settled(page)
    expect(page.get_by_text(re.compile("compared with [0-9]")).first).to_be_visible()
    page.locator(MOVED).first.click()
    expect(page).to_have_url(re.compile("provider="))
    settled(page)
    page.get_by_role("link", name=re.compile("^See th(is|ese) .*purchases?")).first.click()
    arrived(page, "Purchases")
    page.go_back()
    settled(page)
    page.locator(".st-key-stuck_today a").first.click()
    stuck = page.get_by_role("heading", name=re.compile("^(Awaiting insurer|Due for renewal|Movements)$"))
    expect(stuck).to_be_visible()
    settled(page)
    assert (presses.clicks(), presses.keys()) == (4, 0)


@pytest.mark.exhaustive
def test_operations_see_the_same_by_keys_alone(visit: Visit, presses: Presses) -> None:
    page = visit("operations")
    presses.forget()
    choose_period(page, steps=1)
    expect(page).to_have_url(re.compile("period=7d"))
    settled(page)
    tab_to_element(page, page.locator(MOVED).first)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("provider="))
    settled(page)
    open_by_palette(page, "awaiting", "Awaiting insurer")
    assert presses.clicks() == 0
    assert presses.keys() <= 36


def exported(page: Page) -> bytes:
    """The content of the file behind the button that has the focus, opened with Enter."""
    files: list[Download] = []

    def keep(file: Download) -> None:
        files.append(file)

    page.context.once("page", lambda tab: tab.on("download", keep))
    page.on("download", keep)
    page.keyboard.press("Enter")
    expect(page.get_by_text("Equals the total above")).to_be_visible()
    while not files:
        page.wait_for_timeout(100)  # lets the browser's events come in
    return Path(files[0].path()).read_bytes()


@pytest.mark.exhaustive
def test_finance_take_a_month_of_an_insurer_and_see_what_is_owed_by_keys_alone(visit: Visit, presses: Presses) -> None:
    page = visit("finance", "/purchases")
    presses.forget()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    tab_to(page, "Period", "combobox")
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("period=last-month"))
    tab_to(page, "Filter")
    page.keyboard.press("Enter")
    tab_to(page, "Insurer", "combobox")
    # The first choice is all of them.
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("provider="))
    settled(page)
    # Escape in the field itself would empty it.
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    tab_to(page, "Export")
    expect(page).to_have_url(re.compile("provider="))
    page.keyboard.press("Enter")
    tab_to(page, "Export CSV", "link")
    rows = list(csv.DictReader(io.StringIO(exported(page).decode(), newline="")))
    assert len({row["provider"] for row in rows}) == 1
    total = money.format_naira(sum(money.to_minor(Decimal(row["total"])) for row in rows))
    expect(page.locator(".st-key-list_head")).to_contain_text(total)
    open_by_palette(page, "statements", "Statements")
    assert presses.clicks() == 0
    assert presses.keys() <= 90
