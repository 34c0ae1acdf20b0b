"""Webhooks on the screens: registered with a ping and shown once, replayed by days with the count first, sent again."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock
from core.services.events.webhooks import log
from core.store.access import Scope, Store
from core.store.schema.tables import Distributor
from core.ui.kit import actions
from pages.admin import webhooks
from tests.conftest import Partner
from tests.events import conftest as events
from tests.events.conftest import Hooks
from tests.events.receivers import answers, receiving
from tests.ui.conftest import Screen, confirm, lists, press, texts

demonstration, hooks = events.demonstration, events.hooks


def box(at: AppTest, name: str) -> Any:
    every = (*at.text_input, *at.selectbox, *at.date_input, *at.multiselect, *at.checkbox)
    return next(each for each in every if each.key == actions.FIELD + name)


def open_page(screen: Screen, page: str, **query: str) -> AppTest:
    return screen("admin", path=page, mode="test", **query)


def page_of(screen: Screen, made: Any) -> AppTest:
    return open_page(screen, "admin/webhooks.py#webhook", id=str(made.endpoint.id))


def test_an_endpoint_is_registered_by_choosing_and_its_secret_is_shown_once(
    hooks: Hooks, screen: Screen, partner: Partner
) -> None:
    with receiving() as receiver:
        at = open_page(screen, "admin/webhooks.py", distributor=str(partner.id))
        press(at, "Register an endpoint")
        assert box(at, "events").value == ["*"]
        box(at, "url").set_value("ftp://wrong")
        box(at, "events").set_value([])
        confirm(at)
        assert "Must be an https address" in texts(at)
        assert receiver.received == []
        box(at, "url").set_value(receiver.url)
        box(at, "events").set_value(["claim.*", "purchase.created"])
        confirm(at)
        assert receiver.received == [], "its receiver cannot know the secret yet"
        assert "Give its receiver the secret, then ping it" in texts(at)
        assert "Open it to ping" in [link.proto.label for link in at.get("page_link")]
    secret = at.code[0].value
    assert secret.startswith("whsec_")
    assert list(lists(at)[0]["Events"]) == ["claim.*, purchase.created"]
    at.run()
    assert secret not in [each.value for each in at.code]


def test_an_endpoint_is_registered_from_the_list_of_all_distributors(
    hooks: Hooks, screen: Screen, partner: Partner
) -> None:
    at = open_page(screen, "admin/webhooks.py")
    assert "register the first" in at.info[0].value
    press(at, "Register an endpoint")
    assert "decision.field.signature_header" not in {each.key for each in at.text_input}, "of the classic form alone"
    with receiving() as receiver:
        box(at, "url").set_value(receiver.url)
        confirm(at)
        assert "Choose a distributor" in texts(at)
        box(at, "distributor").set_value(str(partner.id))
        box(at, "format").set_value("classic").run()
        assert box(at, "signature_header").value == "x-signature"
        confirm(at)
    assert "The endpoint is registered" in texts(at)
    assert len(lists(at)[0]) == 1


def test_a_replay_is_chosen_by_days_and_counted_before_it_happens(hooks: Hooks, screen: Screen) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(500)
        hooks.sell()
        hooks.drain()
        receiver.behave = answers(200)
        hooks.later(days=30)
        hooks.drain()
        hooks.sell()
        hooks.drain()
        calls = len(receiver.received)
        at = page_of(screen, made)
        press(at, "Replay")
        assert box(at, "to").value == clock.today()
        assert "**1** events of these days would be sent now" in texts(at)
        box(at, "from").set_value(clock.today() - timedelta(days=40)).run()
        assert "**2** events" in texts(at)
        box(at, "to").set_value(clock.today() - timedelta(days=50)).run()
        assert "must not be before from" in texts(at)
        box(at, "to").set_value(clock.today()).run()
        box(at, "events").set_value(["claim.*"]).run()
        assert "**0** events" in texts(at)
        box(at, "events").set_value([]).run()
        confirm(at)
        assert "2 events are queued again" in texts(at)
        hooks.drain()
    assert len(receiver.received) == calls + 2


def test_an_endpoint_keeps_a_pattern_of_its_own_when_it_is_changed(hooks: Hooks, screen: Screen) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url, events=["claim.off*"])
        at = page_of(screen, made)
        press(at, "Change")
        assert box(at, "events").value == ["claim.off*"]
        box(at, "format").set_value("classic")
        box(at, "description").set_value("Back office")
        confirm(at)
    changed = hooks.endpoint(made)
    assert (changed.format, changed.description, changed.events) == ("classic", "Back office", ["claim.off*"])


def test_an_older_secret_signs_in_the_standard_form_alone_and_until_it_ends(hooks: Hooks, screen: Screen) -> None:
    line = "The old secret signs until"
    with receiving() as receiver:
        made = hooks.register(receiver.url)
    confirm(press(page_of(screen, made), "Rotate the secret"))
    assert line in texts(page_of(screen, made))
    with clock.freeze(clock.now() + timedelta(hours=25)):
        assert line not in texts(page_of(screen, made))
    at = press(page_of(screen, made), "Change")
    box(at, "format").set_value("classic")
    confirm(at)
    assert line not in texts(page_of(screen, made))


def test_no_delivery_of_a_state_is_not_no_delivery(hooks: Hooks, screen: Screen) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        press(page_of(screen, made), "Ping")
    at = open_page(screen, "admin/webhooks.py#webhook", id=str(made.endpoint.id), state="dead")
    assert "No delivery is in the state Given up." in texts(at)
    assert "Back to the webhooks" in [link.proto.label for link in at.get("page_link")]
    assert "Nothing was delivered" not in texts(at)


def test_a_delivery_that_is_sent_again_is_shown_as_accepted_without_a_reload(
    hooks: Hooks, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        receiver.behave = answers(500)
        hooks.sell()
        hooks.drain()
        with hooks.store.reading(Scope.system()) as session:
            (found,) = log.list_deliveries(session, made.endpoint.id, state="queued").items
            of = replace(found, next_try_at=clock.now())
            waiting = replace(log.get_delivery(session, of.id), delivery=of)
        receiver.behave = answers(200)
        hooks.later(days=1)
        hooks.drain()
        read, seen = log.get_delivery, [waiting]
        monkeypatch.setattr(log, "get_delivery", lambda *given: seen.pop() if seen else read(*given))
        at = open_page(screen, "admin/webhooks.py#delivery", id=str(of.id))
        assert not seen
        assert "Accepted" in at.title[0].value
        assert '{\n  "id": ' in at.code[-1].value
        assert "Its endpoint" in [link.proto.label for link in at.get("page_link")]
    later = replace(of, next_try_at=clock.now() + timedelta(hours=1))
    assert [webhooks.is_soon(each) for each in (of, later, replace(of, state="sent"))] == [True, False, False]


def test_an_endpoint_of_a_distributor_that_is_switched_off_says_that_it_rests(
    hooks: Hooks, screen: Screen, partner: Partner
) -> None:
    with receiving() as receiver:
        made = hooks.register(receiver.url)
    notice = "Swift Lenders is switched off: its endpoints rest"
    assert notice not in texts(page_of(screen, made))
    with hooks.store.writing(Scope.system()) as session:
        session.execute(sa.update(Distributor).values(active=False))
    assert notice in texts(page_of(screen, made))


def test_without_a_distributor_the_first_is_added_before_its_endpoint(store: Store, screen: Screen) -> None:
    at = open_page(screen, "admin/webhooks.py")
    links = [link.proto.label for link in at.get("page_link")]
    assert "Add the distributor of the first endpoint" in links
    assert "Choose one" not in texts(at)
