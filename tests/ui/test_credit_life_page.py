"""The Credit life screen: the price with its steps, the sale with the same figures, and what goes wrong."""

import io
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from PIL import Image
from streamlit.testing.v1 import AppTest

from core import clock
from core.errors import StateForbids
from core.services.catalogue import distributors
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Policy, Purchase, UploadedFile
from core.ui.buying import selling
from tests.conftest import Partner
from tests.every_case import every_case
from tests.pages import turn_to
from tests.ui.conftest import Screen, follow, person_of, sent, texts

PAGE = "buy/credit_life.py"
PICTURE = "https://files.example.com/id/okafor.jpg"


@pytest.fixture
def page(screen: Screen, partner: Partner) -> AppTest:
    """The screen of an operations person, with a loan of 100,000 naira typed in."""
    at = begun(screen)
    at.text_input(key="amount").set_value("100000").run()
    return at


def begun(screen: Screen) -> AppTest:
    """The screen with the product of a single premium chosen."""
    at = screen("operations", path=PAGE)
    at.selectbox(key="plan").select_index(0).run()
    return at


def png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(out, "PNG")
    return out.getvalue()


def press(at: AppTest, label: str) -> AppTest:
    return next(button for button in at.button if button.label.startswith(label)).click().run()


def fill(at: AppTest, **other: object) -> AppTest:
    typed = {"first_name": "Ngozi", "last_name": "Okafor", "email": "ngozi.okafor@example.com"}
    typed |= {"phone_number": "08031234567", "id_image_url": PICTURE}
    for name, value in {**typed, **other}.items():
        at.text_input(key=f"credit_life.{name}").set_value(value)
    at.date_input(key="credit_life.date_of_birth").set_value(clock.add_months(clock.today(), -360))
    at.date_input(key="credit_life.loan_start_date").set_value(clock.today())
    at.selectbox(key="credit_life.gender").set_value("Female")
    return at


def reviewed(at: AppTest, **other: object) -> AppTest:
    return press(fill(press(at, "Buy with these figures"), **other), "Review")


def sold(store: Store) -> list[tuple[bool, int, str]]:
    with store.reading(Scope.system()) as session:
        rows = session.execute(sa.select(Purchase.is_live, Purchase.total_minor, Purchase.request_source))
        return [tuple(row) for row in rows]


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_empty_screen_says_what_to_do(screen: Screen, partner: Partner) -> None:
    at = screen("operations", path=PAGE)
    assert "**An example**: ₦100,000.00 over 12 months" in texts(at)
    assert metrics(at)["Premium"] == "₦575.00", "a worked example stands there from the start"
    assert at.get("plotly_chart")
    assert at.selectbox(key="plan").value is None, "nothing is chosen for the person"
    assert "Still to choose before it can be bought: the product, the loan amount." in texts(at)
    assert next(button for button in at.button if button.label == "Buy with these figures").disabled


def test_for_whom_is_asked_first_where_there_are_several(screen: Screen, partner: Partner, stranger: Partner) -> None:
    at = screen("operations", path=PAGE)
    assert at.selectbox(key="seller").value is None
    assert [box.key for box in at.selectbox] == ["seller"]


def test_the_example_follows_what_is_typed_before_a_distributor_is_chosen(
    screen: Screen, partner: Partner, stranger: Partner
) -> None:
    at = screen("operations", path=PAGE)
    at.text_input(key="amount").set_value("250,000").run()
    at.button_group(key="benefits").set_value(["death"]).run()
    assert metrics(at)["Premium"] == metrics(at)["Price"] == "₦687.50"
    assert "An example" not in texts(at), "the loan is the person's own"
    assert "Priced as **Credit life, single premium** until you choose the product." in texts(at)
    assert "Still to choose before it can be bought: on whose behalf, the product." in texts(at)
    at.number_input(key="tenure").set_value(24).run()
    assert metrics(at)["Level monthly"] == "₦16,500.00"
    assert "Still to choose" not in texts(choose(at))
    press(at, "Buy with these figures")
    assert at.query_params["step"] == "details"


def test_a_tenure_that_cannot_be_meant_has_its_error_beside_it_and_no_price(screen: Screen, partner: Partner) -> None:
    at = screen("operations", path=PAGE)
    for months, fault in ((500, "Must be at most 120"), (2, "Must be at least 3"), (-1, "Must be at least 3")):
        at.number_input(key="tenure").set_value(months).run()
        assert fault in texts(at), months
        assert not at.metric, "the price of the tenure before would be told to the customer"
    at.number_input(key="tenure").set_value(24).run()
    assert metrics(at)["Price"] == "₦575.00"


def choose(at: AppTest) -> AppTest:
    at.selectbox(key="seller").select_index(0).run()
    return at.selectbox(key="plan").select_index(0).run()


def test_the_step_is_in_the_address_until_it_is_sold(page: AppTest) -> None:
    press(page, "Buy with these figures")
    assert page.query_params["step"] == "details"
    assert "step" not in follow(press(press(fill(page), "Review"), "Confirm")).query_params


