"""Purchases and policies over the API: what was sold is there, and only for its own distributor and mode."""

from typing import Any

import pytest

from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from tests.api.conftest import Client
from tests.api.selling import broken, page_of
from tests.conftest import Partner
from tests.every_case import every_case

BUY = "/v1/products/buy-credit-life"


@pytest.fixture
def loan() -> dict[str, Any]:
    return build_example(CREDIT_LIFE.request)


@pytest.fixture
def sold(client: Client, partner: Partner, loan: dict[str, Any]) -> dict[str, Any]:
    """One credit life policy sold in test mode, as the sale answered it."""
    answer = client.post(BUY, key=partner.test_key, json=loan)
    assert answer.status_code == 201, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def test_sale_answers_with_the_policy_directly_under_data(sold: dict[str, Any], partner: Partner) -> None:
    assert sold["active"] is True
    assert sold["submitted_to_provider"] is True
    assert sold["genius_price"] == "575.00"
    assert sold["app_mode"] == "test"
    assert sold["distributor_id"] == str(partner.id)
    assert sold["meta"]["policy_number"]
    assert sold["meta"]["certificate_url"].startswith("http://127.0.0.1:8501/certificates/")


def test_sold_policy_appears_in_purchases_and_policies(client: Client, partner: Partner, sold: dict[str, Any]) -> None:
    purchases = client.get("/v1/purchase", key=partner.test_key).json()["data"]
    assert purchases["total_count"] == 1
    (purchase,) = purchases["purchases"]
    assert purchase["total"] == "575.00"
    assert purchase["policy_id"] == sold["id"]
    assert purchase["customer"]["email"] == sold["email"]
    assert purchase["product"]["id"] == sold["product_id"]
    assert purchase["productCategory"]["name"] == "Credit Life"
    assert purchase["provider"]["id"] == sold["provider_id"]
    one = client.get(f"/v1/purchase/{purchase['id']}", key=partner.test_key).json()["data"]["purchase"]
    assert one == purchase
    listed = client.get("/v1/policies", key=partner.test_key).json()["data"]["policies"][0]
    assert listed["purchase"] == {"id": purchase["id"], "total": "575.00"}
    assert set(listed["distributor"]) == {"id", "business_name"}
    policy = client.get(f"/v1/policies/{sold['id']}", key=partner.test_key).json()["data"]["policy"]
    assert policy["purchase"]["mca_profit"] == purchase["mca_profit"]
    assert policy["customer"] == purchase["customer"]


def test_other_distributor_and_other_mode_see_nothing(
    client: Client, partner: Partner, stranger: Partner, sold: dict[str, Any]
) -> None:
    for key in (partner.live_key, stranger.test_key, stranger.live_key):
        assert client.get("/v1/purchase", key=key).json()["data"] == page_of("purchases", [])
        assert client.get(f"/v1/policies/{sold['id']}", key=key).status_code == 404
        assert client.get(f"/v1/purchase/{sold['purchase_id']}", key=key).status_code == 404


@every_case("query", ["limit=0", "limit=101", "limit=-1", "page=0", "page=1e20", "page=x", "limit=1.5"])
def test_impossible_pages_are_refused(client: Client, partner: Partner, query: str) -> None:
    answer = client.get(f"/v1/purchase?{query}", key=partner.test_key)
    assert answer.status_code == 400
    assert answer.json()["errorData"][0]["field"] in {"page", "limit"}


def test_a_page_beyond_the_largest_is_told_which_that_is(client: Client, partner: Partner) -> None:
    for page in ("1000000001", "99999999999999999999", "9" * 5000):
        answer = client.get(f"/v1/purchase?page={page}", key=partner.test_key)
        assert answer.status_code == 400, answer.text
        assert answer.json()["errorData"] == [{"field": "page", "message": "must be at most 1000000000"}]


@every_case(
    "wanted",
    [
        "",
        "start_date=2020-01-01",
        "customer_type=principal",
        "customer_email=ngozi.okafor@example.com",
        "expired_start_date=2020-01-01",
    ],
)
@every_case("page", ["page=2", "page=1000000000&limit=100"])
def test_page_past_the_end_is_empty_with_the_true_total(
    client: Client, partner: Partner, sold: dict[str, Any], page: str, wanted: str
) -> None:
    answer = client.get(f"/v1/purchase/search?{page}&{wanted}", key=partner.test_key)
    assert (answer.status_code, answer.json()["data"]) == (200, page_of("purchases", [], 1))


