"""Renewing on the screen of one policy: offered when it can be done, and the reason in words when it cannot."""

import re

from core import clock
from core.covers.insurers import insurer_a
from core.services.renewals import renewals
from core.store.access import Store
from core.store.schema.tables import Renewal
from core.ui.kit import words
from tests.conftest import Partner
from tests.services.selling import sell
from tests.ui.conftest import Screen, press, texts
from tests.ui.policy_pages import confirm, count, open_page


def test_a_renewal_too_early_says_when(screen: Screen, store: Store, partner: Partner) -> None:
    active = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    button = open_page(screen, active.policy_id).button(key="policy.renew")
    assert button.disabled
    opens_on = words.day(clock.add_days(clock.add_months(clock.today(), 12), -90))
    assert button.help == f"This policy can be renewed from {opens_on}"


def test_a_renewal_too_late_says_until_when(screen: Screen, store: Store, partner: Partner) -> None:
    with clock.freeze(clock.midnight(clock.add_months(clock.today(), -14))):
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    button = open_page(screen, sale.policy_id).button(key="policy.renew")
    assert button.disabled
    assert button.help.startswith("This policy could be renewed until ")
    assert "-" not in button.help


def test_a_renewal_that_came_to_be_refused_while_its_dialog_was_open_says_when(
    screen: Screen, store: Store, partner: Partner
) -> None:
    with clock.freeze(clock.midnight(clock.add_months(clock.today(), -11))):
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    at = press(open_page(screen, sale.policy_id), "Renew")
    with store.writing(partner.scope(is_live=True)) as session:
        renewals.renew(session, sale.policy_id, partner.seller(is_live=True))
    at.run()
    assert "it can be renewed again from" in at.info[0].value
    assert not re.search(r"\d{4}-\d\d-\d\d", at.info[0].value)
    assert not [button for button in at.button if button.key == "decision.confirm"]
    assert count(store, Renewal) == 1


def test_a_test_policy_can_be_renewed_on_any_day(screen: Screen, store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY)
    at = open_page(screen, sale.policy_id, mode="test")
    assert [text.value for text in at.text if text.value == "On any day, as a test"]
    confirm(press(at, "Renew"))
    assert count(store, Renewal) == 1


def test_a_renewal_shows_its_price_and_then_its_term(screen: Screen, store: Store, partner: Partner) -> None:
    with clock.freeze(clock.midnight(clock.add_months(clock.today(), -11))):
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    at = press(open_page(screen, sale.policy_id), "Renew")
    assert at.button(key="decision.confirm").label == "Renew for ₦15,000.00"
    confirm(at)
    assert "renewed for ₦15,000.00" in texts(at)
    assert "| Renewal |" in texts(at)
    assert count(store, Renewal) == 1
