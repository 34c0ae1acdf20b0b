"""Every cover sells over HTTP by one handler, at its own path and with its own model (contract S1, S9, S12)."""

from typing import Any

import pytest

from core.api.app import api
from core.covers.cover import Cover, ResponseShape
from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.insurers.insurer_b import COMPREHENSIVE
from core.covers.registry import COVERS, get_cover
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case

every_cover = every_case("cover", COVERS, ids=lambda cover: cover.key)


def buy(client: Client, partner: Partner, cover: Cover[Any], **changed: Any) -> Any:
    body = {**build_example(cover.request), **changed}
    return client.post(f"/v1{cover.path}", key=partner.test_key, json=body)


@every_cover
def test_every_cover_sells_over_http_at_its_path(client: Client, partner: Partner, cover: Cover[Any]) -> None:
    answer = buy(client, partner, cover, agent_code="A-17")
    assert answer.status_code == 201, answer.text
    assert answer.headers["X-Ignored-Fields"] == "agent_code"
    data = answer.json()["data"]
    policy = data if cover.response_shape is ResponseShape.DIRECT else data["policy"]
    assert set(data) == {"policy"} or cover.response_shape is ResponseShape.DIRECT
    assert (policy["active"], policy["submitted_to_provider"]) == (
        cover.initial_state.active,
        cover.initial_state.submitted,
    )
    assert "A-17" not in answer.text
    purchase = client.get(f"/v1/purchase/{policy['purchase_id']}", key=partner.test_key).json()["data"]["purchase"]
    assert purchase["total"] == policy["genius_price"]


def test_extras_inside_items_are_named_with_their_place(client: Client, partner: Partner) -> None:
    cover = get_cover("insurer-b", "buy-office-content-cover")
    assert cover
    items = [{"name": "Desk", "amount": "90000"}, {"name": "Lamp", "amount": "4000", "colour": "red"}]
    answer = buy(client, partner, cover, office_items=items, zone="A")
    assert answer.status_code == 201, answer.text
    assert answer.headers["X-Ignored-Fields"] == "office_items.1.colour,zone"


@pytest.mark.both_databases
def test_what_only_the_store_knows_to_be_wrong_is_named_together(client: Client, partner: Partner) -> None:
    cover = get_cover("insurer-b", "buy-office-content-cover")
    assert cover
    foreign = {"identification_url": "http://127.0.0.1:8501/v1/files/" + "a" * 26}
    unknown = {"product_id": "01900000-0000-7000-8000-0000000000ff"}
    answer = buy(client, partner, cover, **foreign, **unknown)
    assert {fault["field"] for fault in answer.json()["errorData"]} == {"identification_url", "product_id"}


def test_a_past_start_is_named_with_the_other_faults(client: Client, partner: Partner) -> None:
    content, loan = get_cover("insurer-b", "buy-office-content-cover"), get_cover("", "buy-credit-life")
    assert content
    assert loan
    answer = buy(client, partner, content, email="bad", insurance_start_date="2020-01-01")
    assert {fault["field"] for fault in answer.json()["errorData"]} == {"email", "insurance_start_date"}
    answer = buy(client, partner, loan, gender="?", loan_start_date="2020-01-01")
    assert {fault["field"] for fault in answer.json()["errorData"]} == {"gender", "loan_start_date"}


@every_case("cover", COVERS, ids=lambda cover: cover.key)
def test_its_own_model_stands_in_the_openapi_page(cover: Cover[Any]) -> None:
    document = api.openapi()
    content = document["paths"][cover.path]["post"]["requestBody"]["content"]["application/json"]
    name = content["schema"]["$ref"].rpartition("/")[2]
    schema = document["components"]["schemas"][name]
    assert name == cover.request.__name__
    once = {"loan_account_number"} if cover.route == "buy-credit-life" else set()
    assert set(schema["properties"]) == set(cover.request.model_fields) == set(content["example"]) | once
    assert not once & set(content["example"])
    required = {field for field, info in cover.request.model_fields.items() if info.is_required()}
    assert set(schema["required"]) == required


def test_a_second_sale_of_a_plate_is_409_with_the_first_policy(client: Client, partner: Partner) -> None:
    first = buy(client, partner, COMPREHENSIVE).json()["data"]
    again = buy(client, partner, COMPREHENSIVE)
    assert again.status_code == 409
    assert again.json()["errorData"] == {"policy_id": first["id"], "policy_number": None}


def test_a_twin_of_a_loan_is_flagged_in_the_header(client: Client, partner: Partner) -> None:
    first = buy(client, partner, CREDIT_LIFE)
    again = buy(client, partner, CREDIT_LIFE)
    assert "X-Possible-Duplicate-Of" not in first.headers
    assert again.headers["X-Possible-Duplicate-Of"] == first.json()["data"]["id"]
