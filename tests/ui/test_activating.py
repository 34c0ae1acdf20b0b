"""The dialog that activates a policy, what the policy says of it afterwards, and other words that have to be true."""

from datetime import timedelta
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers import request as requests
from core.covers.cover import Cover
from core.covers.insurers import insurer_a, insurer_b
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from core.ui.forms import forms, questions
from core.ui.forms.forms import Form
from core.ui.kit import words
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import sell
from tests.ui.conftest import Screen, lists, press, texts

pytestmark = pytest.mark.frozen_at(shipped.STILL + timedelta(days=40))

PAGE, DUE = "policies/policy.py", "sales/due.py"


@pytest.fixture
def pending(store: Store, partner: Partner) -> Sale:
    with clock.freeze(shipped.STILL):
        return sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True, premium_frequency="annually")


def open_page(screen: Screen, sale: Sale, page: str = PAGE) -> AppTest:
    return screen("operations", path=page, id=str(sale.policy_id))


def lines(at: AppTest) -> list[str]:
    return [str(each.value) for each in at.main if each.type in {"caption", "arrow_caption", "text"}]


def test_the_dialog_says_before_what_its_blanks_will_do(screen: Screen, pending: Sale) -> None:
    at = press(open_page(screen, pending), "Activate")
    dialog_text = texts(at)
    start = words.day(shipped.STILL.date().isoformat())
    assert "What will happen" in dialog_text
    assert f"Cover from **{start}** to " in dialog_text
    assert "Cover is backdated: it begins 40 days back" in dialog_text
    assert "Issued by hand by **Some_body *Bold***" in dialog_text
    assert "the next of our series" in dialog_text
    assert at.button(key="decision.confirm").label == "Issue by hand, 40 days back"


@pytest.mark.frozen_at(shipped.STILL + timedelta(days=400))
def test_cover_that_would_be_over_is_proposed_from_today_and_refused_in_the_words_of_the_form(
    screen: Screen, pending: Sale
) -> None:
    at = press(open_page(screen, pending), "Activate")
    start = at.date_input(key="decision.field.start_on")
    assert (start.label, start.value) == ("Cover starts: today, as the planned term is over", clock.today())
    end = words.day(clock.add_months(clock.today(), 12))
    assert at.date_input(key="decision.field.expiration_on").label.startswith(f"Cover ends: {end}, unless")
    assert f"Cover from **{words.day(clock.today())}** to **{end}**" in texts(at)
    start.set_value(None).run()
    over = words.day(clock.add_months(clock.to_lagos_day(shipped.STILL), 12))
    assert f"“Cover starts” must be later: cover would be over on {over}." in texts(at).replace("\\", "")
    dialog_text = texts(at.button(key="decision.confirm").click().run()).replace("\\", "")
    assert f"Must be later: cover would be over on {over}" in dialog_text
    assert "start_on" not in dialog_text


def test_an_empty_dialog_claims_nothing_that_the_insurer_did_not_say(
    screen: Screen, store: Store, pending: Sale
) -> None:
    at = press(open_page(screen, pending), "Activate")
    at = at.button(key="decision.confirm").click().run()
    assert not at.exception
    text = texts(at)
    assert "issued by hand: tell its insurer" in text
    assert "Policy issued by hand" in text
    assert "Accepted by the insurer: No" in text
    assert "Backdated days: 40" in text
    assert "the insurer has not accepted it" in text
    assert "The insurer has accepted it" not in text
    assert "Issued by hand by somebody@coverdesk.example" in text
    with store.reading(Scope.system()) as session:
        assert not session.get_one(Policy, pending.policy_id).submitted_to_provider


def test_an_acceptance_is_recorded_with_how_it_is_known(screen: Screen, pending: Sale) -> None:
    at = press(open_page(screen, pending), "Activate")
    at.button_group(key="decision.field.insurer_said").set_value("accepted").run()
    at = at.button(key="decision.confirm").click().run()
    assert "Answer this, in 2 to 200 characters" in texts(at)
    at.text_input(key="decision.field.insurer_accepted").set_value("E-mail of the underwriter").run()
    at.date_input(key="decision.field.start_on").set_value(clock.today()).run()
    assert "backdated" not in texts(at)
    assert at.button(key="decision.confirm").label == "Activate the policy"
    text = texts(at.button(key="decision.confirm").click().run())
    assert "as its insurer accepted it" in text
    assert "Accepted by the insurer: E-mail of the underwriter" in text
    assert "Settled at the desk: no answer of the insurer is kept here" in text


def test_days_that_were_not_shown_are_not_taken(screen: Screen, store: Store, pending: Sale) -> None:
    at = press(open_page(screen, pending), "Activate")
    at.date_input(key="decision.field.start_on").set_value(clock.today() - timedelta(days=90))
    at = at.button(key="decision.confirm").click().run()
    assert "The days of cover have changed since they were shown" in texts(at)
    with store.reading(Scope.system()) as session:
        assert not session.get_one(Policy, pending.policy_id).activated


def test_what_is_issued_under_delegated_authority_is_still_to_be_reported(
    screen: Screen, store: Store, partner: Partner
) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    text = texts(open_page(screen, sale))
    assert "to be reported by bordereau" in text
    assert "; reported by bordereau" not in text


@pytest.mark.parametrize(
    ("hours", "end", "cover"), [(-1, "Ends today", "Ends today"), (1, "Ended today", "Ended today")]
)
def test_the_last_day_is_one_truth_on_the_list_of_what_is_due_and_on_the_policy(
    screen: Screen, store: Store, partner: Partner, hours: int, end: str, cover: str
) -> None:
    with clock.freeze(shipped.STILL):
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    with store.reading(Scope.system()) as session:
        ends_at = session.get_one(Policy, sale.policy_id).expiration_at
    assert ends_at is not None
    # Midnight UTC is one in the morning in Lagos: the day has begun there, and cover has not ended yet.
    with clock.freeze(ends_at + timedelta(hours=hours, minutes=30)):
        at = open_page(screen, sale)
        due = screen("operations", path=DUE)
        assert end in lines(at)
        assert (":green-badge[In force]" in at.title[0].value) == (hours < 0)
        assert list(lists(due)[0]["Cover"]) == [cover]


@every_case("cover", [insurer_b.THIRD_PARTY, insurer_b.COMPREHENSIVE], ids=lambda cover: cover.key)
def test_a_form_asks_for_the_title_once_and_both_fields_take_it(cover: Cover[Any]) -> None:
    labels = [question.label for question in questions.of(cover.request)]
    assert labels.count("Title") == 1
    typed = {**shipped.body(cover), "title_id": "Dr", "title": None}
    request = forms.validate_form(Form(key="buy", model=cover.request), typed)
    assert (request.title_id, request.title) == ("Dr", "Dr")
    api = requests.validate(cover.request, {**shipped.body(cover), "title_id": "dr", "title": "Mrs"})
    assert (api.title_id, api.title) == ("Dr", "Mrs")
