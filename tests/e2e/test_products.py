"""A price changes in a browser: an admin compares new rates with old ones, confirms once, and the API charges them."""

from uuid import UUID

import httpx
from playwright.sync_api import expect

from core.services.distributors import keys
from core.services.products import product_detail
from core.store.scope import Scope
from tests.e2e.conftest import Desk, Visit, settled, twice

# Other tests of this server sell the single premium: this one leaves it as it is.
LOAN = UUID("01900000-0000-7000-8000-000000080102")


def charged(desk: Desk, key: str) -> float:
    """What the API asks for a loan of 100,000 now."""
    body = {"loan_amount": 100000, "loan_tenure": 12, "product_id": str(LOAN)}
    address = f"{desk.url}/v1/products/credit-life-price"
    answer = httpx.post(address, json=body, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    assert answer.status_code == 200, answer.text
    price: float = answer.json()["data"]["price"]
    return price


def test_the_api_charges_what_the_admin_has_previewed_and_confirmed(visit: Visit, desk: Desk) -> None:
    with desk.store.writing(Scope.system()) as session:
        key = keys.issue(session, distributor_id=desk.seller, is_live=False, name="prices", actor="tests")
    assert charged(desk, key) == 6900.0
    page = visit("admin", f"/product?id={LOAN}")
    page.get_by_role("button", name="Change rates").click()
    page.wait_for_url("**/rates?id=*")
    page.get_by_text("At once", exact=True).click()
    page.get_by_label("Death (%)").fill("0.5")
    page.keyboard.press("Enter")
    metrics = page.get_by_test_id("stMetricValue")
    expect(metrics.nth(1)).to_have_text("₦9,600.00")
    expect(metrics.nth(0)).to_have_text("₦6,900.00")
    settled(page)
    twice(page.get_by_role("button", name="Confirm: new rates at once"))
    page.wait_for_url("**/product?id=*")
    expect(page.get_by_text("The new rates of Credit life, level monthly hold at once.")).to_be_visible()
    assert charged(desk, key) == 9600.0
    with desk.store.reading(Scope.system()) as session:
        assert [version.state for version in product_detail.one(session, LOAN).versions] == ["In force", "Past"]
    page.get_by_role("link", name="In the audit log").click()
    page.wait_for_url("**/audit_log?*")
    expect(page.get_by_text("1 entry")).to_be_visible()
