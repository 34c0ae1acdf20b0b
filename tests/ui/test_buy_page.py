"""The Buy screen: any cover by the form of its endpoint, its price while the form fills, and one sale of it."""

from datetime import date
from typing import Any

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock, ids
from core.covers import fields
from core.covers.cover import Cover
from core.covers.insurers import insurer_a, insurer_b_contents, insurer_f, insurer_g
from core.services.products import products
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, ProductBlock, Purchase
from core.ui.buying import live_prices
from core.ui.forms import forms, questions
from core.ui.forms.questions import Kind
from tests import papers
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import every_cover
from tests.ui.conftest import Screen, follow, press, texts

PAGE = "buy/buy.py"


def title_of(store: Store, cover: Cover[Any], partner: Partner) -> str:
    """The name of a cover in the choice."""
    with store.reading(partner.scope()) as session:
        return f"{cover.title}, {products.list_for_sale(session, cover, partner.id)[0].provider_name}"


@pytest.fixture
def page(screen: Screen, store: Store, partner: Partner) -> AppTest:
    """The screen with third-party auto of the first insurer chosen."""
    return chosen(screen("operations", page=PAGE), store, partner, insurer_a.THIRD_PARTY)


def chosen(at: AppTest, store: Store, partner: Partner, cover: Cover[Any]) -> AppTest:
    at.selectbox(key="cover").set_value(title_of(store, cover, partner)).run()
    name = shipped.products()[fields.build_example(cover.request)["product_id"]]["name"]
    place = at.selectbox(key="sold").options.index(name)
    changed: AppTest = at.selectbox(key="sold").select_index(place).run()
    return changed


def fill(at: AppTest, cover: Cover[Any], **other: Any) -> AppTest:
    """Type the example of a cover, as a person would."""
    typed = {**fields.build_example(cover.request), **other}
    for question in questions.of(cover.request, given=frozenset({"product_id"})):
        key, value = f"buy {cover.key}.{question.name}", typed.get(question.name)
        if value is None:
            continue
        if question.kind is Kind.PICK:
            at.selectbox(key=key).set_value(str(value))
            if question.name == "vehicle_make":
                at.run()
        elif question.kind in {Kind.DAY, Kind.BIRTH_DAY}:
            at.date_input(key=key).set_value(date.fromisoformat(value))
        elif question.kind is Kind.COUNT:
            at.number_input(key=key).set_value(int(value))
        else:
            at.text_input(key=key).set_value(str(value))
    return at


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def sold(store: Store) -> list[tuple[bool, int, str]]:
    with store.reading(Scope.system()) as session:
        rows = session.execute(sa.select(Purchase.is_live, Purchase.total_minor, Purchase.request_source))
        return [tuple(row) for row in rows]


def test_without_a_distributor_the_screen_says_so(screen: Screen) -> None:
    assert "no distributor" in texts(screen("operations", page=PAGE))


