"""A price changes in a browser: an admin compares new rates and proposes them once, another confirms them."""

from uuid import UUID

import httpx
import pytest
from playwright.sync_api import expect
from sqlmodel import col

from core.services.catalogue import keys, product_list, rate_changes
from core.services.people import staff
from core.store.access import Scope
from core.store.schema.tables import Staff
from tests.e2e.conftest import PASSWORD, Desk, Visit, settled, twice

# Other tests of this server sell the single premium: this one leaves it as it is.
LOAN = UUID("01900000-0000-7000-8000-000000080102")


def charged(desk: Desk, key: str) -> float:
    """Return the API's present price of a loan of 100,000."""
    body = {"loan_amount": 100000, "loan_tenure": 12, "product_id": str(LOAN)}
    address = f"{desk.url}/v1/products/credit-life-price"
    answer = httpx.post(address, json=body, headers={"Authorization": f"Bearer {key}"}, timeout=20)
    assert answer.status_code == 200, answer.text
    price: float = answer.json()["data"]["price"]
    return price


def confirmed_by_another(desk: Desk) -> None:
    """Confirm the waiting change as a second admin."""
    email = "second@coverdesk.example"
    with desk.store.writing(Scope.system()) as session:
        staff.add_or_update(session, email=email, name="Second", roles=["admin"], password=PASSWORD, actor="tests")
        # An admin for long.
        session.change(Staff, col(Staff.email) == email, confirms_from=None)
        product = product_list.get_product(session, LOAN)
        assert product.proposal is not None
        by = staff.get_by_email(session, email)
        rate_changes.confirm(session, LOAN, product.proposal.id, seen=product.version, by=by)


@pytest.mark.exhaustive
def test_the_api_charges_what_one_admin_proposed_and_another_confirmed_from_its_day_on(
    visit: Visit, desk: Desk
) -> None:
    with desk.store.writing(Scope.system()) as session:
        key = keys.issue_key(session, distributor_id=desk.seller, is_live=False, name="prices", actor="tests")
    assert charged(desk, key) == 6900.0
    page = visit("admin", f"/product?id={LOAN}")
    page.get_by_role("button", name="Change rates").click()
    page.wait_for_url("**/rates?id=*")
    page.get_by_label("Death (%)").fill("0.5")
    page.keyboard.press("Enter")
    metrics = page.get_by_test_id("stMetricValue")
    expect(metrics.nth(1)).to_have_text("₦9,600.00")
    expect(metrics.nth(0)).to_have_text("₦6,900.00")
    settled(page)
    twice(page.get_by_role("button", name="Propose: Shares of the loan"))
    page.wait_for_url("**/product?id=*")
    expect(page.get_by_text("are proposed: another admin confirms them.")).to_be_visible()
    expect(page.get_by_role("button", name="Confirm", exact=True)).to_have_count(0)
    confirmed_by_another(desk)
    assert charged(desk, key) == 6900.0
    with desk.store.reading(Scope.system()) as session:
        product = product_list.get_product(session, LOAN)
        assert [version.state for version in product.versions] == ["Planned", "In force"]
    page.reload()
    page.get_by_role("link", name="In the audit log").click()
    page.wait_for_url("**/audit_log?*")
    expect(page.get_by_text("2 entries")).to_be_visible()
    settled(page)
    page.locator("tbody a.record").first.click()
    cell = page.locator('[data-testid="stTable"] td p').last
    # A hash, as that of an uploaded file, is read to its end.
    cell.evaluate("cell => cell.textContent = '0123456789abcdef'.repeat(4)")
    assert cell.evaluate("cell => cell.scrollWidth <= cell.clientWidth")
