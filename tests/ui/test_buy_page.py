"""The Buy screen: any cover by the form of its endpoint, its price while the form fills, and one sale of it."""

from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from uuid import UUID

import pytest
import sqlalchemy as sa
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import clock, ids
from core.covers import fields
from core.covers.cover import Cover
from core.covers.insurers import insurer_a, insurer_b, insurer_f, insurer_g
from core.covers.registry import COVERS
from core.services.catalogue import for_sale
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import Mail, Policy, ProductBlock, ProductVersion, Purchase, SaleDraft, Staff
from core.ui.buying import prices, sale_drafts
from core.ui.forms import forms, questions
from core.ui.forms.questions import Kind
from core.ui.kit import words
from tests import papers
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.pages import turn_to
from tests.portfolio import Portfolio
from tests.services.selling import sell
from tests.ui.conftest import Screen, follow, press, sent, texts

PAGE = "buy/buy.py"


def title_of(store: Store, cover: Cover[Any], partner: Partner) -> str:
    """The name of a cover in the choice."""
    with store.reading(partner.scope()) as session:
        return f"{cover.title}, {for_sale.list_products(session, cover, partner.id)[0].provider_name}"


@pytest.fixture
def page(screen: Screen, store: Store, partner: Partner) -> AppTest:
    """The screen with third-party auto of the first insurer chosen."""
    return chosen(screen("operations", path=PAGE), store, partner, insurer_a.THIRD_PARTY)


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
    assert "no distributor" in texts(screen("operations", path=PAGE))


