"""The screen of one policy: what it shows, what may be done to it, and what happens when two people do it at once."""

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers import credit_life
from core.covers.insurers import insurer_a, insurer_f
from core.errors import StateForbids
from core.services.policies import changes as policy_changes
from core.services.policies import policies
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Policy, Refund
from core.ui.kit import actions as kit_actions
from core.ui.kit import words
from tests.conftest import Partner
from tests.every_case import every_case
from tests.pages import turn_to
from tests.services.selling import sell
from tests.ui.conftest import Screen, person_of, press, texts
from tests.ui.policy_pages import PAGE, confirm, count, open_page

ACTIONS = {"Activate", "Decline", "Cancel policy", "Renew", "Endorse"}


@pytest.fixture
def pending(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True)


@pytest.fixture
def active(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)


def actions(at: AppTest) -> set[str]:
    return {button.label for button in at.button} & ACTIONS


def stage(store: Store, sale: Sale) -> str:
    with store.reading(Scope.system()) as session:
        return policies.get_state(session, sale.policy_id).stage


def elsewhere(store: Store, partner: Partner, sale: Sale, verb: Any, **given: Any) -> None:
    """Somebody else changes the policy meanwhile."""
    with store.writing(partner.scope(is_live=True)) as session:
        verb(session, sale.policy_id, actor="a colleague", expected_version=1, **given)


def test_a_policy_shows_its_facts_its_certificate_and_its_log(screen: Screen, active: Sale) -> None:
    at = open_page(screen, active.policy_id)
    text = texts(at)
    meta = active.policy["meta"]
    assert f"{meta['policy_number']} :green-badge[In force]" in at.title[0].value.replace("\\", "")
    code = str(meta["certificate_url"]).rpartition("/")[2].removesuffix(".pdf")
    assert any(f'"/certificates/{code}.pdf#' in html.proto.body for html in at.get("html"))
    assert "Policy sold" in text
    assert "Personal numbers show their last four" in text
    assert {"Premium", "With the insurer"} & {metric.label for metric in at.metric} == {"Premium"}


def test_personal_numbers_are_masked(screen: Screen, store: Store, partner: Partner) -> None:
    sale = sell(store, partner, credit_life.CREDIT_LIFE, is_live=True, bvn="22345678901")
    shown = str([table.value for table in open_page(screen, sale.policy_id).table])
    assert "22345678901" not in shown
    assert "https://" not in shown


@every_case(("id_", "message"), [("nonsense", "open it from its list"), ("", "open it from its list")])
def test_an_address_that_names_no_policy_says_so(screen: Screen, store: Store, id_: str, message: str) -> None:
    assert message in open_page(screen, id_).error[0].value


def test_an_unknown_policy_and_one_of_the_other_mode_are_not_found(screen: Screen, active: Sale) -> None:
    assert "Policy not found" in open_page(screen, uuid4()).error[0].value
    assert "Policy not found" in open_page(screen, active.policy_id, mode="test").error[0].value


def test_only_the_allowed_actions_are_offered(
    screen: Screen, store: Store, partner: Partner, pending: Sale, active: Sale
) -> None:
    assert actions(open_page(screen, pending.policy_id)) == {"Activate", "Decline", "Cancel policy"}
    assert actions(open_page(screen, active.policy_id)) == {"Cancel policy", "Renew", "Endorse"}
    elsewhere(store, partner, active, policy_changes.cancel, reason="sold it", by_insurer=False)
    assert actions(open_page(screen, active.policy_id)) == set()


def test_claims_may_look_and_not_act(screen: Screen, pending: Sale) -> None:
    at = open_page(screen, pending.policy_id, "claims")
    assert at.title
    assert actions(at) == set()
    assert not [link for link in at.get("page_link") if link.proto.label == "Open the purchase"]


def test_finance_has_no_policy_screen(screen: Screen) -> None:
    with pytest.raises(ValueError, match="policy"):
        turn_to(screen("finance"), PAGE)


