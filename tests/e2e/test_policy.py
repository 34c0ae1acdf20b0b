"""A policy in a browser: found by its plate, opened, and cancelled with the refund that was shown."""

import re

import pytest
from playwright.sync_api import Page, expect

from core.covers.insurers import insurer_a
from core.services.mail import mail
from core.services.policies import policies
from core.services.selling import buying
from core.services.selling.buying import Sale, Seller
from core.store.access import Scope
from tests.covers import shipped
from tests.e2e.conftest import Desk, Visit, settled, twice

PLATE = "KJA-417-QX"


def sell(desk: Desk, plate: str, *, is_live: bool = False, **changed: str) -> Sale:
    """A third-party policy, sold today."""
    request = shipped.request(insurer_a.THIRD_PARTY, registration_number=plate, **changed)
    seller = Seller(distributor_id=desk.seller, is_live=is_live, actor="tests")
    with desk.store.writing(Scope.of(desk.seller, is_live=is_live)) as session:
        return buying.sell(session, insurer_a.THIRD_PARTY, request, seller)


@pytest.fixture
def sale(desk: Desk) -> Sale:
    """A policy of that plate in test mode."""
    return sell(desk, PLATE)


def found(page: Page, text: str) -> None:
    """Type into the one box and open the first row."""
    page.get_by_label("Find", exact=True).fill(text)
    page.keyboard.press("Enter")
    # Without a text the list may have held this one policy already: wait until this text was looked for.
    expect(page.get_by_text(re.compile("looked for as policy number or plate"))).to_be_visible()
    settled(page)
    expect(page.get_by_text("1 policy · sold all time")).to_be_visible()
    page.locator("tbody tr:has(a)").first.click()
    page.wait_for_url("**/policy?id=*")


def test_a_policy_is_found_by_its_plate_and_cancelled_with_its_refund(visit: Visit, desk: Desk, sale: Sale) -> None:
    page = visit("operations", "/search?mode=test")
    found(page, "kja 417 qx")
    number = str(sale.policy["meta"]["policy_number"])
    heading = page.get_by_role("heading", name=number)
    expect(heading).to_contain_text("In force")
    page.get_by_text("Policy " + str(sale.policy_id)).scroll_into_view_if_needed()
    expect(heading).to_be_in_viewport()
    # As long as the longest names are, it takes lines of its own, and the buttons stay beside it.
    heading.evaluate("heading => { heading.style.letterSpacing = '1.5em'; }")
    title, button = heading.bounding_box(), page.get_by_role("button", name="Cancel policy").bounding_box()
    assert title
    assert button
    assert button["x"] >= title["x"] + title["width"]
    assert button["y"] < title["y"] + title["height"]
    heading.evaluate("heading => { heading.style.letterSpacing = ''; }")
    certificate = page.frame_locator('iframe[title="Certificate"]').owner
    expect(certificate).to_have_attribute("src", re.compile(r"^/certificates/[a-z2-7]{26}\.pdf"))
    page.get_by_role("button", name="Cancel policy").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_test_id("stMetricValue")).to_have_text("₦13,500.00")
    dialog.get_by_text("The insurer", exact=True).click()
    expect(dialog.get_by_test_id("stMetricValue")).to_have_text("₦15,000.00")
    dialog.get_by_label("Why it ends").fill("The vehicle was never delivered")
    twice(dialog.get_by_role("button", name="Cancel and give back ₦15,000.00"))
    expect(page.get_by_text("The policy is cancelled; ₦15,000.00 goes back.")).to_be_visible()
    expect(page.get_by_role("heading", name=number)).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Cancel policy")).not_to_be_visible()
    with desk.store.reading(Scope.staff(is_live=False)) as session:
        assert policies.get_state(session, sale.policy_id).stage == "Cancelled"
    page.get_by_role("link", name="Back to the search").click()
    expect(page.get_by_label("Find", exact=True)).to_have_value("kja 417 qx")


def test_a_certificate_is_sent_from_the_policy_and_stands_among_its_e_mails(visit: Visit, desk: Desk) -> None:
    sold = sell(desk, "KJA-418-QX", is_live=True, email="holder@example.com")
    page = visit("operations", f"/policy?id={sold.policy_id}")
    # A hasty hand sends one e-mail.
    twice(page.get_by_role("button", name="Send by e-mail"))
    expect(page.get_by_text("The certificate goes to holder@example.com.")).to_be_visible()
    with desk.store.reading(Scope.staff(is_live=True)) as session:
        (letter,) = mail.list_about(session, f"policy {sold.policy_id}")
    assert (letter.recipient, letter.sent_by) == ("holder@example.com", "staff operations@coverdesk.example")
    page.get_by_role("tab", name="E-mail").click()
    expect(page.get_by_role("cell", name="holder@example.com")).to_be_visible()
