"""The renewal desk in a browser: what is due is listed, renewed in place once, and gone from its bucket."""

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from core import clock
from core.covers.insurers import insurer_a
from core.services.policies import policies
from core.services.selling import buying
from core.services.selling.buying import Sale, Seller
from core.store.access import Scope
from tests.covers import shipped
from tests.e2e.conftest import Desk, Visit, settled, twice


@pytest.fixture
def sale(desk: Desk) -> Sale:
    """A third-party policy of a seller of its own that ended five days ago, in test mode."""
    seller = Seller(distributor_id=desk.seller, is_live=False, actor="tests")
    a_year_ago = clock.midnight(clock.add_months(clock.today(), -12)) - timedelta(days=5)
    with clock.freeze(a_year_ago), desk.store.writing(Scope.of(desk.seller, is_live=False)) as session:
        request = shipped.request(insurer_a.THIRD_PARTY, registration_number="LND-903-KT")
        return buying.sell(session, insurer_a.THIRD_PARTY, request, seller)


def press_renew(page: Page) -> None:
    """The button of the first row."""
    page.locator("tbody tr:has(a)").first.get_by_role("button", name="Renew").click()


@pytest.mark.exhaustive
def test_a_lapsed_policy_is_renewed_where_it_is_listed_and_leaves_the_list(
    visit: Visit, desk: Desk, sale: Sale
) -> None:
    page = visit("operations", "/due?mode=test")
    page.get_by_role("radio", name="Lapsed 1–30 days").click()
    page.wait_for_url("**/due?*bucket=lapsed*")
    settled(page)
    expect(page.get_by_text("1 policy lapsed in the last 30 days · ₦15,000.00 at risk")).to_be_visible()
    expect(page.locator(".scroller.wide")).to_have_count(0)
    page.locator("tbody tr:has(a)").first.get_by_role("button", name="Call").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("am I speaking with")
    dialog.get_by_label("Outcome").first.click()
    page.get_by_role("option", name="Will renew").click()
    dialog.get_by_text("Renew now for ₦15,000.00").click()
    expect(dialog.get_by_role("button", name="Record and renew")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press_renew(page)
    expect(dialog.get_by_test_id("stMetricValue")).to_have_text("₦15,000.00")
    expect(dialog).to_contain_text(str(sale.policy["meta"]["policy_number"]))
    twice(dialog.get_by_role("button", name="Renew for ₦15,000.00"))
    expect(page.get_by_text("The policy is renewed for ₦15,000.00.")).to_be_visible()
    expect(page.get_by_text("Nothing is due: no policy that can be renewed")).to_be_visible()
    with desk.store.reading(Scope.staff(is_live=False)) as session:
        assert policies.get_state(session, sale.policy_id).stage == "In force"


@pytest.mark.exhaustive
def test_the_product_of_a_call_is_read_whole_and_its_button_has_the_focus_again(visit: Visit, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    visit("operations", "/due?bucket=month")
    products = page.locator("tbody td").filter(has_text="comprehensive auto")
    expect(products.first).to_be_visible()
    assert products.evaluate_all("all => all.every(cell => cell.scrollWidth <= cell.clientWidth)")
    call = page.get_by_role("button", name="Call").first
    call.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(call).to_be_focused()
