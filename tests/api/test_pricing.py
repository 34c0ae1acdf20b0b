"""Prices over the API are those that a sale charges (contract S5, S6)."""

from typing import Any

from core.covers import credit_life
from core.covers.cover import Cover
from core.covers.fields import build_example
from core.covers.insurers import insurer_c
from tests.api.conftest import Client
from tests.conftest import Partner

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


def test_a_trip_too_long_is_refused_by_its_field(client: Client, partner: Partner) -> None:
    body = {**build_example(insurer_c.TravelPriceRequest), "arrival_date": "2199-01-01"}
    answer = client.post(TRAVEL_PRICE, key=partner.test_key, json=body)
    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["errorData"]] == ["arrival_date"]


def test_a_loan_is_priced_as_it_is_sold(client: Client, partner: Partner) -> None:
    body = build_example(credit_life.CreditLifePriceRequest)
    del body["benefit_coverage"]
    price = client.post(LOAN_PRICE, key=partner.test_key, json=body).json()["data"]["price"]
    sold = buy(client, partner, credit_life.CREDIT_LIFE).json()["data"]
    assert f"{price:.2f}" == sold["genius_price"] == "575.00"
    assert client.get("/v1/purchase", key=partner.test_key).json()["data"]["total_count"] == 1
