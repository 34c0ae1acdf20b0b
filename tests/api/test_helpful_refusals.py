"""Refusals that say what to do: which of two places, what a country is called here, which field is too small."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_a, insurer_b, insurer_c, insurer_d
from core.store.access import Scope, Store, write_only_at
from core.store.schema import versions
from core.store.schema.tables import Product, Purchase
from tests.api.conftest import Client
from tests.api.selling import buy, data_of
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case

OFFICE, TRAVEL = insurer_b.OFFICE, insurer_c.TRAVEL
PRICE = "/v1/products/credit-life-price"


def faults(client: Client, partner: Partner, cover: Cover[Any], **changed: Any) -> dict[str, str]:
    answer = client.post(f"/v1{cover.path}", key=partner.test_key, json=shipped.body(cover, **changed))
    assert answer.status_code == 400, answer.text
    return {fault["field"]: fault["message"] for fault in answer.json()["errorData"]}


@every_case("written", ["Surulere", " SURULERE "])
def test_a_local_government_area_of_two_states_names_both(client: Client, partner: Partner, written: str) -> None:
    message = "must be one of LAGOS-Surulere, OYO-Surulere"
    assert faults(client, partner, OFFICE, lga=written) == {"lga": message}
    buy(client, partner.test_key, OFFICE, lga="oyo-surulere")


@every_case(
    ("written", "meant"),
    [
        ("UK", "United Kingdom"),
        ("u.k.", "United Kingdom"),
        ("USA", "United States"),
        ("U.S.A.", "United States"),
        ("Ivory Coast", "Côte d'Ivoire"),
        ("Türkiye", "Türkiye"),
        ("Turkey", "Türkiye"),
    ],
)
def test_usual_names_of_countries_are_understood(client: Client, partner: Partner, written: str, meant: str) -> None:
    passport = f"A{len(written)}{written.encode().hex()[:8]}"
    sold = buy(client, partner.test_key, TRAVEL, destination=written, passport_number=passport)
    assert meant in json.dumps(sold["meta"], ensure_ascii=False)


def test_a_country_is_priced_alike_by_each_of_its_names(client: Client, partner: Partner) -> None:
    prices = {
        buy(client, partner.test_key, TRAVEL, destination=name, passport_number=f"A{number:07d}")["genius_price"]
        for number, name in enumerate(("United States", "USA", "america"))
    }
    assert len(prices) == 1


def test_what_looks_like_a_value_of_a_list_is_suggested(client: Client, partner: Partner) -> None:
    message = "must be from the countries lookup, did you mean Germany?"
    assert faults(client, partner, TRAVEL, destination="Germny") == {"destination": message}
    message = "must be from the colour list, did you mean Turquoise?"
    assert faults(client, partner, insurer_a.THIRD_PARTY, vehicle_color="turkoise") == {"vehicle_color": message}
    assert faults(client, partner, TRAVEL, destination="Atlantis") == {
        "destination": "must be from the countries lookup"
    }


@every_case(("written", "meant"), [("Gray", "Grey"), ("dark GRAY", "Dark grey")])
def test_gray_is_grey(client: Client, partner: Partner, written: str, meant: str) -> None:
    plate = f"LSD-{100 + len(written)}AB"
    changed = {"vehicle_color": written, "vehicle_registration_number": plate}
    sold = buy(client, partner.test_key, insurer_d.MINI_COMPREHENSIVE, **changed)
    assert meant in json.dumps(sold["meta"])


@every_case("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_body_in_another_encoding_is_told_so(client: Client, partner: Partner, encoding: str) -> None:
    sent = json.dumps(shipped.body(CREDIT_LIFE)).encode(encoding)
    headers = {"Content-Type": "application/json"}
    answer = client.post(PRICE, key=partner.test_key, content=sent, headers=headers)
    assert answer.status_code == 400
    message = f"must be in UTF-8, and this is {encoding[:6].upper()}"
    assert answer.json()["errorData"] == [{"field": "body", "message": message}]


def test_a_loan_too_small_for_a_premium_is_at_fault_itself(client: Client, partner: Partner) -> None:
    expected = {"loan_amount": "must come to a premium: what costs nothing is not covered"}
    assert faults(client, partner, CREDIT_LIFE, loan_amount=0.01) == expected
    body = {"product_id": shipped.body(CREDIT_LIFE)["product_id"], "loan_amount": 0.01, "loan_tenure": 12}
    answer = client.post(PRICE, key=partner.test_key, json=body)
    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["errorData"]] == ["loan_amount"]


def test_names_of_products_are_sorted_without_case(store: Store, client: Client, partner: Partner) -> None:
    first = data_of(client, partner.test_key, "products/get-all-products")["products"][0]
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Product).where(Product.name == first["name"]).values(name="zebra cover"))
    names = [each["name"] for each in data_of(client, partner.test_key, "products/get-all-products")["products"]]
    assert names[-1] == "zebra cover"
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Product).where(Product.name == "zebra cover").values(name="aardvark cover"))
    names = [each["name"] for each in data_of(client, partner.test_key, "products/get-all-products")["products"]]
    assert names[0] == "aardvark cover"


def test_a_server_of_another_release_than_the_store_says_so_and_sells_nothing(
    store: Store, client: Client, partner: Partner, capsys: pytest.CaptureFixture[str]
) -> None:
    sale = {"key": partner.test_key, "json": shipped.body(OFFICE), "headers": {"Idempotency-Key": "once"}}
    write_only_at("0057")
    refused = client.post(f"/v1{OFFICE.path}", **sale)
    write_only_at(versions.newest())
    sold = client.post(f"/v1{OFFICE.path}", **sale)
    write_only_at(None)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert refused.json()["responseText"].startswith("This server is of another release than the store by now")
    assert sold.status_code == 201
    with store.reading(Scope.system()) as session:
        assert session.count_rows(Purchase) == 1
    first, second = [line for line in capsys.readouterr().err.splitlines() if "method=POST" in line]
    assert f"reason='the store stands at version {versions.newest()}, this release is made for 0057'" in first
    assert "reason=" not in second
