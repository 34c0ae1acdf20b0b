"""Signing in and out in a browser: what lasts, what ends, and what refuses."""

import re

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col

from core.services.people import sign_in, staff
from core.store.access import Scope
from core.store.schema.tables import Staff
from tests.e2e.conftest import PASSWORD, Desk, Visit, email, settled


def cookie_of(page: Page) -> dict[str, object] | None:
    return next((dict(kept) for kept in page.context.cookies() if kept["name"] == sign_in.COOKIE), None)


def test_a_deep_link_is_reached_through_the_sign_in_and_survives_a_reload(signed_in: Visit) -> None:
    page = signed_in("operations", "/credit_life?mode=test")
    heading = page.get_by_role("heading", name="Credit life")
    expect(heading).to_be_visible()
    assert re.search(r"/credit_life\?(.*&)?mode=test", page.url)
    page.reload()
    expect(heading).to_be_visible()
    expect(page.get_by_label("E-mail", exact=True)).not_to_be_visible()
    kept = cookie_of(page)
    assert kept
    assert (kept["httpOnly"], kept["sameSite"], kept["path"]) == (True, "Lax", "/")


def test_a_wrong_password_opens_nothing_and_the_script_of_the_charts_is_loaded_meanwhile(signed_in: Visit) -> None:
    page = signed_in("finance", password="not the password")
    page.wait_for_function("performance.getEntriesByType('resource').some(each => each.name.includes('/PlotlyChart.'))")
    expect(page.get_by_text("The e-mail or the password is wrong.")).to_be_visible()
    expect(page.get_by_label("E-mail", exact=True)).to_have_value(email("finance"))
    assert cookie_of(page) is None


def test_signing_out_ends_every_tab_and_a_stolen_cookie_is_worth_nothing_after_it(visit: Visit, desk: Desk) -> None:
    page = visit("operations", "/search")
    stolen = cookie_of(page)
    assert stolen
    other = page.context.new_page()
    other.goto("/credit_life")
    expect(other.get_by_role("heading", name="Credit life")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("E-mail", exact=True)).to_be_visible()
    assert cookie_of(page) is None
    other.get_by_text("Test", exact=True).click()
    expect(other.get_by_label("E-mail", exact=True)).to_be_visible()
    page.context.add_cookies([{"name": sign_in.COOKIE, "value": str(stolen["value"]), "url": desk.url}])
    page.reload()
    expect(page.get_by_label("E-mail", exact=True)).to_be_visible()


def test_the_sign_in_leads_nowhere_else_and_a_disabled_account_is_out_at_the_next_click(page: Page, desk: Desk) -> None:
    with desk.store.writing(Scope.system()) as session:
        staff.add_or_update(
            session, email=email("leaver"), name="Leaver", roles=["operations"], password=PASSWORD, actor="tests"
        )
    page.goto("/credit_life?next=//evil.example")
    page.get_by_label("E-mail", exact=True).fill(email("leaver"))
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password", exact=True).press("Enter")
    page.get_by_role("button", name="Sign out").wait_for()
    settled(page)
    assert page.url.startswith(f"{desk.url}/")
    with desk.store.writing(Scope.system()) as session:
        staff.disable(session, email("leaver"), actor="tests")
    expect(page.get_by_role("link", name="Purchases")).to_be_visible()
    page.get_by_text("Test", exact=True).click()
    expect(page.get_by_label("E-mail", exact=True)).to_be_visible()
    settled(page)
    expect(page.get_by_role("link", name="Purchases")).to_be_hidden()
    expect(page.get_by_test_id("stSidebarNav")).to_be_hidden()


@pytest.mark.exhaustive
def test_what_ends_below_an_open_dialog_is_said_beside_it(visit: Visit, desk: Desk) -> None:
    page = visit("compliance", "/complaints")
    page.get_by_role("button", name="Register a complaint").click()
    dialog, refused = page.get_by_role("dialog"), page.locator(".st-key-access-refused")
    dialog.get_by_label("Name").fill("Ada Obi")

    def assert_refused(text: str) -> None:
        dialog.get_by_role("button", name="Register it").click()
        expect(refused).to_contain_text(text)
        expect(dialog.get_by_label("Name")).to_have_value("Ada Obi")
        over, below = page.get_by_test_id("stDialog").bounding_box(), refused.bounding_box()
        assert over
        assert below
        assert over["y"] + over["height"] <= below["y"]

    person = col(Staff.id) == desk.people["compliance"]
    with desk.store.writing(Scope.system()) as session:
        session.change(Staff, person, roles=["finance"])
    assert_refused("You may not do this: it needs the role compliance.")
    with desk.store.writing(Scope.system()) as session:
        session.change(Staff, person, roles=["compliance"])
    other = page.context.new_page()
    other.goto("/complaints")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_label("E-mail", exact=True).wait_for()
    assert_refused("Your sign-in has ended. Copy what you have typed")


def test_an_address_that_the_role_lacks_refuses(visit: Visit) -> None:
    page = visit("finance", "/credit_life")
    expect(page.get_by_text("it is open to the roles operations and admin")).to_be_visible()
    expect(page.get_by_role("link", name="Credit life")).not_to_be_visible()
    expect(page.get_by_text("On behalf of")).not_to_be_visible()


def test_an_address_that_nobody_has_says_so_and_leads_back(visit: Visit) -> None:
    page = visit("finance", "/nonsense")
    expect(page.get_by_text("There is no page called nonsense")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Go to Dashboard").click()
    expect(page.get_by_role("heading", name="Dashboard")).to_be_visible()


def test_the_mode_stays_in_the_address_from_page_to_page(visit: Visit) -> None:
    page = visit("operations", "/credit_life")
    page.get_by_text("Test", exact=True).click()
    page.wait_for_url("**/credit_life?*mode=test*")
    page.get_by_role("link", name="Purchases").click()
    page.wait_for_url("**/purchases?*mode=test*")
    page.get_by_text("Live", exact=True).click()
    expect(page).not_to_have_url("mode=test")


def test_another_site_cannot_show_the_desk_in_a_frame(page: Page, desk: Desk) -> None:
    answer = page.request.get("/")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
