"""Credit life in a browser: from an amount to a policy, sold once."""

import io
import re

import pytest
import sqlalchemy as sa
from PIL import Image
from playwright.sync_api import Page, expect

from core import clock
from core.store.access import Scope
from core.store.schema.tables import Purchase
from tests.e2e.conftest import Desk, Visit, settled, twice


@pytest.fixture
def priced(visit: Visit) -> Page:
    """The screen with a loan of 100,000 naira on a single premium."""
    page = visit("operations", "/credit_life?mode=test&plan=Credit+life%2C+single+premium")
    page.get_by_label("Loan amount").fill("100000")
    page.get_by_label("Loan amount").press("Enter")
    expect(page.get_by_test_id("stMetricValue").first).to_have_text("₦575.00")
    return page


def day(page: Page, label: str, digits: str) -> None:
    page.get_by_role("group", name=label).get_by_role("spinbutton").first.click()
    page.keyboard.type(digits)
    page.keyboard.press("Escape")


def fill(page: Page) -> None:
    page.get_by_role("button", name="Buy with these figures").click()
    page.get_by_label("First name").fill("Ngozi")
    page.get_by_label("Last name").fill("Okafor")
    page.get_by_label("E-mail").fill("ngozi.okafor@example.com")
    page.get_by_label("Phone number").fill("08031234567")
    day(page, "Date of birth", "12041990")
    day(page, "Loan start date", f"{clock.today():%d%m%Y}")
    page.get_by_label("Gender").click()
    page.get_by_role("option", name="Female").click()
    picture = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(picture, "PNG")
    chosen = {"name": "okafor.png", "mimeType": "image/png", "buffer": picture.getvalue()}
    page.locator('input[type="file"]').set_input_files(chosen)  # type: ignore[arg-type]
    expect(page.get_by_text("okafor.png")).to_be_visible()


def desk_sales(desk: Desk) -> int:
    with desk.store.reading(Scope.staff(is_live=False)) as session:
        return session.execute(
            sa.select(sa.func.count()).select_from(Purchase).where(Purchase.request_source == "desk")
        ).scalar_one()


@pytest.mark.exhaustive
def test_the_figures_stand_in_the_address_and_every_curve_shows(priced: Page) -> None:
    priced.wait_for_url("**amount=100%2C000**")
    priced.reload()
    expect(priced.get_by_label("Loan amount")).to_have_value("100,000")
    expect(priced.get_by_test_id("stMetricValue").first).to_have_text("₦575.00")
    for curve in ("Loan amount", "Benefits", "Tenure"):
        priced.get_by_role("button", name=curve, exact=True).or_(priced.get_by_role("radio", name=curve)).first.click()
        settled(priced)
        expect(priced.get_by_test_id("stPlotlyChart").locator(".main-svg").first).to_be_visible()


def test_a_loan_is_sold_once_though_a_field_was_wrong_and_the_button_is_clicked_twice(priced: Page, desk: Desk) -> None:
    before = desk_sales(desk)
    fill(priced)
    what_is_wrong_is_said_beside_the_field_and_the_rest_stays(priced)
    twice(priced.get_by_role("button", name="Confirm and buy for ₦575.00"))
    expect(priced.get_by_text("Sold to Ngozi Okafor for Swift Lenders.")).to_be_visible()
    expect(priced.get_by_role("heading", name=re.compile("^TEST.GQA[0-9]+"))).to_be_visible()
    assert desk_sales(desk) == before + 1
    priced.wait_for_url("**/purchase?id=*mode=test*")


def what_is_wrong_is_said_beside_the_field_and_the_rest_stays(page: Page) -> None:
    page.get_by_label("E-mail").fill("nobody")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_text("Must be an e-mail address")).to_be_visible()
    expect(page.get_by_label("First name")).to_have_value("Ngozi")
    page.get_by_label("E-mail").fill("ngozi.okafor@example.com")
    page.get_by_role("button", name="Review").click()
    expect(page.get_by_role("button", name="Confirm and buy")).to_be_visible()
    page.get_by_role("button", name="Change the details").click()
    expect(page.get_by_label("E-mail")).to_have_value("ngozi.okafor@example.com")
    expect(page.get_by_text("okafor.png is attached")).to_be_visible()
    page.get_by_role("button", name="Review").click()