def test_without_a_product_on_sale_the_screen_says_so(screen: Screen, store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        for product_id in map(ids.parse, shipped.products()):
            session.insert(ProductBlock(distributor_id=partner.id, product_id=product_id, created_at=clock.now()))
    assert "nothing to sell here" in texts(screen("operations", page=PAGE))


def test_every_cover_but_credit_life_is_offered(screen: Screen, partner: Partner) -> None:
    at = screen("operations", page=PAGE)
    offered = at.selectbox(key="cover").options
    assert len(offered) == len(set(offered)) == 12
    assert not [title for title in offered if "Credit life" in title]


def test_an_address_reproduces_the_choice(screen: Screen, store: Store, partner: Partner) -> None:
    at, title = screen("operations"), title_of(store, insurer_a.COMPREHENSIVE, partner)
    at.switch_page(PAGE)
    at.query_params.update({"cover": title})
    at.run()
    assert at.selectbox(key="cover").value == title
    assert "Still needed for the price" in texts(at)


def test_an_unknown_choice_in_the_address_falls_back(screen: Screen, partner: Partner) -> None:
    at = screen("operations")
    at.switch_page(PAGE)
    at.query_params.update({"cover": "Nobody: nothing", "sold": "What?"})
    at.run()
    assert not at.exception
    assert at.selectbox(key="cover").value in at.selectbox(key="cover").options


def test_a_flat_price_is_known_before_anything_is_typed(page: AppTest) -> None:
    assert metrics(page)["Price"] == "₦15,000.00"


def test_a_price_by_value_says_what_it_needs_and_then_follows(page: AppTest, store: Store, partner: Partner) -> None:
    at, cover = chosen(page, store, partner, insurer_a.COMPREHENSIVE), insurer_a.COMPREHENSIVE
    assert metrics(at)["Price"] == "–"
    assert "Still needed for the price" in texts(at)
    at.selectbox(key=f"buy {cover.key}.premium_frequency").set_value("annually").run()
    at.text_input(key=f"buy {cover.key}.vehicle_cost").set_value("5,000,000").run()
    expected = shipped.price(cover, vehicle_cost="5000000", premium_frequency="annually")
    assert metrics(at)["Price"] == f"₦{expected.total:,.2f}"


@every_cover
def test_the_price_while_filling_is_the_price_of_the_sale(cover: Cover[Any]) -> None:
    typed = fields.build_example(cover.request)
    rates = shipped.rates(typed["product_id"])
    known = live_prices.so_far(cover, typed, rates)
    assert known.price == shipped.price(cover)
    assert known.reads == live_prices.reads(cover, typed["product_id"], rates)
    for name in known.reads:
        without = {key: value for key, value in typed.items() if key != name}
        if cover.request.model_fields[name].is_required():
            assert live_prices.so_far(cover, without, rates).missing == {name}


def test_a_plan_that_the_product_lacks_is_no_price() -> None:
    cover = insurer_g.COVERS[0]
    typed = fields.build_example(cover.request)
    bare = shipped.rates(typed["product_id"], meta={})
    known = live_prices.so_far(cover, typed, bare)
    assert known.price is None
    assert [fault.field for fault in known.faults] == ["plan"]


def test_items_are_part_of_the_price(store: Store, partner: Partner) -> None:
    cover = insurer_b_contents.COVERS[0]
    form = forms.Form(key="x", model=cover.request, given={"product_id": "x"})
    typed = fields.build_example(cover.request)
    reads = live_prices.reads(cover, typed["product_id"], shipped.rates(typed["product_id"]))
    assert reads & {question.name for question in form.questions if question.kind is Kind.ITEMS}


def test_a_sale_gives_a_receipt_and_a_live_policy(page: AppTest, store: Store) -> None:
    at = press(fill(page, insurer_a.THIRD_PARTY), "Review")
    assert metrics(at)["To pay"] == "₦15,000.00"
    answers = at.table[0].value.iloc[:, 0]
    assert (answers["Vehicle make"], answers["Vehicle model"]) == ("Toyota", "Camry")
    press(at, "Confirm and buy for ₦15,000.00")
    assert "Sold to" in at.success[0].value
    assert {"Open the purchase", "Open the policy", "Sell another"} <= {button.label for button in at.button}
    assert sold(store) == [(True, 1_500_000, "desk")]


def test_the_receipt_leads_to_the_policy(page: AppTest, store: Store) -> None:
    press(press(fill(page, insurer_a.THIRD_PARTY), "Review"), "Confirm and buy for ₦15,000.00")
    at = follow(press(page, "Open the policy"))
    with store.reading(Scope.system()) as session:
        policy_id, number = session.execute(sa.select(Policy.id, Policy.policy_number)).one()
    assert at.query_params["id"] == str(policy_id)
    assert number in texts(at)


def test_broken_fields_are_said_beside_them_and_nothing_is_sold(page: AppTest, store: Store) -> None:
    at = press(fill(page, insurer_a.THIRD_PARTY, email="nobody"), "Review")
    assert "Must be an e-mail address" in texts(at)
    key = f"buy {insurer_a.THIRD_PARTY.key}.first_name"
    assert at.text_input(key=key).value == fields.build_example(insurer_a.THIRD_PARTY.request)["first_name"]
    assert sold(store) == []


def test_a_bad_file_is_said_beside_it_with_every_other_broken_field(
    page: AppTest, store: Store, partner: Partner
) -> None:
    cover = insurer_f.PERSONAL_ACCIDENT
    at = fill(chosen(page, store, partner, cover), cover, email="nobody", identification_url="")
    chooser = f"buy {cover.key}.identification_url.chosen"
    at.file_uploader(key=chooser).upload("id.jpg", b"no picture")
    press(at, "Review")
    said = texts(at)
    assert "Must be a JPEG, PNG, WebP or PDF file" in said
    assert "Must be an e-mail address" in said
    assert len([each for each in at.markdown if ":red[" in each.value]) == 2
    at.text_input(key=f"buy {cover.key}.email").set_value("ngozi@example.com")
    press(at, "Review")
    assert len([each for each in at.markdown if ":red[" in each.value]) == 1
    at.file_uploader(key=chooser).upload("id.jpg", papers.picture())
    assert "To pay" in metrics(press(at, "Review"))
    assert len(papers.on_disk()) == 1


def test_the_same_risk_is_not_sold_twice(page: AppTest, store: Store) -> None:
    for _ in range(2):
        press(press(fill(page, insurer_a.THIRD_PARTY), "Review"), "Confirm and buy for ₦15,000.00")
        if page.error:
            break
        press(page, "Sell another")
    assert "already insured" in page.error[0].value
    assert len(sold(store)) == 1


def test_finance_cannot_buy(screen: Screen) -> None:
    with pytest.raises(ValueError, match="buy"):
        screen("finance").switch_page(PAGE)