def test_activating_takes_the_insurers_number(screen: Screen, store: Store, pending: Sale) -> None:
    at = press(open_page(screen, pending.policy_id), "Activate")
    at.text_input(key="decision.field.policy_number").set_value("ACC/CM/11/26/HQ/77")
    confirm(at)
    assert "active as ACC/CM/11/26/HQ/77" in texts(at)
    assert len(at.run().success) == 1
    assert "In force" in at.title[0].value
    assert actions(at) >= {"Cancel policy"}
    assert stage(store, pending) == "In force"
    at.query_params.clear()
    assert not turn_to(at, "policies/awaiting.py").run().success, "the sentence is about the policy that was left"


def test_wrong_dates_are_said_beside_them_and_nothing_is_lost(screen: Screen, store: Store, pending: Sale) -> None:
    at = press(open_page(screen, pending.policy_id), "Activate")
    at.text_input(key="decision.field.policy_number").set_value("N/1")
    at.date_input(key="decision.field.expiration_on").set_value(clock.add_months(clock.today(), 60))
    confirm(at)
    assert "no premium, no cover" in texts(at)
    assert at.text_input(key="decision.field.policy_number").value == "N/1"
    assert stage(store, pending) == "Pending"


def test_cancelling_shows_the_refund_first_and_gives_back_that(screen: Screen, store: Store, active: Sale) -> None:
    at = press(open_page(screen, active.policy_id), "Cancel policy")
    by_customer = next(metric.value for metric in at.metric if metric.label == "Goes back")
    at.button_group(key="decision.field.ended_by").set_value("insurer").run()
    by_insurer = next(metric.value for metric in at.metric if metric.label == "Goes back")
    assert (by_customer, by_insurer) == ("₦13,500.00", "₦15,000.00")
    assert at.button(key="decision.confirm").label == f"Cancel and give back {by_insurer}"
    at.text_area(key="decision.field.reason").set_value("Wrong vehicle")
    confirm(at)
    assert f"cancelled; {by_insurer} goes back" in texts(at)
    assert "Cancelled" in at.title[0].value
    with store.reading(Scope.system()) as session:
        assert session.execute(sa.select(Refund.total_minor, Refund.reason)).one() == (1_500_000, "Wrong vehicle")


def test_a_reason_is_needed(screen: Screen, store: Store, active: Sale) -> None:
    at = confirm(press(open_page(screen, active.policy_id), "Cancel policy"))
    assert "Say why it ends, in 2 to 500 characters" in texts(at)
    assert stage(store, active) == "In force"


@pytest.mark.parametrize("page", [PAGE, "sales/purchases.py#purchase"])
def test_an_ended_policy_says_when_and_what_its_term_was(
    screen: Screen, store: Store, partner: Partner, active: Sale, page: str
) -> None:
    record_id = active.policy_id if page == PAGE else active.purchase_id
    today, end = words.day(clock.today()), words.day(active.policy["expiration_date"])

    def read_facts() -> list[str]:
        at = open_page(screen, record_id, page=page)
        return [str(each.value) for each in at.main if each.type in {"caption", "arrow_caption", "text"}]

    def after(label: str) -> str:
        shown = read_facts()
        return shown[shown.index(label) + 1]

    assert after("Ends") == end
    elsewhere(store, partner, active, policy_changes.cancel, reason="sold it", by_insurer=False)
    assert (after("Cancelled"), after("Term would have ended")) == (today, end)
    assert "Ends" not in read_facts()


def test_declining_gives_everything_back(screen: Screen, store: Store, pending: Sale) -> None:
    at = press(open_page(screen, pending.policy_id), "Decline")
    at.text_area(key="decision.field.reason").set_value("Too old")
    confirm(at)
    assert "declined" in at.success[0].value
    assert "Declined" in [caption.value for caption in at.caption]
    assert stage(store, pending) == "Declined"


def test_a_second_click_acts_once(screen: Screen, store: Store, active: Sale) -> None:
    """The run of the first click may be stopped after the commit: the next one must find its answer."""
    at = press(open_page(screen, active.policy_id), "Cancel policy")
    cancel, _ = at.session_state["decision.open"]
    typed = {"reason": "Sold the car", "ended_by": "customer", "expected": Decimal("13500.00")}
    person = person_of("operations")
    assert kit_actions.perform(cancel, typed, person)[1] == kit_actions.perform(cancel, typed, person)[1]
    assert count(store, Refund) == 1
    with pytest.raises(StateForbids, match="done already"):
        kit_actions.perform(cancel, {**typed, "reason": "Another reason"}, person)
    assert "cannot be cancelled" in texts(at.run())


