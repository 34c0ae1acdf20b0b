"""Customers over the API: one per e-mail, listed, searched, each with what they have (contract S2, P3, P6)."""

from typing import Any
from uuid import UUID

import pytest

from core.covers import credit_life
from core.covers.insurers import insurer_a, insurer_f
from core.store.access import Scope, Store
from core.store.schema.tables import Customer
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN, broken, buy, data_of, page_of
from tests.conftest import Partner
from tests.every_case import every_case

FIELDS = {
    *("id", "app_mode", "is_live", "first_name", "last_name", "business_id", "user_id", "email", "phone_number"),
    *("country", "gender", "title", "state_of_residence", "city", "address", "date_of_birth", "active"),
    *("identity_verification", "verification_type", "face_image", "is_kyc_complete", "wallet_id"),
    *("created_at", "updated_at", "deleted_at"),
}
SUB_LISTS = ("purchases", "renewals", "policies", "claims")


@pytest.fixture
def ngozi(client: Client, partner: Partner) -> dict[str, Any]:
    """Somebody who bought credit life in test mode."""
    policy = buy(client, partner.test_key, credit_life.CREDIT_LIFE)
    customer: dict[str, Any] = data_of(client, partner.test_key, f"customers/{policy['customer_id']}")["customer"]
    return customer


@pytest.fixture
def sola(store: Store, partner: Partner) -> str:
    """Somebody who has not bought anything yet, and is not active."""
    row = Customer(
        distributor_id=partner.id,
        is_live=False,
        email="Sola@example.com",
        email_key="sola@example.com",
        name_key="sola o_dunlami",
        first_name="Ṣọlá",
        last_name="O_Dunlami",
        phone_number="08099998888",
        user_id=UUID(UNKNOWN),
        active=False,
    )
    with store.writing(Scope.system()) as session:
        session.insert(row)
    return str(row.id)


def test_customer_has_the_fields_of_the_specification(ngozi: dict[str, Any], partner: Partner) -> None:
    assert set(ngozi) == FIELDS
    assert (ngozi["first_name"], ngozi["last_name"]) == ("Ngozi", "Okafor")
    assert (ngozi["app_mode"], ngozi["is_live"], ngozi["active"]) == ("test", False, True)
    assert ngozi["business_id"] == str(partner.id)
    assert ngozi["date_of_birth"] == "1990-04-12"


def test_customers_are_listed_newest_first(client: Client, partner: Partner, ngozi: dict[str, Any]) -> None:
    newer = buy(client, partner.test_key, insurer_f.PERSONAL_ACCIDENT)
    found = data_of(client, partner.test_key, "customers")
    assert found["total_count"] == 2
    assert [row["id"] for row in found["customers"]] == [newer["customer_id"], ngozi["id"]]
    second = data_of(client, partner.test_key, "customers?page=2&limit=1")
    assert second == page_of("customers", [ngozi], 2)


def test_second_sale_to_the_same_email_keeps_one_customer(
    client: Client, partner: Partner, ngozi: dict[str, Any]
) -> None:
    policy = buy(client, partner.test_key, insurer_a.THIRD_PARTY, email=ngozi["email"].upper())
    assert policy["customer_id"] == ngozi["id"]
    found = data_of(client, partner.test_key, "customers")
    assert found["total_count"] == 1
    assert found["customers"][0]["first_name"] == "Amaka"


