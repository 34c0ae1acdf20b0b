"""A cover of a thing that no other cover insures: from the marks of its fields follows what every door says of it."""

from datetime import date, timedelta
from random import Random
from types import SimpleNamespace
from typing import Annotated, Any

import pytest
from pydantic import Field

from core import money
from core.covers import fields, registry, request_parts
from core.covers.cover import IN_FORCE, Cover, Price, Rates, ResponseShape
from core.covers.pricing import flat_price
from core.demo.bulk_rows import Values
from core.demo.claims.claims import DEVICE, Losses
from core.demo.sales import requests
from core.services.claims.intake import lodging
from core.services.compliance import own_records
from core.services.policies import certificates
from core.services.selling.buying import Sale
from core.store.access import Store
from core.store.schema.tables import Policy
from core.ui.forms import forms, questions
from tests.conftest import Partner
from tests.covers import shipped
from tests.portfolio import NOW
from tests.services.selling import CAR, kept, sell

HULL = "NG-204417-B"


def _shout(value: str) -> str:
    return value.upper()


class BoatRequest(request_parts.BuyerWithPhone):
    """A boat and its owner."""

    declared_value: Annotated[fields.PositiveNaira, fields.Insured("Boat", "Declared value")] = Field(examples=[90000])
    hull_number: Annotated[fields.Text, fields.Insured("Boat", "Hull number", is_number=True, place=-1)] = Field(
        examples=[HULL]
    )
    boat_make: Annotated[fields.Text, fields.Insured("Boat", "Boat", describe=_shout)] = Field(examples=["Yamaha"])
    boat_model: Annotated[fields.Text, fields.Insured("Boat", "Boat")] = Field(examples=["Delta 20"])
    engine_power: Annotated[fields.Text, fields.Insured("Boat")] = Field(examples=["40 hp"])
    product_id: fields.ProductId = Field(examples=[str(CAR)])


def _price(_: BoatRequest, rates: Rates) -> Price:
    return flat_price(rates.price, "Annual premium")


def _payload(request: BoatRequest, price: Price) -> dict[str, Any]:
    return {"hull": request.hull_number, "premium": f"{price.total:.2f}"}


def _key(request: BoatRequest) -> str:
    return request_parts.normalise_registration(request.hull_number)


# It takes the place of a cover whose claims name a thing by its number.
BOAT = Cover(
    prefix="insurer-a",
    route="buy-thirdparty",
    insurer="insurer-a",
    title="Boat",
    request=BoatRequest,
    premium=_price,
    term=request_parts.build_term_from_today,
    initial_state=IN_FORCE,
    response_shape=ResponseShape.UNDER_POLICY,
    payload=_payload,
    risk_key=_key,
    device_number=_key,
)


@pytest.fixture(autouse=True)
def boats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._BY_ENDPOINT, (BOAT.prefix, BOAT.route), BOAT)


@pytest.fixture
def sale(store: Store, partner: Partner) -> Sale:
    return sell(store, partner, BOAT)


def test_the_form_asks_for_it_under_its_own_heading() -> None:
    grouped = {name: [question.name for question in group] for name, group in forms.group(questions.of(BoatRequest))}
    assert list(grouped) == ["Customer", "Boat", "Cover"]
    assert grouped["Boat"] == ["declared_value", "hull_number", "boat_make", "boat_model", "engine_power"]


def test_the_certificate_says_what_is_insured(store: Store, partner: Partner, sale: Sale) -> None:
    code = kept(store, partner, sale).certificate_code
    with store.reading(partner.scope()) as session:
        covered = certificates.get_by_code(session, str(code)).covered
    expected = ("Hull number", HULL), ("Declared value", "₦90,000.00"), ("Boat", "YAMAHA Delta 20")
    assert covered == expected


def test_a_claim_begins_with_its_number_and_is_compared_with_it(store: Store, partner: Partner, sale: Sale) -> None:
    policy = kept(store, partner, sale)
    with store.reading(partner.scope()) as session:
        (found,) = lodging.find_policies(session, str(policy.policy_number))
    assert found.line is not None
    assert found.known["registration_number"] == HULL
    assert found.line.same_thing({"registration_number": "ng 204417 b"}, policy.submitted).passed
    assert found.line.same_thing({"registration_number": "NG-1"}, policy.submitted).passed is False


def test_an_erasure_looks_for_its_number(store: Store, partner: Partner, sale: Sale) -> None:
    with store.reading(partner.scope()) as session:
        numbers = list(own_records.list_numbers(session, [session.get_one(Policy, sale.policy_id)]))
    assert numbers == [HULL, "NG204417B"]


def test_lists_show_the_number_of_a_device(store: Store, partner: Partner, sale: Sale) -> None:
    assert kept(store, partner, sale).device_serial_number == "NG204417B"
    assert sale.policy["meta"]["device_serial_number"] == "NG204417B"


def test_each_sale_of_the_demonstration_has_a_number_of_its_own() -> None:
    variant = requests.make_variant(
        BOAT,
        shipped.rates(str(CAR)),
        Random(1),
        title="Boat",
        product_id=str(CAR),
        split=lambda total: money.split(total, mca_bp=0, distributor_bp=0),
    )
    assert list(variant.things) == ["hull_number"]
    words: list[Values] = [{"hull_number": variant.things["hull_number"](serial)} for serial in (1, 2)]
    assert [each["hull_number"] for each in words] == ["NG-368787-B", "NG-737574-B"]
    assert variant.risk == variant.device == "%(hull_number_key)s"
    assert "%(hull_number)s" in variant.submitted
    assert "%(hull_number)s" in variant.payload
    assert HULL not in variant.submitted + variant.payload


def demonstrated(endpoint: tuple[str, str], body: dict[str, str]) -> Any:
    """A sale of the demonstration with an endpoint and a request."""
    return SimpleNamespace(
        offer=SimpleNamespace(endpoint=endpoint),
        life=SimpleNamespace(stretches=[(NOW - timedelta(days=300), NOW)], ended=None),
        variant=SimpleNamespace(body=body, sum_insured_minor=None),
    )


def test_the_demonstration_reads_the_value_of_a_device_as_its_cover_keeps_it() -> None:
    losses = Losses(Random(1), (), purchases=1, until=NOW)
    sale = demonstrated(("insurer-b", "buy-gadget"), {"device_value": "650000.00"})
    assert 0.12 <= losses._owed(sale, DEVICE, date(2026, 11, 20)) / 65_000_000 <= 0.4


def test_the_demonstration_has_no_claim_on_what_takes_none() -> None:
    losses = Losses(Random(1), (), purchases=1, until=NOW)
    sale = demonstrated(("insurer-z", "buy-boat"), {})
    assert [losses.of(sale) for _ in range(100)] == [None] * 100