def test_a_refund_that_changed_since_it_was_shown_is_not_given(screen: Screen, store: Store, active: Sale) -> None:
    at = press(open_page(screen, active.policy_id), "Cancel policy")
    cancel, _ = at.session_state["decision.open"]
    typed = {"reason": "Sold it", "ended_by": "customer", "expected": Decimal("13500.01")}
    with pytest.raises(StateForbids, match=r"refund has changed to ₦13,500\.00"):
        kit_actions.perform(cancel, typed, person_of("operations"))
    assert stage(store, active) == "In force"
    assert count(store, Refund) == 0


def test_somebody_elses_change_is_said_and_nothing_typed_is_lost(
    screen: Screen, store: Store, partner: Partner, pending: Sale
) -> None:
    at = press(open_page(screen, pending.policy_id), "Cancel policy")
    at.text_area(key="decision.field.reason").set_value("Changed their mind")
    elsewhere(store, partner, pending, policy_changes.activate)
    confirm(at)
    assert "Somebody else changed this policy" in at.warning[0].value
    assert "In force" in at.warning[0].value
    assert at.text_area(key="decision.field.reason").value == "Changed their mind"
    assert count(store, Refund) == 0
    confirm(at)
    assert stage(store, pending) == "Cancelled"


def test_an_action_that_somebody_else_has_ruled_out_is_not_offered_again(
    screen: Screen, store: Store, partner: Partner, pending: Sale
) -> None:
    at = press(open_page(screen, pending.policy_id), "Decline")
    at.text_area(key="decision.field.reason").set_value("Too old")
    elsewhere(store, partner, pending, policy_changes.activate)
    confirm(at)
    assert "Nothing of yours was written" in at.warning[0].value
    assert [area.value for area in at.text_area] == ["Too old"]
    press(at, "Close and look at it")
    assert actions(at) >= {"Cancel policy"}
    assert stage(store, pending) == "In force"


def test_an_open_dialog_does_not_follow_to_another_policy(screen: Screen, pending: Sale, active: Sale) -> None:
    at = press(open_page(screen, pending.policy_id), "Decline")
    at.query_params["id"] = str(active.policy_id)
    at.run()
    assert not [button for button in at.button if button.key == "decision.confirm"]


def test_changes_are_written_down_with_the_person(screen: Screen, store: Store, active: Sale) -> None:
    at = press(open_page(screen, active.policy_id), "Cancel policy")
    at.text_area(key="decision.field.reason").set_value("Sold the car")
    confirm(at)
    with store.reading(Scope.system()) as session:
        actors = session.execute(sa.select(AuditEntry.actor).where(AuditEntry.action == "policy cancelled")).scalars()
        assert list(actors) == ["staff somebody@coverdesk.example"]
    assert "Policy cancelled" in texts(at)


def test_a_probable_duplicate_is_pointed_out(screen: Screen, store: Store, partner: Partner) -> None:
    first, second = (sell(store, partner, credit_life.CREDIT_LIFE, is_live=True) for _ in range(2))
    at = open_page(screen, second.policy_id)
    assert "Is it a second loan?" in at.warning[0].value
    assert any(str(first.policy_id) in link.proto.query_string for link in at.get("page_link"))


def test_a_policy_without_a_certificate_says_so(screen: Screen, pending: Sale) -> None:
    at = open_page(screen, pending.policy_id)
    assert "follows when the policy is activated" in texts(at)
    assert not at.get("html")


def test_a_beneficiary_is_told_apart(screen: Screen, store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_f.COVERS[0], is_live=True)
    buyer = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, email="buyer@example.com")
    with store.writing(Scope.system()) as session:
        bought_by = session.get_one(Policy, buyer.policy_id).customer_id
        session.get_one(Policy, sale.policy_id).buyer_id = bought_by
    assert "Beneficiary" in str([line.value for line in open_page(screen, sale.policy_id).text])