@every_case(
    ("query", "names"),
    [
        ("search=NGOZI", ["Ngozi"]),
        ("search=kafo", ["Ngozi"]),
        ("search=ngozi okafor", ["Ngozi"]),
        ("search=OKAFOR@EXAMPLE", ["Ngozi"]),
        ("search=0803123", ["Ngozi"]),
        ("search=example.com", ["Ṣọlá", "Ngozi"]),
        ("search=ṣọlá", ["Ṣọlá"]),
        ("search=ṢỌLÁ", ["Ṣọlá"]),
        ("search=sola", ["Ṣọlá"]),
        ("search=SOLA o_d", ["Ṣọlá"]),
        ("search=S\u0323o\u0323la\u0301", ["Ṣọlá"]),
        ("search=\u0301", []),
        ("search=ngọ́zi", ["Ngozi"]),
        ("search=o_d", ["Ṣọlá"]),
        ("search=%25", []),
        ("search=nobody", []),
        ("active=true", ["Ngozi"]),
        ("active=False", ["Ṣọlá"]),
        ("search=example&active=true", ["Ngozi"]),
        ("end_date=2020-01-01", []),
        ("start_date=2020-01-01", ["Ṣọlá", "Ngozi"]),
        ("search=", ["Ṣọlá", "Ngozi"]),
    ],
)
def test_list_narrows_by_each_parameter(
    client: Client, partner: Partner, ngozi: dict[str, Any], sola: str, query: str, names: list[str]
) -> None:
    found = data_of(client, partner.test_key, f"customers?{query}")
    assert [row["first_name"] for row in found["customers"]] == names
    assert found["total_count"] == len(names)


def test_only_buyers_have_purchased(client: Client, partner: Partner, ngozi: dict[str, Any], sola: str) -> None:
    assert data_of(client, partner.test_key, "customers")["total_count"] == 2
    assert data_of(client, partner.test_key, "customers/has-purchased") == page_of("customers", [ngozi])


@every_case(
    ("query", "fields"),
    [
        ("active=yes", ["active"]),
        ("start_date=2026-13-01", ["start_date"]),
        ("start_date=2026-02-02&end_date=2026-02-01", ["end_date"]),
        ("limit=0&page=-1", ["limit", "page"]),
        (f"search={'x' * 201}", ["search"]),
    ],
)
@every_case("path", ["customers", "customers/has-purchased"])
def test_malformed_filters_are_refused_by_name(
    client: Client, partner: Partner, path: str, query: str, fields: list[str]
) -> None:
    assert sorted(broken(client.get(f"/v1/{path}?{query}", key=partner.test_key))) == fields


def test_sub_lists_hold_what_the_customer_has_and_nothing_else(
    client: Client, partner: Partner, ngozi: dict[str, Any]
) -> None:
    key = partner.test_key
    buy(client, key, insurer_f.PERSONAL_ACCIDENT)
    purchases = data_of(client, key, f"customers/purchases/{ngozi['id']}")
    policies = data_of(client, key, f"customers/policies/{ngozi['id']}")
    assert (purchases["total_count"], policies["total_count"]) == (1, 1)
    assert purchases["purchases"][0]["customer"] == ngozi
    assert policies["policies"][0]["purchase"]["id"] == purchases["purchases"][0]["id"]
    assert data_of(client, key, f"customers/renewals/{ngozi['id']}") == page_of("renewals", [])
    assert data_of(client, key, f"customers/claims/{ngozi['id']}") == page_of("claims", [])


def test_sub_lists_have_pages(client: Client, partner: Partner, ngozi: dict[str, Any]) -> None:
    for kind in SUB_LISTS:
        found = data_of(client, partner.test_key, f"customers/{kind}/{ngozi['id']}?page=9&limit=5")
        assert found[kind] == []
        refused = client.get(f"/v1/customers/{kind}/{ngozi['id']}?limit=x", key=partner.test_key)
        assert broken(refused) == ["limit"]


def test_unknown_foreign_and_other_mode_customers_are_not_found(
    client: Client, partner: Partner, stranger: Partner, ngozi: dict[str, Any]
) -> None:
    tries = [(partner.test_key, UNKNOWN), *((key, ngozi["id"]) for key in (partner.live_key, stranger.test_key))]
    for key, customer_id in tries:
        for path in ("customers", *(f"customers/{kind}" for kind in SUB_LISTS)):
            answer = client.get(f"/v1/{path}/{customer_id}", key=key)
            assert (answer.status_code, answer.json()["responseText"]) == (404, "Customer not found")
    assert data_of(client, stranger.test_key, "customers") == page_of("customers", [])


@every_case("path", ["customers/x", *(f"customers/{kind}/x" for kind in SUB_LISTS)])
def test_malformed_id_is_refused_by_name(client: Client, partner: Partner, path: str) -> None:
    assert broken(client.get(f"/v1/{path}", key=partner.test_key)) == ["customer_id"]