def test_the_same_customer_buys_another_cover(page: AppTest) -> None:
    follow(press(reviewed(page), "Confirm"))
    at = follow(press(page, "Same customer, another cover"))
    assert "ngozi.okafor" in texts(at).replace("\\", "")
    assert at.selectbox(key="cover").value is None


def test_a_draft_comes_back_with_its_figures_in_another_tab(screen: Screen, partner: Partner) -> None:
    person = person_of("operations")
    at = screen(signed_in=person, path=PAGE)
    at.selectbox(key="plan").select_index(0).run()
    at.text_input(key="amount").set_value("100000").run()
    at.button_group(key="benefits").set_value(["death"]).run()
    fill(press(at, "Buy with these figures")).run()
    for start in (PAGE, "buy/buy.py"):
        at = screen(signed_in=person, path=start)
        assert "Ngozi Okafor" in texts(at)
        link = next(payload["href"] for payload in sent(press(at, "Continue")) if payload.get("href"))
        at = screen(signed_in=person, path=PAGE, **parse_qs(urlsplit(link).query))
        assert at.query_params["step"] == "details"
        assert at.text_input(key="amount").value == "100,000"
        assert at.button_group(key="benefits").value == ["death"]
        assert at.text_input(key="credit_life.first_name").value == "Ngozi"
    press(press(at, "Review"), "Confirm and buy for ₦275.00")
    assert "unfinished" not in str([each.label for each in screen(signed_in=person, path=PAGE).expander])


def test_without_a_distributor_the_screen_says_so(screen: Screen) -> None:
    assert "no distributor" in texts(screen("operations", path=PAGE))


def test_price_shows_its_steps_and_the_three_bases(page: AppTest) -> None:
    assert metrics(page) == {
        "Premium": "₦575.00",
        "Price": "₦575.00",
        "Single premium (this)": "₦575.00",
        "Level monthly": "₦6,900.00",
        "Reducing balance": "₦3,737.50",
    }
    assert page.text_input(key="amount").value == "100,000"
    assert "₦275.00" in texts(page)
    assert "Greenquill" in texts(page)


def test_price_follows_the_figures(page: AppTest) -> None:
    page.button_group(key="benefits").set_value(["death"]).run()
    assert metrics(page)["Premium"] == "₦275.00"
    page.number_input(key="tenure").set_value(24).run()
    assert metrics(page)["Level monthly"] == "₦6,600.00"


@every_case("curve", ["Tenure", "Loan amount", "Benefits"])
def test_every_curve_is_drawn(page: AppTest, curve: str) -> None:
    page.button_group(key="curve").set_value(curve).run()
    assert not page.exception
    assert page.get("plotly_chart")


@every_case(
    ("typed", "complaint"),
    [("nonsense", "must be a number"), ("0", "must be more than 0"), ("1.005", "at most two decimals")],
)
def test_wrong_amount_is_said_beside_it(screen: Screen, partner: Partner, typed: str, complaint: str) -> None:
    at = begun(screen)
    at.text_input(key="amount").set_value(typed).run()
    assert complaint[1:] in texts(at)
    assert not at.metric


def test_an_address_reproduces_the_figures(screen: Screen, partner: Partner) -> None:
    at = screen("operations", amount="250,000", tenure="36", plan="Credit life, reducing balance")
    turn_to(at, PAGE)
    at.query_params.update({"amount": "250,000", "tenure": "36", "plan": "Credit life, reducing balance"})
    at.run()
    assert at.number_input(key="tenure").value == 36
    assert metrics(at)["Premium"] == metrics(at)["Reducing balance (this)"] == "₦26,593.75"


def test_a_sale_gives_a_receipt_and_a_live_purchase(page: AppTest, store: Store) -> None:
    at = follow(press(reviewed(page), "Confirm and buy for ₦575.00"))
    assert "Sold to Ngozi Okafor" in at.success[0].value
    assert metrics(at)["Total"] == "₦575.00"
    assert at.title[0].value.startswith("GQA")
    assert sold(store) == [(True, 57500, "desk")]


def test_the_sale_is_written_down_with_the_person(page: AppTest, store: Store) -> None:
    press(reviewed(page), "Confirm")
    with store.reading(Scope.system()) as session:
        actors = session.execute(sa.select(AuditEntry.actor).where(AuditEntry.action == "policy sold")).scalars()
        assert list(actors) == ["staff somebody@coverdesk.example"]


def test_the_mode_of_the_switch_is_the_mode_of_the_sale(page: AppTest, store: Store) -> None:
    page.button_group(key="mode_switch").set_value("Test").run()
    at = reviewed(page)
    assert "nobody is covered" in texts(at)
    press(at, "Confirm")
    assert sold(store) == [(False, 57500, "desk")]


def test_changing_the_mode_takes_a_review_back(page: AppTest, store: Store) -> None:
    at = reviewed(page)
    at.button_group(key="mode_switch").set_value("Test").run()
    assert not [button for button in at.button if button.label.startswith("Confirm")]
    assert at.text_input(key="credit_life.first_name").value == "Ngozi"


