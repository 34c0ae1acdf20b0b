"""The agreement with a party on its screen: terms are added, and a bank account takes two admins."""

from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.services.catalogue import share_changes
from core.services.finance import agreements, bank_accounts
from core.services.finance.parties import Party
from core.services.people import role_grants
from tests.conftest import Partner
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, labels, press, texts

PAGE = "admin/agreement.py"


def open_page(screen: Screen, finance: Finance, partner: Partner, *, by: str = "root") -> AppTest:
    return screen(path=PAGE, signed_in=finance.people[by], id=str(partner.id))


def test_terms_are_added_and_shown_with_their_history(finance: Finance, screen: Screen, partner: Partner) -> None:
    at = press(open_page(screen, finance, partner), "New terms")
    at.text_input(key="decision.field.number").set_value("AG/7")
    at.date_input(key="decision.field.licence_expires_on").set_value(clock.add_days(clock.today(), 20))
    at.selectbox(key="decision.field.collects").set_value("distributor")
    confirm(at)
    assert "they hold once another admin has confirmed them" in texts(at)
    assert [link.label for link in _list_waiting(screen)] == [
        "A new set of terms waits for a second admin: Swift Lenders"
    ]
    at = open_page(screen, finance, partner)
    assert "Who holds the premium: The platform's wallet → The distributor" in texts(at)
    assert "Confirm" not in labels(at)
    confirm(press(open_page(screen, finance, partner, by="second"), "Confirm"))
    held = finance.read(agreements.get_in_force, Party("distributor", partner.id), clock.today())
    assert (held.number, held.collects) == ("AG/7", "distributor")
    assert "Root, confirmed by Second" in str(open_page(screen, finance, partner).table[-1].value)
    at = open_page(screen, finance, partner)
    assert "in 20 days" in at.warning[0].value
    assert "AG/7" in [str(text.value) for text in at.text]


def test_an_agreement_that_is_over_says_so_and_what_goes_on(finance: Finance, screen: Screen, partner: Partner) -> None:
    party, last_on = Party("distributor", partner.id), clock.add_days(clock.today(), -1)
    terms = {"number": "AG/7", "starts_on": "2026-01-01", "ends_on": str(last_on)}
    finance.agree(party, terms)
    at = open_page(screen, finance, partner)
    assert f"ended on {clock.format_day(last_on)}" in at.error[0].value
    assert "switch the distributor off" in at.error[0].value
    assert "Terms that hold today" not in texts(at)
    press(at, "New terms")
    assert at.date_input(key="decision.field.ends_on").value is None, "new terms are not over before they begin"
    assert "The agreement with Swift Lenders ended on" in texts(screen("admin", path="admin/system.py"))
    new = {"number": "AG/8", "starts_on": str(clock.today()), "ends_on": str(clock.today())}
    finance.agree(party, new)
    assert not open_page(screen, finance, partner).error, "its last day is one of its days"
    assert "The agreement with" not in texts(screen("admin", path="admin/system.py"))


def test_a_disabled_confirmation_has_its_reason_beside_it(finance: Finance, screen: Screen, partner: Partner) -> None:
    at = press(open_page(screen, finance, partner), "New commission share")
    at.text_input(key="decision.field.commission").set_value("7.25")
    confirm(at)
    assert "Somebody else gave you your password" not in texts(open_page(screen, finance, partner))
    resting = finance.rest("second", clock.now() + timedelta(hours=1))
    at = screen(path=PAGE, signed_in=resting, id=str(partner.id))
    assert next(button for button in at.button if button.label == "Confirm").disabled
    assert (
        "Somebody else gave you your password, or the link to it, less than 24 hours ago: you can approve from"
        in texts(at)
    )


def test_an_account_is_proposed_by_one_admin_and_confirmed_by_another(
    finance: Finance, screen: Screen, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = press(open_page(screen, finance, partner), "New bank account")
    for name, value in (("bank_name", "First Bank"), ("account_name", "Swift"), ("account_number", "0123456789")):
        at.text_input(key=f"decision.field.{name}").set_value(value)
    confirm(at)
    at = open_page(screen, finance, partner)
    assert [link.label for link in _list_waiting(screen)] == [
        "A new bank account waits for a second admin: Swift Lenders"
    ]
    shown = labels(at)
    assert "Take back" in shown
    assert "Confirm" not in shown
    assert "No other admin can confirm it now" not in texts(at)
    with monkeypatch.context() as patched:
        patched.setattr(role_grants, "_find_unfit", lambda *_: "As if it had been made an admin just now")
        assert "No other admin can confirm it now" in texts(open_page(screen, finance, partner))
    confirm(press(open_page(screen, finance, partner, by="second"), "Confirm"))
    (account,) = finance.read(bank_accounts.list_accounts, Party("distributor", partner.id))
    assert account.state == "confirmed"
    assert account.rests
    assert "0123456789" not in texts(open_page(screen, finance, partner))


def _list_waiting(screen: Screen) -> list[Any]:
    links = [link.proto for link in screen("admin", path="admin/partners.py").get("page_link")]
    return [link for link in links if "waits for a second admin" in link.label]


def test_a_share_is_proposed_by_one_admin_and_confirmed_by_another(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    at = press(open_page(screen, finance, partner), "New commission share")
    at.text_input(key="decision.field.commission").set_value("99")
    at.button(key="decision.confirm").click().run()
    assert "at most what both commissions are" in texts(at)
    at.text_input(key="decision.field.commission").set_value("7.25")
    confirm(at)
    (waiting,) = _list_waiting(screen)
    assert waiting.label == "A new commission share waits for a second admin: Swift Lenders"
    assert str(partner.id) in waiting.query_string
    at = open_page(screen, finance, partner)
    assert "All products: 7.25 % instead of the product's share" in texts(at)
    assert "Confirm" not in labels(at)
    confirm(press(open_page(screen, finance, partner, by="second"), "Confirm"))
    (share,) = finance.read(share_changes.list_shares, partner.id)
    assert (share.state, share.commission_bp, share.product_id) == ("confirmed", 725, None)
    assert not _list_waiting(screen)


def test_no_other_role_reaches_it(finance: Finance, screen: Screen) -> None:
    for role in ("finance", "operations", "supervisor", "claims"):
        with pytest.raises(ValueError, match="agreement"):
            screen(role, path=PAGE)
