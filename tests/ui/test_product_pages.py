"""The screens of products: the list and its filters, one product, and a change of rates that is compared first."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.insurers import insurer_a
from core.covers.tariff import Figure
from core.errors import InvalidInput
from core.services.catalogue import changes, product_list, rate_changes
from core.services.catalogue.product_list import ProductDetail, ProductFilter
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import Staff
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.pages import turn_to
from tests.services.selling import CAR, sell
from tests.ui.conftest import Screen, follow, lists, person_of, press, texts

pytestmark = pytest.mark.frozen_at(shipped.STILL)

LOAN = UUID("01900000-0000-7000-8000-000000080101")
TRIP = UUID("01900000-0000-7000-8000-000000030101")
LIST, ONE, RATES = "admin/products.py", "admin/product.py", "admin/rates.py"


MAKER, CHECKER = person_of("admin"), person_of("admin")


@pytest.fixture(autouse=True)
def admins(store: Store) -> None:
    """Two admins with accounts: one proposes, the other confirms."""
    with store.writing(Scope.system()) as session:
        for name, person in {"maker": MAKER, "checker": CHECKER}.items():
            session.insert(Staff(id=person.id, email=f"{name}@x.example", name=name, roles=["admin"]))


def open_page(screen: Screen, path: str, *, by: Person = MAKER, **query: str) -> AppTest:
    return screen(path=path, signed_in=by, **query)


def seen(store: Store, product_id: UUID) -> ProductDetail:
    with store.reading(Scope.system()) as session:
        return product_list.get_product(session, product_id)


def proposed(store: Store, product_id: UUID, typed: dict[str, Any], at: datetime | None = None) -> UUID:
    """A change that the first admin proposes."""
    product = seen(store, product_id)
    with store.writing(Scope.system()) as session:
        return rate_changes.propose(
            session,
            product_id,
            typed,
            start=product.latest.id,
            effective_at=at or shipped.STILL + timedelta(days=40),
            seen=product.version,
            by=MAKER,
        )


def elsewhere(store: Store, product_id: UUID, typed: dict[str, Any]) -> None:
    """A change by others, meanwhile: proposed by one, confirmed by another."""
    proposal_id = proposed(store, product_id, typed)
    with store.writing(Scope.system()) as session:
        version = product_list.get_product(session, product_id).version
        rate_changes.confirm(session, product_id, proposal_id, seen=version, by=CHECKER)


def price_proposed(store: Store) -> str:
    proposal = seen(store, CAR).proposal
    return str(proposal.tariff.price) if proposal else ""


def names(at: AppTest) -> list[str]:
    return list(lists(at)[0]["Product"]) if lists(at) else []


def test_the_list_is_narrowed_by_its_address(screen: Screen, store: Store) -> None:
    at = open_page(screen, LIST, q="credit life")
    assert len(names(at)) == 3
    assert list(lists(at)[0]["Price or rate"]) == ["0.575 % of the loan"] * 3
    press(at, "Reset")
    assert len(names(at)) == len(shipped.products())
    at.selectbox(key="on").set_value("false").run()
    assert names(at) == ["Device protection"]
    next(each for each in at.text_input if each.label == "Find").set_value("nothing like it").run()
    assert "No product matches" in texts(at)
    assert ProductFilter.FIELDS["q"].place == "search", "the search stands above the list, as everywhere"
    assert "**Sold** must be one of true, false" in texts(open_page(screen, LIST, on="maybe"))


def test_products_are_for_operations_to_read_and_for_admins_to_change(screen: Screen, store: Store) -> None:
    at = screen("finance", "claims", "supervisor")
    for page in (LIST, ONE, RATES):
        with pytest.raises(ValueError, match="page"):
            turn_to(at, page)
    with pytest.raises(ValueError, match="page"):
        turn_to(screen("operations"), RATES)


@every_case("page", [ONE, RATES])
def test_an_address_without_a_product_says_so(screen: Screen, store: Store, page: str) -> None:
    at = open_page(screen, page, id="x")
    assert "open it from its list" in texts(at)
    at.query_params["id"] = str(uuid4())
    assert "no such product" in texts(at.run())


@every_case("product_id", [LOAN, TRIP])
def test_a_product_shows_what_it_charges_and_what_is_planned(screen: Screen, store: Store, product_id: UUID) -> None:
    elsewhere(store, product_id, {"distributor_commission": "9.00"})
    at = open_page(screen, ONE, id=str(product_id))
    text = texts(at)
    assert ":violet-badge[Planned]" in text
    assert ":green-badge[In force]" in text
    press(at, "Withdraw")
    at.button(key="decision.confirm").click().run()
    assert "is withdrawn" in texts(at)
    assert [version.state for version in seen(store, product_id).versions] == ["Withdrawn", "In force"]


def test_rates_that_came_with_the_catalogue_hold_since_a_day(screen: Screen, store: Store) -> None:
    at = open_page(screen, ONE, id=str(TRIP))
    assert "**In force since 1 Jan 2024**" in texts(at)
    assert "01:00" not in texts(at)


def test_a_product_is_switched_off_after_one_confirmation(screen: Screen, store: Store, partner: Partner) -> None:
    at = open_page(screen, ONE, id=str(CAR))
    press(at, "Switch off")
    assert "product_id" not in texts(at), "an admin reads no names of fields"
    assert seen(store, CAR).active
    at.button(key="decision.confirm").click().run()
    assert "is switched off" in texts(at)
    with pytest.raises(InvalidInput, match="product_id"):
        sell(store, partner, insurer_a.THIRD_PARTY)


def test_a_product_is_switched_off_for_one_distributor_and_offered_again(
    screen: Screen, store: Store, partner: Partner
) -> None:
    at = open_page(screen, ONE, id=str(CAR))
    chosen = next(seller for seller in seen(store, CAR).sellers if seller.id == partner.id)
    at.selectbox(key="product.seller").set_value(chosen).run()
    for label, blocked in (("Switch off for it", True), ("Offer again", False)):
        press(at, label)
        at.button(key="decision.confirm").click().run()
        assert [seller.blocked for seller in seen(store, CAR).sellers] == [blocked]


def test_who_decides_on_an_older_version_is_told(screen: Screen, store: Store) -> None:
    at = press(open_page(screen, ONE, id=str(CAR)), "Switch off")
    elsewhere(store, CAR, {"price": "16000"})
    at.button(key="decision.confirm").click().run()
    assert "Somebody else changed this product" in texts(at)
    assert seen(store, CAR).active


def test_a_change_of_rates_is_compared_and_confirmed_once(screen: Screen, store: Store, partner: Partner) -> None:
    at = open_page(screen, RATES, id=str(LOAN))
    assert at.button(key="rates.confirm").disabled
    at.text_input(key="rates.meta.shares.death").set_value("0.5")
    at.text_input(key="rates.mca_commission").set_value("20").run()
    assert [metric.value for metric in at.metric] == ["₦575.00", "₦800.00"]
    at.text_input(key="rates.sale.loan_amount").set_value("200,000").run()
    assert [metric.value for metric in at.metric] == ["₦1,150.00", "₦1,600.00"]
    assert at.metric[1].delta == "+₦450.00"
    assert "₦320.00" in str([line.value for line in at.text])
    at.button(key="rates.confirm").click().run()
    assert not at.exception
    follow(at)
    assert "are proposed: another admin confirms them" in texts(at)
    assert "Nov 2026" in texts(at)
    product = seen(store, LOAN)
    tomorrow = clock.lagos_midnight(clock.add_days(clock.today(), 1))
    assert product.proposal is not None
    assert (product.proposal.effective_at, str(product.proposal.tariff.mca_commission)) == (tomorrow, "20.00")
    assert len(product.versions) == 1, "nothing is planned yet"


def test_another_admin_confirms_what_the_headline_says(screen: Screen, store: Store) -> None:
    first = clock.lagos_midnight(date(2026, 12, 1))
    proposed(store, CAR, {"mca_commission": "20", "price": "16000"}, first)
    headline = "Platform commission 12.50 % → 20 %, Price ₦15,000.00 → ₦16,000.00 from 1 Dec 2026"
    at = open_page(screen, ONE, id=str(CAR))
    assert headline in texts(at)
    assert {"Confirm", "Refuse"}.isdisjoint(button.label for button in at.button)
    assert at.button(key="proposal Take it back")
    assert next(button for button in at.button if button.label == "Change rates").disabled
    at = open_page(screen, ONE, by=CHECKER, id=str(CAR))
    at.button(key="proposal Confirm").click().run()
    assert [dialog.proto.dialog.title.replace("\\", "") for dialog in at.get("dialog")] == [headline]
    at.button(key="decision.confirm").click().run()
    assert f"Confirmed: {headline}" in texts(at)
    assert [version.state for version in seen(store, CAR).versions] == ["Planned", "In force"]


def test_a_headline_leaves_long_texts_to_the_table(screen: Screen, store: Store) -> None:
    words_ = ["resignation", "misconduct", "self-inflicted", "voluntary exit"]
    field = next(figure.field for figure in figures_of(store, LOAN) if figure.group == "Exclusions")
    proposed(store, LOAN, {field: words_}, clock.lagos_midnight(date(2026, 12, 1)))
    text = texts(open_page(screen, ONE, id=str(LOAN)))
    assert "**Exclusions changed from 1 Dec 2026**" in text


def figures_of(store: Store, product_id: UUID) -> Sequence[Figure]:
    product = seen(store, product_id)
    return product.get_editable_tariff(product.latest).figures


def test_another_admin_refuses_with_a_reason_and_who_proposed_takes_back(screen: Screen, store: Store) -> None:
    proposed(store, CAR, {"price": "16000"})
    at = open_page(screen, ONE, by=CHECKER, id=str(CAR))
    at.button(key="proposal Refuse").click().run()
    at.button(key="decision.confirm").click().run()
    assert seen(store, CAR).proposal is not None
    at.text_input(key="decision.field.reason").set_value("Not agreed")
    at.button(key="decision.confirm").click().run()
    assert "The change is refused" in texts(at)
    assert seen(store, CAR).proposal is None
    proposed(store, CAR, {"price": "16000"})
    at = open_page(screen, ONE, id=str(CAR))
    at.button(key="proposal Take it back").click().run()
    at.button(key="decision.confirm").click().run()
    assert (seen(store, CAR).proposal, len(seen(store, CAR).versions)) == (None, 1)


def test_who_had_a_password_reset_reads_from_when_on_they_may_confirm(screen: Screen, store: Store) -> None:
    proposed(store, CAR, {"price": "16000"})
    resting = replace(CHECKER, approves_from=shipped.STILL + timedelta(hours=24))
    at = open_page(screen, ONE, by=resting, id=str(CAR))
    assert at.button(key="proposal Confirm").disabled
    assert "you can approve from 21 Nov 2026, 08:08 on" in texts(at)


def test_the_list_leads_to_what_waits_for_a_second_admin(screen: Screen, store: Store) -> None:
    proposed(store, CAR, {"price": "16000"})
    links = {link.proto.label: link.proto.query_string for link in open_page(screen, LIST).get("page_link")}
    waiting = next(label for label in links if "waits for a second admin" in label)
    assert seen(store, CAR).name in waiting.replace("\\", "")
    assert links[waiting] == f"id={CAR}"


def test_commissions_that_leave_the_insurer_too_little_are_said_and_not_proposed(screen: Screen, store: Store) -> None:
    at = open_page(screen, RATES, id=str(CAR))
    assert "must leave the insurer at least 50 % of the premium" in texts(at)
    at.text_input(key="rates.mca_commission").set_value("70")
    at.text_input(key="rates.distributor_commission").set_value("30").run()
    assert "Must leave the insurer at least 50 %" in texts(at)
    assert not [button for button in at.button if button.key == "rates.confirm"]


@every_case(
    "product_id",
    [
        UUID(f"01900000-0000-7000-8000-000000{number}")
        for number in ("010101", "020201", "020301", "020601", "030101", "060101")
    ],
    ids=["instalments", "items", "loadings", "sold by nothing", "a table", "plans"],
)
def test_every_product_has_a_form_that_prices_its_sale(screen: Screen, store: Store, product_id: UUID) -> None:
    at = open_page(screen, RATES, id=str(product_id))
    priced = seen(store, product_id).cover is not None
    assert len(at.metric) == (2 if priced else 0)
    assert not at.error


def test_the_travel_table_is_edited_in_place(screen: Screen, store: Store) -> None:
    at = open_page(screen, RATES, id=str(TRIP))
    nothing: dict[str, Any] = {"added_rows": [], "deleted_rows": []}
    at.session_state["rates.meta.rates"] = {"edited_rows": {1: {"schengen": 20000.5}}, **nothing}
    at.run()
    assert [metric.value for metric in at.metric] == ["₦27,000.00", "₦40,001.00"]
    changes = at.table[0].value.to_dict("records")
    assert [(row["Figure"], row["From then on"]) for row in changes] == [
        ("Travel\\: up to days 15, Schengen", "**₦20,000\\.50**")
    ]
    at.session_state["rates.meta.rates"] = {"edited_rows": {1: {"days": 3}}, **nothing}
    assert "Row 2, up to days: must be more than in the row above" in texts(at.run())


def test_what_is_wrong_stands_beside_its_figure_and_nothing_is_lost(screen: Screen, store: Store) -> None:
    at = open_page(screen, RATES, id=str(CAR))
    at.text_input(key="rates.price").set_value("abc").run()
    assert "Must be a number" in texts(at)
    assert not [button for button in at.button if button.key == "rates.confirm"]
    at.text_input(key="rates.price").set_value("17,500").run()
    with clock.freeze(shipped.STILL + timedelta(days=2)):
        at.button(key="rates.confirm").click().run()
    assert seen(store, CAR).proposal is None
    assert at.text_input(key="rates.price").value == "17,500"


def test_a_figure_that_was_not_compared_is_not_confirmed(screen: Screen, store: Store) -> None:
    at = open_page(screen, RATES, id=str(CAR))
    at.text_input(key="rates.price").set_value("17,500").run()
    at.text_input(key="rates.price").set_value("175,000")
    at.button(key="rates.confirm").click().run()
    assert "compare once more" in texts(at)
    assert len(seen(store, CAR).versions) == 1
    at.button(key="rates.confirm").click().run()
    assert price_proposed(store) == "175000.00"


def test_somebody_elses_change_is_said_and_what_was_typed_stays(screen: Screen, store: Store) -> None:
    at = open_page(screen, RATES, id=str(CAR))
    at.text_input(key="rates.price").set_value("17,500").run()
    elsewhere(store, CAR, {"price": "16000"})
    at.button(key="rates.confirm").click().run()
    assert "Nothing of yours was written" in texts(at)
    assert at.text_input(key="rates.price").value == "17,500"
    at.button(key="rates.confirm").click().run()
    assert price_proposed(store) == "17500.00"
    assert [str(version.tariff.price) for version in seen(store, CAR).planned_changes] == ["16000.00"]


def test_texts_are_shown_as_they_will_be_and_saved(screen: Screen, store: Store) -> None:
    at = open_page(screen, ONE, id=str(CAR))
    at.text_area(key="texts.key_benefits").set_value("<p onclick=x>Fast</p><script>1</script>").run()
    assert at.get("html")[0].proto.body == "<p>Fast</p>"
    at.text_area(key="texts.description").set_value("Short").run()
    press(at, "Save the texts")
    assert "Must have at least 10 characters" in texts(at)
    assert at.text_area(key="texts.key_benefits").value.startswith("<p onclick")
    at.text_area(key="texts.description").set_value("Long enough to say something.").run()
    press(at, "Save the texts")
    assert seen(store, CAR).key_benefits == "<p>Fast</p>"


def test_texts_that_somebody_else_saved_meanwhile_stay_where_nothing_was_typed(screen: Screen, store: Store) -> None:
    at = open_page(screen, ONE, id=str(CAR))
    at.text_area(key="texts.how_to_claim").set_value("Call us within a day.").run()
    was = seen(store, CAR)
    names = ("description", "key_benefits", "how_it_works", "how_to_claim")
    theirs = {name: getattr(was, name) or "" for name in names} | {"description": "What the other admin wrote."}
    with store.writing(Scope.system()) as session:
        changes.change_texts(session, CAR, theirs, seen_version=was.version, by=CHECKER)
    press(at, "Save the texts")
    assert "Nothing of yours was written" in texts(at)
    assert at.text_area(key="texts.description").value == "What the other admin wrote."
    press(at, "Save the texts")
    now = seen(store, CAR)
    assert (now.description, now.how_to_claim) == ("What the other admin wrote.", "Call us within a day.")
