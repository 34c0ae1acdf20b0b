"""The frame around every screen: who gets which page, in which mode, and what is said when something is missing."""

import pytest
from streamlit import net_util
from streamlit.testing.v1 import AppTest
from streamlit.web.server.server_util import is_url_from_allowed_origins

from core.errors import StoreUnavailable
from core.services.people.staff import Person
from core.settings import ROOT
from core.ui.frame import frame, menu
from tests.every_case import every_case
from tests.pages import turn_to
from tests.ui.conftest import Screen, labels, person_of, sent, texts

ROLES = ("operations", "claims", "finance", "supervisor", "compliance", "admin")


def titles(person: Person) -> set[str]:
    return {shown.title for shown in menu.allowed_screens(person) if not shown.hidden}


def test_menu_follows_the_roles() -> None:
    assert {"Dashboard", "Purchases", "Credit life"} <= titles(person_of("operations"))
    assert "Credit life" not in titles(person_of("finance"))
    assert not titles(person_of("claims")) & {"Dashboard", "Purchases", "Credit life"}
    assert titles(person_of("admin")) == {shown.title for shown in menu.SCREENS if not shown.hidden}


@every_case("role", ROLES)
def test_every_screen_is_either_allowed_or_refused(role: str) -> None:
    person = person_of(role)
    assert {*menu.allowed_screens(person), *menu.refused_screens(person)} == set(menu.SCREENS)
    assert not {*menu.allowed_screens(person)} & {*menu.refused_screens(person)}


def test_addresses_are_told_apart() -> None:
    addresses = [shown.address for shown in menu.SCREENS]
    assert len(set(addresses)) == len(addresses)


def test_without_a_person_there_is_only_the_sign_in(screen: Screen) -> None:
    at = screen()
    assert [field.label for field in at.text_input] == ["E-mail", "Password"]
    assert labels(at) == ["Sign in"]


def test_a_page_without_the_role_cannot_be_opened(screen: Screen) -> None:
    at = screen("finance")
    with pytest.raises(ValueError, match="credit_life"):
        turn_to(at, "buy/credit_life.py")


def test_a_page_judges_the_role_again_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fragment runs without the menu: what stands at its top must refuse alone."""

    def fragment(*roles: str) -> None:
        import streamlit

        from core.ui.frame import frame

        streamlit.write(f"past the gate as {frame.require(*roles).name}")

    monkeypatch.setattr(frame, "current", lambda: person_of("claims"))
    refused = AppTest.from_function(fragment, args=("operations", "finance")).run()
    assert "operations or finance" in refused.error[0].value
    assert not refused.markdown
    assert AppTest.from_function(fragment, args=("claims",)).run().markdown
    monkeypatch.setattr(frame, "current", lambda: None)
    warning = AppTest.from_function(fragment).run().warning[0].value
    assert warning.startswith("Your sign-in has ended. Copy what you have typed")


def test_live_is_the_mode_until_test_is_asked_for(screen: Screen) -> None:
    at = screen("operations", path="buy/credit_life.py")
    assert at.button_group(key="mode_switch").value == "Live"
    assert "mode" not in at.query_params
    at.button_group(key="mode_switch").set_value("Test").run()
    assert at.query_params["mode"] == "test"
    assert "Test" in at.title[0].value
    at.button_group(key="mode_switch").set_value("Live").run()
    assert "mode" not in at.query_params


def test_an_address_with_the_mode_reproduces_it(screen: Screen) -> None:
    at = screen("operations", mode="test")
    assert at.button_group(key="mode_switch").value == "Test"


def test_a_name_is_shown_as_it_stands(screen: Screen) -> None:
    captions = [caption.value for caption in screen("operations").caption]
    assert any(r"Some\_body \*Bold\*" in caption for caption in captions)


def test_a_store_that_is_gone_is_said_and_recovers(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    at = screen("operations", path="buy/credit_life.py")

    def gone(*_: object) -> None:
        raise StoreUnavailable

    with monkeypatch.context() as broken:
        broken.setattr("core.services.catalogue.distributors.list_active", gone)
        at.run()
        assert not at.exception
        assert "does not answer" in at.error[0].value
    next(button for button in at.button if button.label == "Try again").click().run()
    assert not at.error


def test_an_address_outlasts_a_store_that_is_gone(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    at = screen("operations", path="buy/credit_life.py")

    def gone() -> None:
        raise StoreUnavailable

    with monkeypatch.context() as broken:
        broken.setattr("core.ui.frame.frame.current", gone)
        assert "does not answer" in at.run().error[0].value
    next(button for button in at.button if button.label == "Try again").click().run()
    assert "Credit life" in at.title[0].value


def test_somebody_without_any_screen_is_told_so(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(menu, "SCREENS", ())
    assert "no screen yet" in texts(screen("claims"))


@every_case("path", ["/nonsense", "/first-page", "/dashboard", "/nothing/here"])
def test_whatever_the_address_names_the_first_page_can_be_drawn(screen: Screen, path: str) -> None:
    """An unknown page needs an address bar to be shown: the browser's journeys look at it."""
    at = screen("operations")
    at.context = {"url": f"https://desk.example{path}"}
    assert at.run().title[0].value == "Dashboard"
    assert not at.exception


def test_the_first_screen_has_one_address_and_opens_with_its_start_view(screen: Screen) -> None:
    at = screen("claims", path="sales/customers.py")
    at.session_state["start_views"] = {"claims/queue.py": "mine=yes"}
    payloads = sent(at.run())
    assert next(payload["starts"] for payload in payloads if "starts" in payload) == {"/": "mine=yes"}
    links = {each["title"]: each["href"] for payload in payloads for each in payload.get("screens", ())}
    assert links["Queue"] == "/"
    assert links["Customers"] == "/customers"


def test_a_socket_of_another_origin_is_refused_without_asking_the_internet(monkeypatch: pytest.MonkeyPatch) -> None:
    lookups = list[str]()
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, **_: lookups.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)
    assert not is_url_from_allowed_origins("https://evil.example")
    assert lookups, "the framework has changed: is the call in frame.py still needed?"
    lookups.clear()
    frame.skip_external_ip_lookup()
    assert not is_url_from_allowed_origins("https://evil.example")
    assert lookups == []
    assert "\nframe.skip_external_ip_lookup()\n" in (ROOT / "app.py").read_text()
