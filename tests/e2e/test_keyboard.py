"""Journeys without a mouse: the palette, the filters of a list, saved views, a record and back, and a draft."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect

from core.store.access import Scope
from core.store.schema.tables import SavedView
from tests.e2e.conftest import Desk, Visit, settled
from tests.e2e.presses import tab_to


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


@pytest.mark.exhaustive
def test_the_palette_opens_a_screen_by_keys_alone_and_its_entry_of_the_menu_comes_into_sight(
    visit: Visit, page: Page
) -> None:
    page.set_viewport_size({"width": 1280, "height": 620})
    visit("operations", "/dashboard")
    menu = page.get_by_test_id("stSidebarNav")
    assert menu.evaluate("menu => menu.scrollTop") == 0
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find anything")).to_be_visible()
    page.keyboard.type("produc")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/products"))
    expect(page.get_by_role("heading", name="Products")).to_be_visible()
    entry = menu.get_by_role("link", name="Products")
    expect(entry).to_be_in_viewport(ratio=1)
    settled(page)
    menu.evaluate("menu => menu.scrollTo(0, 0)")
    page.locator("a.order").first.click()
    expect(page).to_have_url(re.compile("order="))
    settled(page)
    expect(entry, "whoever has scrolled the menu is left alone").not_to_be_in_viewport()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Find anything")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Find anything")).to_be_hidden()
    page.reload()
    expect(entry).to_be_in_viewport(ratio=1)
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()
    expect(menu.get_by_role("link", name="Dashboard")).to_be_in_viewport(ratio=1)


@pytest.fixture
def without_views(desk: Desk) -> Iterator[None]:
    """The same people visit in other tests, whose menu leads to no view."""
    yield
    with desk.store.writing(Scope.system()) as session:
        session.execute(sa.delete(SavedView))


@pytest.mark.exhaustive
@pytest.mark.usefixtures("without_views")
def test_a_list_is_filtered_saved_as_a_view_and_opened_from_the_menu_by_keys_alone(visit: Visit) -> None:
    page = visit("operations", "/purchases?source=desk&order=largest")
    expect(page.get_by_role("button", name="Request source: Desk")).to_be_visible()
    tab_to(page, "Views")
    page.keyboard.press("Enter")
    tab_to(page, "Name of this view", "textbox")
    page.keyboard.type("From the desk")
    page.keyboard.press("Tab")
    settled(page)
    tab_to(page, "Save this view")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start with it")).to_be_visible()
    tab_to(page, "Start with it", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Starts")).to_be_visible()
    page.keyboard.press("Escape")
    settled(page)
    tab_to(page, "Renewals", "link")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Renewals")).to_be_visible()
    settled(page)
    tab_to(page, "Purchases", "link")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
    expect(page.get_by_role("button", name="Request source: Desk")).to_be_visible()
    assert query(page) == {"source": ["desk"], "order": ["largest"]}
    settled(page)
    tab_to(page, "Request source: Desk")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Request source: Desk")).to_have_count(0)
    assert query(page) == {"order": ["largest"]}


def test_a_record_is_opened_from_its_list_and_left_again_by_keys_alone(visit: Visit) -> None:
    page = visit("operations", "/search?order=ends-back")
    page.locator("a.record").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/policy\?id="))
    settled(page)
    tab_to(page, "Back to the search", "link")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/search\?order=ends-back$"))
    expect(page.locator("a.record").first).to_be_visible()


_IS_SEEN_WHOLE = """element => {
    const box = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(box.x + 4, box.y + 2));
}"""


@pytest.mark.exhaustive
def test_the_menu_leaves_the_page_its_width_on_a_narrow_screen(visit: Visit, page: Page) -> None:
    page.set_viewport_size({"width": 820, "height": 1100})
    visit("operations", "/purchases")
    expect(page.locator('[data-testid="stSidebar"][data-collapsed="true"]')).to_have_count(1)
    # The menu slides away.
    page.wait_for_function("document.querySelector('.st-key-filter_chips').getBoundingClientRect().x < 100")
    title = page.locator("h1")
    assert title.evaluate(_IS_SEEN_WHOLE), "the bar with the button that opens the menu leaves the title free"
    page.locator(".st-key-filter_drawer button").first.click()
    expect(page.get_by_label("Insurer")).to_be_visible()