def test_without_a_product_on_sale_the_screen_says_so(screen: Screen, store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        for product_id in map(ids.parse, shipped.products()):
            session.insert(ProductBlock(distributor_id=partner.id, product_id=product_id, created_at=clock.now()))
    assert "nothing to sell here" in texts(screen("operations", path=PAGE))


def test_every_cover_but_credit_life_is_offered(screen: Screen, partner: Partner) -> None:
    at = screen("operations", path=PAGE)
    assert at.selectbox(key="cover").value is None, "nothing is chosen for the person"
    offered = at.selectbox(key="cover").options
    assert len(offered) == len(set(offered)) == len(COVERS) - 1
    assert not [title for title in offered if "Credit life" in title]


def test_a_cover_of_several_products_shows_each_with_its_price_for_the_customer_that_was_chosen(
    screen: Screen, store: Store, partner: Partner
) -> None:
    sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    at = screen("operations", path=PAGE)
    with store.reading(Scope.system()) as session:
        at.session_state["buy.same_customer"] = str(session.get_one(Policy, sale.policy_id).customer_id)
    at.selectbox(key="cover").set_value(title_of(store, insurer_a.THIRD_PARTY, partner)).run()
    assert "For **Amaka Eze**" in texts(at), "who buys it stays in sight"
    offers = [each for each in at.button if str(each.key).startswith("offer ")]
    assert [each.label for each in offers] == [f"**{words.plain(name)}**" for name in at.selectbox(key="sold").options]
    assert {"₦3,000.00", "₦15,000.00"} <= {each.value.removeprefix("from ") for each in at.caption}
    press(at, offers[0].label)
    assert at.selectbox(key="sold").value.name == at.selectbox(key="sold").options[0]
    assert at.text_input(key=f"buy {insurer_a.THIRD_PARTY.key}.first_name").value == "Amaka"


def test_the_window_stands_the_same_before_and_after_the_distributor_is_chosen(
    screen: Screen, partner: Partner, stranger: Partner
) -> None:
    at = screen("operations", path=PAGE)
    before = [each.label for each in at.button if str(each.key).startswith("window ")]
    assert "Choose a cover, and the distributor on whose behalf you sell it." in texts(at)
    at.selectbox(key="on_behalf_of").select_index(0).run()
    assert [each.label for each in at.button if str(each.key).startswith("window ")] == before
    assert "Choose a cover." in [each.value for each in at.caption]


def test_the_window_shows_every_cover_with_its_price_and_leads_to_the_question_on_whose_behalf(
    screen: Screen, store: Store, partner: Partner, stranger: Partner
) -> None:
    at = screen("operations", path=PAGE)
    text = texts(at)
    title = title_of(store, insurer_a.COMPREHENSIVE, partner)
    insurer = title.rpartition(", ")[2]
    assert f"**{insurer}**" in text
    assert "from 5 % of the value · number when accepted" in text
    assert "from ₦350.00 · number at once" in text, "the lowest of the plans, as on Products"
    assert "such as" not in text
    assert "Nothing in the last 30 days" in text
    at.text_input(key="find").set_value("comprehensive anchorline").run()
    [card] = [each for each in at.button if str(each.key).startswith("window ")]
    assert card.label == "**Comprehensive auto**"
    at.text_input(key="find").set_value("no such").run()
    assert "No cover on sale is called “no such”" in texts(at)
    at.text_input(key="find").set_value("").run()
    at.button(key=card.key).click().run()
    link = next(payload["href"] for payload in sent(at) if payload.get("href"))
    assert parse_qs(urlsplit(link).query)["cover"] == [title]
    at = screen("operations", path=PAGE, cover=title)
    assert at.selectbox(key="cover").value == title
    assert at.selectbox(key="on_behalf_of").value is None
    assert "Choose the distributor on whose behalf you sell it" in texts(at)


def test_an_address_reproduces_the_choice(screen: Screen, store: Store, partner: Partner) -> None:
    at, title = screen("operations"), title_of(store, insurer_a.COMPREHENSIVE, partner)
    turn_to(at, PAGE)
    name = shipped.products()[fields.build_example(insurer_a.COMPREHENSIVE.request)["product_id"]]["name"]
    at.query_params.update({"cover": title, "sold": name})
    at.run()
    assert at.selectbox(key="cover").value == title
    assert at.selectbox(key="sold").value.name == name
    assert "Still needed for the price" in texts(at)


def test_the_page_asks_once_what_a_distributor_sells(
    screen: Screen, store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One statement for all covers, not one for each, and not again for the window."""
    asked = list[UUID | None]()
    ask = for_sale.list_all
    monkeypatch.setattr(for_sale, "list_all", lambda session, seller=None: asked.append(seller) or ask(session, seller))
    monkeypatch.delattr(for_sale, "list_products")
    screen("operations", path=PAGE)
    assert asked == [partner.id]


def test_an_unknown_choice_in_the_address_falls_back(screen: Screen, partner: Partner) -> None:
    at = screen("operations")
    turn_to(at, PAGE)
    at.query_params.update({"cover": "Nobody: nothing", "sold": "What?"})
    at.run()
    assert not at.exception
    assert at.selectbox(key="cover").value is None
    assert "Choose a cover." in [each.value for each in at.caption]


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


@every_case("cover", COVERS, ids=lambda cover: cover.key)
def test_the_price_while_filling_is_the_price_of_the_sale(cover: Cover[Any]) -> None:
    typed = fields.build_example(cover.request)
    rates = shipped.rates(typed["product_id"])
    known = prices.price_so_far(cover, typed, rates)
    assert known.value == shipped.price(cover)
    assert known.reads == prices.reads(cover, typed["product_id"], rates)
    for name in known.reads:
        without = {key: value for key, value in typed.items() if key != name}
        if cover.request.model_fields[name].is_required():
            assert prices.price_so_far(cover, without, rates).missing == {name}


def test_a_plan_that_the_product_lacks_is_no_price() -> None:
    cover = insurer_g.COVERS[0]
    typed = fields.build_example(cover.request)
    bare = shipped.rates(typed["product_id"], meta={})
    known = prices.price_so_far(cover, typed, bare)
    assert known.value is None
    assert [fault.field for fault in known.faults] == ["plan"]


def test_items_are_part_of_the_price(store: Store, partner: Partner) -> None:
    cover = insurer_b.COVERS[0]
    form = forms.Form(key="x", model=cover.request, given={"product_id": "x"})
    typed = fields.build_example(cover.request)
    reads = prices.reads(cover, typed["product_id"], shipped.rates(typed["product_id"]))
    assert reads & {question.name for question in form.questions if question.kind is Kind.ITEMS}


def test_a_sale_gives_a_receipt_and_a_live_policy(page: AppTest, store: Store) -> None:
    at = press(fill(page, insurer_a.THIRD_PARTY), "Review")
    assert metrics(at)["To pay"] == "₦15,000.00"
    answers = at.table[0].value.iloc[:, 0]
    assert (answers["Vehicle make"], answers["Vehicle model"]) == ("Toyota", "Camry")
    at = follow(press(at, "Confirm and buy for ₦15,000.00"))
    assert "Sold to" in at.success[0].value
    assert {"LSD-123AB", "Toyota Camry"} <= {fact.value for fact in at.text}
    assert {"Sell another", "Same customer, another cover"} <= {button.label for button in at.button}
    assert sold(store) == [(True, 1_500_000, "desk")]
    shown, there = texts(at), dict(at.query_params)
    with store.reading(Scope.system()) as session:
        assert there["id"] == str(session.execute(sa.select(Purchase.id)).scalar_one())
    assert texts(at.run()) == shown, "a reload shows it again"


def test_a_price_that_changes_while_the_form_is_open_is_reviewed_anew_and_then_sold(
    page: AppTest, store: Store
) -> None:
    at = press(fill(page, insurer_a.THIRD_PARTY), "Review")
    product_id = UUID(str(fields.build_example(insurer_a.THIRD_PARTY.request)["product_id"]))
    with store.writing(Scope.system()) as session:
        row = session.execute(sa.select(ProductVersion).where(ProductVersion.product_id == product_id)).scalar_one()
        dearer = {"id": ids.new(), "effective_at": clock.now() + timedelta(hours=1), "price_minor": 2_000_000}
        session.insert(ProductVersion(**{**row.model_dump(), **dearer}))
    with clock.freeze(clock.now() + timedelta(hours=2)):
        at = press(at, "Confirm and buy for ₦15,000.00")
        assert "The price has changed to ₦20,000.00: look again." in texts(at).replace("\\", "")
        assert sold(store) == []
        assert metrics(at)["To pay"] == "₦20,000.00"
        follow(press(at, "Confirm and buy for ₦20,000.00"))
    assert sold(store) == [(True, 2_000_000, "desk")]


def test_a_sale_that_is_confirmed_on_another_day_than_reviewed_shows_its_days_first(
    page: AppTest, store: Store
) -> None:
    at = press(fill(page, insurer_a.THIRD_PARTY), "Review")
    with clock.freeze(clock.now() + timedelta(days=1)):
        at = press(at, "Confirm and buy for ₦15,000.00")
        assert "The days of cover are others now: look again." in texts(at)
        assert sold(store) == []
        follow(press(at, "Confirm and buy for ₦15,000.00"))
    assert sold(store) == [(True, 1_500_000, "desk")]


def test_a_press_of_review_is_not_lost_when_what_was_typed_before_runs_the_page_again(
    page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, keep, stopping = fill(page, insurer_a.THIRD_PARTY), sale_drafts.store_draft, [True]

    def stop_once(*given: Any) -> None:
        if stopping:
            stopping.pop()
            st.rerun()
        keep(*given)

    monkeypatch.setattr(sale_drafts, "store_draft", stop_once)
    assert metrics(press(at, "Review"))["To pay"] == "₦15,000.00"
    assert not stopping


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
    text = texts(at)
    assert "Must be a JPEG, PNG, WebP or PDF file" in text
    assert "Must be an e-mail address" in text
    assert len([each for each in at.markdown if ":red[" in each.value]) == 2
    at.text_input(key=f"buy {cover.key}.email").set_value("ngozi@example.com")
    press(at, "Review")
    assert len([each for each in at.markdown if ":red[" in each.value]) == 1
    at.file_uploader(key=chooser).upload("id.jpg", papers.picture())
    assert "To pay" in metrics(press(at, "Review"))
    assert len(papers.on_disk()) == 1


def test_a_review_says_what_the_sale_changes_on_the_record_of_a_known_customer(page: AppTest) -> None:
    shown = texts(press(fill(page, insurer_a.THIRD_PARTY), "Review"))
    assert "on record" not in shown
    name = " ".join(
        str(fields.build_example(insurer_a.THIRD_PARTY.request)[each]) for each in ("first_name", "last_name")
    )
    page = follow(press(follow(press(page, "Confirm and buy for ₦15,000.00")), "Sell another"))
    other = {"registration_number": "LSD-999ZZ", "first_name": "Amaka Ngozi", "phone_number": "08099999999"}
    shown = texts(press(fill(page, insurer_a.THIRD_PARTY, **other), "Review"))
    assert "Known by this e-mail: the sale changes the name and the phone on record" in shown
    assert f"{name} becomes Amaka Ngozi {name.rpartition(' ')[2]}" in shown
    assert "becomes 0809 999 9999" in shown
    # The same in other letters and spaces is no other name or phone.
    page = press(page, "Change the details")
    same = {"registration_number": "LSD-999ZZ", "first_name": name.partition(" ")[0].upper()}
    assert "on record" not in texts(press(fill(page, insurer_a.THIRD_PARTY, **same), "Review"))


def test_the_same_risk_is_not_sold_twice(page: AppTest, store: Store) -> None:
    follow(press(press(fill(page, insurer_a.THIRD_PARTY), "Review"), "Confirm and buy for ₦15,000.00"))
    at = follow(press(page, "Sell another"))
    assert not at.text_input(key=f"buy {insurer_a.THIRD_PARTY.key}.email").value
    at.text_input(key=f"buy {insurer_a.THIRD_PARTY.key}.registration_number").set_value("lsd 123 ab").run()
    with store.reading(Scope.system()) as session:
        earlier = session.execute(sa.select(Policy.id)).scalar_one()
    assert "Insured already until" in texts(at), "said beside the field while it is filled in"
    assert f"/policy?id={earlier}" in texts(at)
    at.text_input(key=f"buy {insurer_a.THIRD_PARTY.key}.registration_number").set_value("LSD-999ZZ").run()
    assert "Insured already" not in texts(at)
    press(press(fill(page, insurer_a.THIRD_PARTY), "Review"), "Confirm and buy for ₦15,000.00")
    assert "already insured" in page.error[0].value
    with store.reading(Scope.system()) as session:
        policy_id, number = session.execute(sa.select(Policy.id, Policy.policy_number)).one()
    assert number in page.error[0].value
    link = next(link.proto for link in page.get("page_link") if link.proto.label.startswith("Open policy"))
    assert (link.page, link.query_string) == ("policy", f"id={policy_id}")
    assert len(sold(store)) == 1


def test_whose_sale_it_is_is_asked_first_where_there_are_several(
    screen: Screen, store: Store, partner: Partner, stranger: Partner
) -> None:
    at = screen("operations", path=PAGE)
    assert at.selectbox(key="on_behalf_of").value is None
    assert [box.key for box in at.selectbox] == ["on_behalf_of"]


def test_the_receipt_says_who_earns_what_and_sends_the_certificate(page: AppTest, store: Store, screen: Screen) -> None:
    follow(press(press(fill(page, insurer_a.THIRD_PARTY), "Review"), "Confirm and buy for ₦15,000.00"))
    with store.reading(Scope.system()) as session:
        purchase = session.execute(sa.select(Purchase)).scalar_one()
    recent = [link.proto for link in screen("operations", path=PAGE).get("page_link") if link.proto.page == "purchase"]
    assert [link.query_string for link in recent] == [f"id={purchase.id}"]
    shown = texts(page) + "".join(fact.value for fact in page.text)
    rest = purchase.total_minor - purchase.mca_profit_minor - purchase.distributor_profit_minor
    for part in (purchase.distributor_profit_minor, purchase.mca_profit_minor, rest):
        assert words.naira(part) in shown
    labels = [link.proto.label for link in page.get("link_button")]
    assert labels.index("Open") < labels.index("By WhatsApp"), "what is printed at the counter stands with the receipt"
    links = {link.proto.label: link.proto.url for link in page.get("link_button")}
    assert links["Open"] == links["Open the certificate"]
    press(page, "By e-mail")
    with store.reading(Scope.system()) as session:
        letter = session.execute(sa.select(Mail)).scalar_one()
    assert f"The certificate goes to {letter.recipient}." in texts(page)
    assert links["Open the certificate"] in letter.body
    assert links["By WhatsApp"].startswith("https://wa.me/234")
    assert quote(links["Open the certificate"], safe="") in links["By WhatsApp"]


def test_the_same_customer_fills_the_next_form(page: AppTest, store: Store, partner: Partner) -> None:
    follow(press(press(fill(page, insurer_a.THIRD_PARTY), "Review"), "Confirm and buy for ₦15,000.00"))
    at = follow(press(page, "Same customer, another cover"))
    assert at.selectbox(key="cover").value is None
    at = chosen(at, store, partner, insurer_g.COVERS[0])
    typed = fields.build_example(insurer_a.THIRD_PARTY.request)
    for name in ("first_name", "last_name", "email"):
        assert at.text_input(key=f"buy {insurer_g.COVERS[0].key}.{name}").value == typed[name]


def test_an_existing_customer_of_the_distributor_is_found_and_fills_the_form(
    page: AppTest, store: Store, partner: Partner, stranger: Partner
) -> None:
    Portfolio(seed=61, size=3, sellers=(partner.id,)).write(store)
    Portfolio(seed=62, size=3, sellers=(stranger.id,)).write(store)
    key = f"buy {insurer_a.THIRD_PARTY.key}"
    page.text_input(key=f"{key} customer").set_value("person0.62@").run()
    assert "no such customer" in texts(page), "customers of others are not found"
    page.text_input(key=f"{key} customer").set_value("person0.61@").run()
    next(button for button in page.button if "person0\\.61" in button.label.lower()).click().run()
    assert page.text_input(key=f"{key}.email").value == "Person0.61@example.com"
    assert page.text_input(key=f"{key}.phone_number").value == "+2348031234567"
    assert page.text_input(key=f"{key} customer").value == ""


def test_the_customer_is_found_before_the_cover_and_fills_its_form(
    screen: Screen, store: Store, partner: Partner
) -> None:
    Portfolio(seed=61, size=3, sellers=(partner.id,)).write(store)
    at = screen("operations", path=PAGE)
    at.text_input(key="buy customer").set_value("person0.61@").run()
    next(button for button in at.button if "person0\\.61" in button.label.lower()).click().run()
    assert "Person0.61@example.com" in texts(at)
    at = chosen(at, store, partner, insurer_b.HOME)
    key = f"buy {insurer_b.HOME.key}"
    assert at.text_input(key=f"{key}.email").value == "Person0.61@example.com"
    assert count_drafts(store) == 0, "nothing is typed yet"
    at.text_input(key=f"{key}.address").set_value("1 Marina Road").run()
    assert count_drafts(store) == 1
    at.text_input(key=f"{key}.address").set_value("").run()
    assert "Kept as your draft" in texts(at), "what was begun stays until it is discarded"


def count_drafts(store: Store) -> int:
    with store.reading(Scope.system()) as session:
        return int(session.execute(sa.select(sa.func.count()).select_from(SaleDraft)).scalar_one())


def opened(screen: Screen, author: Person, at: AppTest) -> AppTest:
    """Open in a tab of its own where the page asks the browser to go."""
    link = next(payload["href"] for payload in sent(at) if payload.get("href"))
    return screen(signed_in=author, path=PAGE, **parse_qs(urlsplit(link).query))


def test_a_draft_outlasts_the_session_and_ends_with_the_sale(
    screen: Screen, store: Store, partner: Partner, page: AppTest
) -> None:
    author = person_in(store)
    at = chosen(screen(signed_in=author, path=PAGE), store, partner, insurer_a.THIRD_PARTY)
    fill(at, insurer_a.THIRD_PARTY).run()
    other = screen(signed_in=author, path=PAGE)
    assert "Third-party" in texts(other)
    other = opened(screen, author, press(other, "Continue"))
    key, typed = f"buy {insurer_a.THIRD_PARTY.key}", fields.build_example(insurer_a.THIRD_PARTY.request)
    assert other.text_input(key=f"{key}.chassis_number").value == typed["chassis_number"]
    assert other.selectbox(key=f"{key}.vehicle_model").value == typed["vehicle_model"]
    assert "Kept as your draft" in texts(other)
    assert not [each for each in screen("operations", path=PAGE).button if each.label == "Continue"], "of others"
    screen(signed_in=author)
    press(press(other, "Review"), "Confirm and buy for ₦15,000.00")
    assert not [each for each in screen(signed_in=author, path=PAGE).button if each.label == "Continue"]


def test_a_draft_that_is_open_in_two_tabs_is_sold_once(screen: Screen, store: Store, partner: Partner) -> None:
    """Nothing else keeps a cover of persons from being sold twice."""
    author, cover = person_in(store), insurer_f.PERSONAL_ACCIDENT
    fill(chosen(screen(signed_in=author, path=PAGE), store, partner, cover), cover).run()
    tabs = [opened(screen, author, press(screen(signed_in=author, path=PAGE), "Continue")) for _ in range(2)]
    for tab in tabs:
        press(tab, "Review")
    for tab in tabs:
        press(tab, next(each.label for each in tab.button if each.label.startswith("Confirm and buy for")))
    assert len(sold(store)) == 1


def test_each_customer_of_a_cover_has_a_draft(screen: Screen, store: Store, partner: Partner, page: AppTest) -> None:
    author, cover = person_in(store), insurer_a.THIRD_PARTY
    first_name = f"buy {cover.key}.first_name"
    for name in ("Ngozi", "Bola"):
        at = chosen(screen(signed_in=author, path=PAGE), store, partner, cover)
        assert at.text_input(key=first_name).value == "", "an earlier customer's draft does not fill the form"
        fill(at, cover, first_name=name, email=f"{name.lower()}@example.com").run()
    fill(at, cover, first_name="Bolanle").run()
    press(at, "New sale")
    assert at.text_input(key=first_name).value == ""
    fill(at, cover, first_name="Chidi").run()
    at = screen(signed_in=author, path=PAGE)
    assert "3 unfinished sales" in [each.label for each in at.expander]
    surname = fields.build_example(cover.request)["last_name"]
    named = [name for name in ("Chidi", "Bolanle", "Ngozi", "Bola") if f"· {name} {surname}" in texts(at)]
    assert named == ["Chidi", "Bolanle", "Ngozi"]
    places = [each for each in at.button if each.label == "Continue"]
    at = opened(screen, author, places[2].click().run())
    assert at.text_input(key=first_name).value == "Ngozi"
    at = opened(screen, author, press(at, "Continue"))
    assert at.text_input(key=first_name).value == "Chidi", "opening a draft does not move it up"
    [each for each in at.button if each.label == "Discard"][1].click().run()
    assert "1 unfinished sale" in [each.label for each in at.expander]
    assert "Ngozi" not in texts(at)


def test_a_draft_stays_in_its_mode_when_the_form_is_filled_on_in_the_other(
    screen: Screen, store: Store, partner: Partner
) -> None:
    author, cover = person_in(store), insurer_a.THIRD_PARTY
    at = chosen(screen(signed_in=author, path=PAGE), store, partner, cover)
    fill(at, cover, first_name="Ngozi").run()
    at.button_group(key="mode_switch").set_value("Test").run()
    fill(at, cover, first_name="Tester").run()
    named = {
        is_live: [draft.values["first_name"] for draft in sale_drafts.list_mine(is_live, author)]
        for is_live in (True, False)
    }
    assert named == {True: ["Ngozi"], False: ["Tester"]}


def test_another_customer_chosen_in_the_form_leaves_the_draft_of_the_first(
    screen: Screen, store: Store, partner: Partner
) -> None:
    Portfolio(seed=61, size=3, sellers=(partner.id,)).write(store)
    author, cover = person_in(store), insurer_a.THIRD_PARTY
    at = chosen(screen(signed_in=author, path=PAGE), store, partner, cover)
    fill(at, cover, first_name="Ngozi").run()
    at.text_input(key=f"buy {cover.key} customer").set_value("person0.61@").run()
    next(button for button in at.button if "person0\\.61" in button.label.lower()).click().run()
    typed = [draft.values["first_name"] for draft in sale_drafts.list_mine(counter_is_live=True, person=author)]
    assert len(typed) == 2
    assert typed[1] == "Ngozi" != typed[0]


def test_a_discarded_draft_is_gone_and_the_form_is_empty(
    screen: Screen, store: Store, partner: Partner, page: AppTest
) -> None:
    author = person_in(store)
    at = chosen(screen(signed_in=author, path=PAGE), store, partner, insurer_a.THIRD_PARTY)
    fill(at, insurer_a.THIRD_PARTY).run()
    press(at, "Discard the draft")
    assert at.text_input(key=f"buy {insurer_a.THIRD_PARTY.key}.first_name").value == ""
    assert count_drafts(store) == 0


def test_what_is_missing_is_named_in_the_bar(page: AppTest) -> None:
    def named(at: AppTest) -> list[str]:
        return [field["label"] for payload in sent(at) for field in payload.get("fields", ())]

    cover = insurer_a.THIRD_PARTY
    assert named(page)[0] == "First name"
    fill(page, cover, registration_number="").run()
    assert named(page) == ["Registration number"]
    assert next(p["fields"][0]["key"] for p in sent(page) if p.get("fields")).endswith("-registration_number")
    page.text_input(key=f"buy {cover.key}.registration_number").set_value("ABC-123-XY").run()
    assert named(page) == []
    assert "Everything that is needed is filled in" in texts(page)


def person_in(store: Store) -> Person:
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session,
            email="o@x.example",
            name="O",
            roles=["operations"],
            password="correct horse battery",
            actor="tests",
        )
        staff_id = session.execute(sa.select(Staff.id).where(Staff.email == "o@x.example")).scalar_one()
    return Person(id=staff_id, email="o@x.example", name="O", roles=("operations",), claim_limit_minor=None)


def test_finance_cannot_buy(screen: Screen) -> None:
    with pytest.raises(ValueError, match="buy"):
        turn_to(screen("finance"), PAGE)
