"""Prices over the API are those that a sale charges (contract S5, S6)."""

from datetime import timedelta
from typing import Any

from core import clock
from core.covers import credit_life
from core.covers.cover import Cover
from core.covers.fields import build_example
from core.covers.insurers import insurer_c
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case

TRAVEL_PRICE = "/v1/products/insurer-c/compute-travel-premium"
LOAN_PRICE = "/v1/products/credit-life-price"


def buy(client: Client, partner: Partner, cover: Cover[Any], **changed: Any) -> Any:
    body = {**build_example(cover.request), **changed}
    return client.post(f"/v1{cover.path}", key=partner.test_key, json=body)


def test_a_trip_is_priced_as_it_is_sold(client: Client, partner: Partner) -> None:
    facts = {name: build_example(insurer_c.TRAVEL.request)[name] for name in insurer_c.Trip.model_fields}
    answer = client.post(TRAVEL_PRICE, key=partner.test_key, json=facts)
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    assert isinstance(data["price"], float)
    assert [step["step"] for step in data["explain"]] == ["Schengen", "Age", "Passengers"]
    sold = buy(client, partner, insurer_c.TRAVEL).json()["data"]["policy"]
    assert f"{data['price']:.2f}" == data["explain"][-1]["amount"] == sold["genius_price"]


@every_case(
    ("departure", "arrival", "fields"),
    [(9, 374, ["arrival_date"]), (1826, 1830, ["departure_date"])],
)
def test_a_trip_that_is_not_sold_is_not_priced_either(
    client: Client, partner: Partner, departure: int, arrival: int, fields: list[str]
) -> None:
    days = {"departure_date": departure, "arrival_date": arrival}
    changed = {name: (clock.today() + timedelta(days=ahead)).isoformat() for name, ahead in days.items()}
    body = {**build_example(insurer_c.TravelPriceRequest), **changed}
    priced = client.post(TRAVEL_PRICE, key=partner.test_key, json=body)
    for answer in (priced, buy(client, partner, insurer_c.TRAVEL, **changed)):
        assert answer.status_code == 400
        assert [fault["field"] for fault in answer.json()["errorData"]] == fields


def test_a_loan_is_priced_as_it_is_sold(client: Client, partner: Partner) -> None:
    body = build_example(credit_life.CreditLifePriceRequest)
    del body["benefit_coverage"]
    price = client.post(LOAN_PRICE, key=partner.test_key, json=body).json()["data"]["price"]
    sold = buy(client, partner, credit_life.CREDIT_LIFE).json()["data"]
    assert f"{price:.2f}" == sold["genius_price"] == "575.00"
    assert client.get("/v1/purchase", key=partner.test_key).json()["data"]["total_count"] == 1
