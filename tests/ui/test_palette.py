"""The command palette's screens and actions, and pages that somebody may not open."""

from collections import Counter
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from core.services.people import staff
from core.store.access import Scope, Store
from core.ui.frame import menu, navigation
from tests.every_case import every_case
from tests.pages import turn_to
from tests.ui.conftest import Screen, person_of, sent, texts

ROLES = ("operations", "claims", "finance", "supervisor", "compliance", "admin")


def offered(at: Any) -> dict[str, Any]:
    return next(payload for payload in sent(at) if "screens" in payload)


@every_case("role", ROLES)
def test_the_palette_offers_what_the_role_may_open(store: Store, screen: Screen, role: str) -> None:
    given = offered(screen(role))
    allowed = menu.allowed_screens(person_of(role))
    titles = [each["title"] for each in given["screens"] if each["kind"] == "Screen"]
    assert titles == [each.title for each in allowed if not each.hidden]
    home = next(each for each in allowed if not each.hidden)
    addresses = {"" if each is home else each.address for each in allowed}
    for each in given["screens"]:
        assert urlsplit(each["href"]).path.strip("/") in addresses
    assert all(page["path"].strip("/") in {each.address for each in menu.SCREENS} for page in given["pages"].values())


def test_the_palette_stays_in_the_mode(store: Store, screen: Screen) -> None:
    given = offered(screen("operations", mode="test"))
    assert given["test"] is True
    assert all(parse_qs(urlsplit(each["href"]).query)["mode"] == ["test"] for each in given["screens"])
    assert offered(screen("operations"))["test"] is False


def test_every_action_leads_to_a_screen() -> None:
    paths = {screen.path for screen in menu.SCREENS}
    assert {shortcut.path for shortcut in navigation.SHORTCUTS} <= paths


@every_case(
    ("typed", "path"),
    [("buy motor", "buy/buy.py"), ("endorse", "policies/search.py"), ("lodge claim", "claims/lodge.py")],
)
def test_an_action_is_found_by_the_words_that_people_use(typed: str, path: str) -> None:
    searched = {each.path: f"{each.title} {each.detail} {each.words}".lower() for each in navigation.SHORTCUTS}
    assert all(word in searched[path] for word in typed.split())


def test_every_screen_has_a_purpose_of_its_own() -> None:
    assert set(menu._PURPOSES) == {screen.path for screen in menu.SCREENS}
    alike = [text for text, times in Counter(screen.purpose for screen in menu.SCREENS).items() if times > 1]
    assert alike == []
    assert [text for text in menu._PURPOSES.values() if len(text) < 20 or not text.endswith(".")] == []


@pytest.mark.parametrize(
    ("role", "page", "may"),
    [
        ("finance", "policies/policy.py", "operations, claims, supervisor and admin"),
        ("claims", "sales/dashboard.py", "operations, finance and admin"),
        ("operations", "admin/staff.py", "admin only"),
    ],
)
def test_a_page_of_others_says_what_it_is_who_may_and_whom_to_ask(
    store: Store, screen: Screen, monkeypatch: pytest.MonkeyPatch, role: str, page: str, may: str
) -> None:
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session,
            email="ada@x.example",
            name="Ada Obi",
            roles=["admin"],
            password="correct horse battery",
            actor="tests",
        )
    refused = menu.screen_of(page)

    def draw(path: str) -> None:
        from core.ui.frame import menu as screens
        from core.ui.frame import navigation

        navigation.draw(screens.screen_of(path))

    at, links = screen(role), []
    # This way of testing opens no address of a page that the menu lacks, so it has no pages to link.
    monkeypatch.setattr("core.ui.frame.page_links.link", lambda path, **_: links.append(path))
    shown = type(at).from_function(draw, args=(page,)).run()
    assert not shown.exception
    text = texts(shown)
    assert refused.title in text
    assert refused.purpose in text
    assert may in text
    assert "Ada Obi (ada@x.example)" in text
    assert links[-1] == next(each.path for each in menu.allowed_screens(person_of(role)) if not each.hidden)


def test_a_supervisor_opens_policies_and_customers_and_operations_read_products(store: Store) -> None:
    supervisor = {screen.path for screen in menu.allowed_screens(person_of("supervisor"))}
    assert {"policies/policy.py", "sales/customers.py#customer"} <= supervisor
    assert not supervisor & {"sales/customers.py", "sales/purchases.py"}
    operations = {screen.path for screen in menu.allowed_screens(person_of("operations"))}
    assert {"admin/products.py", "admin/product.py"} <= operations
    assert "admin/rates.py" not in operations


def test_operations_read_a_product_and_change_nothing(store: Store, screen: Screen) -> None:
    at = screen("operations", path="admin/products.py")
    href = next(row["href"] for payload in sent(at) for row in payload.get("rows", ()))
    turn_to(at, "admin/product.py")
    at.query_params["id"] = parse_qs(urlsplit(href).query)["id"][0]
    at.run()
    assert not at.exception
    labels = {button.label for button in at.button}
    assert not labels & {"Change rates", "Switch off", "Switch on", "Save the texts", "Switch off for it", "Withdraw"}
    assert "Rates over time" in [tab.label for tab in at.tabs]


def test_the_tab_of_a_record_is_in_the_address(store: Store, screen: Screen) -> None:
    at = screen("admin", path="admin/products.py")
    href = next(row["href"] for payload in sent(at) for row in payload.get("rows", ()))
    turn_to(at, "admin/product.py")
    at.query_params["id"] = parse_qs(urlsplit(href).query)["id"][0]
    at.query_params["tab"] = "history"
    at.run()
    assert at.session_state["record_tabs"] == "History"
    at.query_params["tab"] = "no-such-tab"
    at.run()
    assert at.session_state["record_tabs"] == "Rates over time"