@every_case(
    ("query", "count"),
    [
        ("customer_email=NGOZI.Okafor@example.com", 1),
        ("customer_email=ngozi", 0),
        ("customer_type=principal", 1),
        ("customer_type=beneficiary", 0),
        ("provider_id=01900000-0000-7000-8000-00000000b007", 1),
        ("provider_id=01900000-0000-7000-8000-00000000b001", 0),
        ("start_date=2020-01-01&end_date=2020-01-02", 0),
        ("start_date=2020-01-01", 1),
        ("start_date=0001-01-01&end_date=9999-12-31", 1),
        ("start_date=9999-12-31T23:59:59Z", 0),
        ("start_date=2020-01-01%2023:59:59", 1),
        ("start_date=2999-01-01 00:00:00 01:00", 0),
        ("end_date=0001-01-01", 0),
        ("expired_start_date=2020-01-01&expired_end_date=2999-01-01", 1),
        ("expired_end_date=2020-01-01", 0),
        ("customer_email=", 1),
        ("limit=%205%20&page=%201", 1),
        ("start_date=%202020-01-01%20&timezone=%20utc", 1),
        ("provider_id=%2001900000-0000-7000-8000-00000000b001%20", 0),
        ("unknown=1", 1),
    ],
)
def test_search_narrows_by_each_parameter(
    client: Client, partner: Partner, sold: dict[str, Any], query: str, count: int
) -> None:
    answer = client.get(f"/v1/purchase/search?{query}", key=partner.test_key)
    assert answer.status_code == 200
    assert answer.json()["data"]["total_count"] == count == len(answer.json()["data"]["purchases"])


@every_case(
    ("query", "field"),
    [
        ("customer_id=x", "customer_id"),
        ("provider_id=1", "provider_id"),
        ("start_date=2026-02-30", "start_date"),
        ("start_date=0001-01-01T00:00:00%2B14:00", "start_date"),
        ("start_date=yesterday", "start_date"),
        ("start_date=2026-02-02&end_date=2026-02-01", "end_date"),
        ("customer_type=nobody", "customer_type"),
    ],
)
def test_malformed_filters_are_refused_by_name(client: Client, partner: Partner, query: str, field: str) -> None:
    answer = client.get(f"/v1/purchase/search?{query}", key=partner.test_key)
    assert answer.status_code == 400
    assert [fault["field"] for fault in answer.json()["errorData"]] == [field]


@every_case("path", ["/v1/purchase/x", "/v1/policies/1", "/v1/products/x"])
def test_malformed_id_is_400_and_unknown_is_404(client: Client, partner: Partner, path: str) -> None:
    assert client.get(path, key=partner.test_key).status_code == 400
    unknown = path.rsplit("/", 1)[0] + "/01900000-0000-7000-8000-0000000000ff"
    assert client.get(unknown, key=partner.test_key).status_code == 404


def test_same_key_and_body_replays_the_first_answer(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    first, second = (
        client.post(BUY, key=partner.test_key, json=body, headers={"Idempotency-Key": "k-1"})
        for body in (loan, dict(reversed(loan.items())))
    )
    assert first.status_code == second.status_code == 201
    assert first.content == second.content
    assert client.get("/v1/purchase", key=partner.test_key).json()["data"]["total_count"] == 1


def test_same_key_with_another_body_is_a_conflict(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "k-1"}
    client.post(BUY, key=partner.test_key, json=loan, headers=headers)
    answer = client.post(BUY, key=partner.test_key, json={**loan, "loan_amount": 1}, headers=headers)
    assert answer.status_code == 409
    other_mode = client.post(BUY, key=partner.live_key, json={**loan, "loan_amount": 1}, headers=headers)
    assert other_mode.status_code == 201


def test_refused_body_does_not_use_up_its_key(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    headers = {"Idempotency-Key": "k-2"}
    wrong = {**loan, "product_id": "01900000-0000-7000-8000-000000010201"}
    # Two keys would be two answers to whether this was sold before.
    twice = [("Idempotency-Key", "k-1"), ("Idempotency-Key", "k-2")]
    assert broken(client.post(BUY, key=partner.test_key, json=loan, headers=twice)) == ["Idempotency-Key"]
    assert client.post(BUY, key=partner.test_key, json=wrong, headers=headers).status_code == 400
    assert client.post(BUY, key=partner.test_key, json=loan, headers=headers).status_code == 201


def test_second_sale_of_the_same_loan_is_flagged(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    first = client.post(BUY, key=partner.test_key, json=loan)
    second = client.post(BUY, key=partner.test_key, json=loan)
    assert second.headers["X-Possible-Duplicate-Of"] == first.json()["data"]["id"]
    assert "X-Possible-Duplicate-Of" not in first.headers


def test_refused_sale_leaves_nothing_behind(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    over = {**loan, "loan_start_date": "2001-01-01"}
    answer = client.post(BUY, key=partner.test_key, json=over)
    assert answer.status_code == 400
    assert answer.json()["errorData"][0]["field"] == "loan_start_date"
    assert client.get("/v1/purchase", key=partner.test_key).json()["data"]["total_count"] == 0
    assert client.get("/v1/policies", key=partner.test_key).json()["data"]["total_count"] == 0