def test_changing_the_figures_takes_a_review_back(page: AppTest) -> None:
    at = press(reviewed(page), "Change the figures")
    at.number_input(key="tenure").set_value(24).run()
    press(at, "Buy with these figures")
    assert not [button for button in at.button if button.label.startswith("Confirm")]


def test_every_broken_field_is_said_beside_it_and_nothing_is_lost(page: AppTest, store: Store) -> None:
    at = press(fill(press(page, "Buy with these figures"), email="nobody", phone_number="12"), "Review")
    text = texts(at)
    assert "e-mail address" in text
    assert "Nigerian mobile number" in text
    assert at.text_input(key="credit_life.email").value == "nobody"
    assert at.text_input(key="credit_life.first_name").value == "Ngozi"
    assert sold(store) == []


def test_a_loan_that_is_over_is_refused_at_the_review(page: AppTest) -> None:
    at = fill(press(page, "Buy with these figures"))
    at.date_input(key="credit_life.loan_start_date").set_value(clock.add_months(clock.today(), -24))
    press(at, "Review")
    assert "already over" in texts(at)


def test_a_second_click_gets_the_receipt_of_the_first(page: AppTest, store: Store) -> None:
    """The run of the first click may be stopped after the commit: the next one must not sell again."""
    at = reviewed(page)
    kept = {name: at.session_state[name] for name in ("credit_life.token", "credit_life.reviewed")}
    press(at, "Confirm")
    purchase_id = at.session_state["sold_purchase"]
    del at.session_state["sold_purchase"]
    for name, value in kept.items():
        at.session_state[name] = value
    at.query_params["step"] = "details"
    at = follow(press(at.run(), "Confirm"))
    assert at.query_params["id"] == purchase_id
    assert len(sold(store)) == 1


def test_the_next_sale_starts_with_an_empty_form(page: AppTest, store: Store) -> None:
    at = follow(press(follow(press(reviewed(page), "Confirm")), "Sell another"))
    at.text_input(key="amount").set_value("200000")
    at.number_input(key="tenure").set_value(12).run()
    press(at, "Buy with these figures")
    assert not at.text_input(key="credit_life.first_name").value


def test_a_probable_second_sale_of_the_same_loan_is_flagged(page: AppTest, store: Store) -> None:
    at = follow(press(follow(press(reviewed(page), "Confirm")), "Sell another"))
    at.text_input(key="amount").set_value("100000")
    at.number_input(key="tenure").set_value(12).run()
    at = reviewed(at)
    assert "has a policy for this already" in texts(press(at, "Change the details")), "said beside the loan's start"
    at = follow(press(press(at, "Review"), "Confirm"))
    assert "second loan" in at.warning[0].value
    assert len(sold(store)) == 2


def test_a_price_that_changed_since_the_review_is_not_charged(page: AppTest, store: Store, partner: Partner) -> None:
    review = reviewed(page).session_state["credit_life.reviewed"]
    sale = review.checkout.cover, review.request, review.checkout.counter
    with pytest.raises(StateForbids, match=r"price has changed to ₦575\.00"):
        selling.sell(*sale, token="another", expected=Decimal("570.00"))
    assert sold(store) == []


def test_a_chosen_file_becomes_the_distributors_own(page: AppTest, store: Store, partner: Partner) -> None:
    at = fill(press(page, "Buy with these figures"), id_image_url="")
    at.file_uploader(key="credit_life.id_image_url.chosen").upload("okafor.png", png())
    press(at, "Review")
    assert not [fault for fault in at.markdown if ":red[" in fault.value]
    press(press(press(at, "Change the details"), "Review"), "Confirm")
    with store.reading(Scope.system()) as session:
        files = session.execute(sa.select(UploadedFile.distributor_id, UploadedFile.is_live, UploadedFile.code)).all()
        submitted = session.execute(sa.select(Policy.submitted)).scalar_one()
    assert [(row.distributor_id, row.is_live) for row in files] == [(partner.id, True)]
    assert submitted["id_image_url"].endswith(files[0].code)


def test_a_file_that_is_no_picture_is_refused_beside_its_field(page: AppTest) -> None:
    at = fill(press(page, "Buy with these figures"), id_image_url="")
    at.file_uploader(key="credit_life.id_image_url.chosen").upload("okafor.png", b"not a picture at all")
    press(at, "Review")
    assert "JPEG" in texts(at)


def test_distributors_are_listed_by_name(store: Store, partner: Partner, stranger: Partner) -> None:
    with store.reading(Scope.staff(is_live=True)) as session:
        assert [seller.name for seller in distributors.list_active(session)] == ["Other Motors", "Swift Lenders"]


def test_a_borrower_who_is_too_young_is_said_beside_the_date_of_birth(page: AppTest, store: Store) -> None:
    at = fill(press(page, "Buy with these figures"))
    at.date_input(key="credit_life.date_of_birth").set_value(clock.add_months(clock.today(), -12 * 17))
    at = press(at, "Review")
    assert "at least 18 years on the first day of cover" in texts(at)
    assert not [button for button in at.button if button.label.startswith("Confirm")]
    assert sold(store) == []
