"""E-mail on the screens: a certificate and its log, reminders, an opt-out, and the texts that an admin changes."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.insurers import insurer_a
from core.services.audit import log as audit
from core.services.mail import mail
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from pages.sales import due
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import sell
from tests.ui.conftest import Screen, lists, press, texts

NOW = datetime(2027, 11, 20, 7, 8, tzinfo=UTC)
pytestmark = pytest.mark.frozen_at(NOW)


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    """A live policy that ends in three days."""
    with clock.freeze(shipped.STILL + timedelta(days=3)):
        return sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)


def open_page(screen: Screen, page: str, *roles: str, **query: str) -> AppTest:
    return screen(*roles, path=page, **query)


def test_a_certificate_is_sent_from_the_policy_and_logged_there(store: Store, screen: Screen, sale: Sale) -> None:
    at = open_page(screen, "policies/policy.py", "operations", id=str(sale.policy_id))
    assert "No e-mail was sent about this." in texts(at)
    press(at, "Send by e-mail")
    with store.reading(Scope.system()) as session:
        (letter,) = mail.list_latest(session)
    assert f"The certificate goes to {letter.recipient}. There is no mail server yet" in texts(at)
    log = next(each for each in lists(at) if "Subject" in each)
    assert list(log["State"]) == ["Waiting"]
    assert list(log["Subject"]) == [letter.subject]
    reader = open_page(screen, "policies/policy.py", "claims", id=str(sale.policy_id))
    assert "Send by e-mail" not in [button.label for button in reader.button]


@every_case(("is_over", "verb"), [(False, "ends"), (True, "ended")])
def test_the_text_message_says_whether_cover_is_over(is_over: bool, verb: str) -> None:
    row: Any = SimpleNamespace(
        customer="Ngozi", product="Car", provider="Anchorline", expiration_at=NOW, is_over=is_over, next_minor=None
    )
    assert due.text_message(row) == f"Ngozi, your Car cover with Anchorline {verb} on 20 Nov 2027."


def test_a_reminder_says_who_was_left_out_and_a_customer_may_switch_them_off(
    store: Store, screen: Screen, sale: Sale
) -> None:
    customer_id = str(sale.policy["customer_id"])
    customer = open_page(screen, "sales/customers.py#customer", "operations", id=customer_id)
    customer.toggle(key="reminders_off").set_value(False).run()
    assert not customer.exception
    at = open_page(screen, "sales/due.py", "operations")
    assert list(lists(at)[0]["Reminded"]) == ["No more"]
    looking = open_page(screen, "sales/customers.py#customer", "claims", id=customer_id)
    assert looking.toggle(key="reminders_off").disabled
    assert looking.toggle(key="reminders_off").value is False
    policy = open_page(screen, "policies/policy.py", "operations", id=str(sale.policy_id))
    assert policy.toggle(key="reminders_off").value is False
    policy.toggle(key="reminders_off").set_value(True).run()
    assert open_page(screen, "sales/customers.py#customer", "claims", id=customer_id).toggle(key="reminders_off").value
    with store.reading(Scope.system()) as session:
        log = audit.list_history(session, audit.subject_of("customer", sale.policy["customer_id"]))
    assert {"reminders switched off", "reminders switched on"} <= {entry.action for entry in log}


def test_an_admin_changes_a_text_sees_it_and_takes_it_back(store: Store, screen: Screen) -> None:
    at = open_page(screen, "admin/mail_texts.py", "admin")
    key = "mail_text renewal reminder 0"
    at.text_input(key=f"{key} subject").set_value("Soon over, $nobody").run()
    at.button(key=f"{key} save").click().run()
    assert "which this e-mail does not have" in texts(at)
    at.text_input(key=f"{key} subject").set_value("Soon over, $name").run()
    assert "**Soon over, [name]**" in texts(at)
    at.button(key=f"{key} save").click().run()
    assert "the next e-mail has this text" in texts(at)
    at.button(key="mail_text renewal reminder 1 reset").click().run()
    assert "the text is the original again" in texts(at)
