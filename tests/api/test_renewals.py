"""Renewals over the API: one more term of third-party auto, and how renewals are read (contract R1-R3, P3-P5)."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from core import clock
from core.covers.insurers import insurer_a, insurer_b
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN, broken, buy, data_of, page_of
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case

pytestmark = pytest.mark.frozen_at(shipped.STILL)

RENEW = "/v1/products/insurer-a/renew-third-party"
FIELDS = {
    *("id", "policy_id", "purchase_id", "customer_id", "product_id", "product_category_id", "distributor_id"),
    *("provider_id", "status", "total", "mca_profit", "distributor_profit", "previous_expiration_date"),
    *("start_date", "expiration_date", "payment_option", "payment_channel", "request_source", "is_live"),
    *("created_at", "updated_at", "deleted_at", "customer", "product", "productCategory", "provider", "policy"),
}


@contextmanager
def near_expiry(days: int = 350) -> Iterator[None]:
    with clock.freeze(shipped.STILL + timedelta(days=days)):
        yield


@pytest.fixture
def policy(client: Client, partner: Partner) -> dict[str, Any]:
    """A third-party auto policy of test mode."""
    return buy(client, partner.test_key, insurer_a.THIRD_PARTY)


@pytest.fixture
def live_policy(client: Client, partner: Partner) -> dict[str, Any]:
    """The same of live mode, where the window holds."""
    return buy(client, partner.live_key, insurer_a.THIRD_PARTY)


def renew(client: Client, partner: Partner, policy_id: Any, *, is_live: bool = False, **options: Any) -> Any:
    key = partner.live_key if is_live else partner.test_key
    return client.post(RENEW, key=key, json={"policy_id": policy_id}, **options)


@pytest.fixture
def renewal(client: Client, partner: Partner, policy: dict[str, Any]) -> dict[str, Any]:
    """The renewal of that policy, as the list has it."""
    with near_expiry():
        assert renew(client, partner, policy["id"]).status_code == 201
    (row,) = data_of(client, partner.test_key, "renewals")["renewals"]
    return row  # type: ignore[no-any-return]


def test_renewal_answers_with_the_policy_under_policy(client: Client, partner: Partner, policy: dict[str, Any]) -> None:
    with near_expiry():
        answer = renew(client, partner, policy["id"])
    assert answer.status_code == 201
    assert set(answer.json()["data"]) == {"policy"}
    renewed = answer.json()["data"]["policy"]
    assert set(renewed) == set(policy)
    assert renewed["expiration_date"] == "2028-11-20T00:00:00.000Z"
    assert renewed["active"] is True
    assert data_of(client, partner.test_key, f"policies/{policy['id']}")["policy"]["meta"] == renewed["meta"]


def test_old_and_new_certificate_both_open(client: Client, partner: Partner, policy: dict[str, Any]) -> None:
    with near_expiry():
        renewed = renew(client, partner, policy["id"]).json()["data"]["policy"]
        for shown in (policy, renewed):
            path = shown["meta"]["certificate_url"].removeprefix("http://127.0.0.1:8501")
            assert client.get(path).headers["content-type"] == "application/pdf"


@every_case(
    ("body", "message"),
    [
        ({}, "policy_id is required"),
        ({"policy_id": " "}, "policy_id is required"),
        ({"policy_id": "x"}, "policy_id must be a UUID"),
        ({"policy_id": 5}, "policy_id must be a text"),
        ({"policy_id": None}, "policy_id is required"),
    ],
)
def test_policy_id_is_required_and_judged(client: Client, partner: Partner, body: Any, message: str) -> None:
    answer = client.post(RENEW, key=partner.test_key, json=body)
    assert broken(answer) == ["policy_id"]
    assert answer.json()["responseText"] == message


def test_unknown_foreign_and_other_mode_policies_are_not_found(
    client: Client, partner: Partner, stranger: Partner, policy: dict[str, Any]
) -> None:
    tries = [(stranger.test_key, policy["id"]), (partner.live_key, policy["id"]), (partner.test_key, UNKNOWN)]
    with near_expiry():
        for key, policy_id in tries:
            answer = client.post(RENEW, key=key, json={"policy_id": policy_id})
            assert (answer.status_code, answer.json()["responseText"]) == (404, "Policy not found")
        assert client.post(RENEW, json={"policy_id": policy["id"]}).status_code == 401


@every_case("cover", [insurer_a.COMPREHENSIVE, insurer_b.THIRD_PARTY], ids=lambda cover: cover.key)
def test_other_covers_are_a_conflict_with_the_reason(client: Client, partner: Partner, cover: Any) -> None:
    other = buy(client, partner.test_key, cover)
    answer = renew(client, partner, other["id"])
    assert answer.status_code == 409
    assert answer.json()["data"] == {}
    assert answer.json()["errorData"]["reason"] == "This policy is not third-party auto of insurer-a"


def test_outside_the_window_is_a_conflict_with_the_dates(
    client: Client, partner: Partner, live_policy: dict[str, Any]
) -> None:
    answer = renew(client, partner, live_policy["id"], is_live=True)
    assert answer.status_code == 409
    assert answer.json()["errorData"] == {
        "reason": "This policy can be renewed from 2027-08-22",
        "policy_id": live_policy["id"],
        "start_date": "2026-11-20T00:00:00.000Z",
        "expiration_date": "2027-11-20T00:00:00.000Z",
        "renewable_from": "2027-08-22",
        "renewable_until": "2027-12-20",
    }


def test_second_renewal_of_a_term_is_refused_with_the_first_ones_id(
    client: Client, partner: Partner, live_policy: dict[str, Any]
) -> None:
    with near_expiry():
        assert renew(client, partner, live_policy["id"], is_live=True).status_code == 201
        answer = renew(client, partner, live_policy["id"], is_live=True)
    (first,) = data_of(client, partner.live_key, "renewals")["renewals"]
    assert answer.status_code == 409
    assert answer.json()["errorData"]["renewal_id"] == first["id"]


def test_test_key_renews_at_any_time_and_a_live_one_does_not(
    client: Client, partner: Partner, policy: dict[str, Any], live_policy: dict[str, Any]
) -> None:
    answers = [renew(client, partner, policy["id"]) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    ends = [answer.json()["data"]["policy"]["expiration_date"] for answer in answers]
    assert ends == ["2028-11-20T00:00:00.000Z", "2029-11-20T00:00:00.000Z"]
    assert renew(client, partner, live_policy["id"], is_live=True).status_code == 409
    # The mode is the policy's, so no test key reaches a live policy to renew it early.
    assert renew(client, partner, live_policy["id"]).status_code == 404


def test_two_requests_that_meet_renew_once(client: Client, partner: Partner, live_policy: dict[str, Any]) -> None:
    meet = Barrier(2)

    def attempt(_: int) -> Any:
        meet.wait()
        return renew(client, partner, live_policy["id"], is_live=True)

    with near_expiry(), ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(attempt, range(2)), key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [201, 409]
    (row,) = data_of(client, partner.live_key, "renewals")["renewals"]
    assert answers[1].json()["errorData"]["renewal_id"] == row["id"]


def test_same_key_replays_the_renewal(client: Client, partner: Partner, policy: dict[str, Any]) -> None:
    with near_expiry():
        first, second = (renew(client, partner, policy["id"], headers={"Idempotency-Key": "renew-1"}) for _ in range(2))
    assert (first.status_code, first.content) == (second.status_code, second.content)
    assert data_of(client, partner.test_key, "renewals")["total_count"] == 1


def test_renewal_has_the_fields_of_the_contract(
    client: Client, partner: Partner, policy: dict[str, Any], renewal: dict[str, Any]
) -> None:
    assert set(renewal) == FIELDS
    assert renewal["previous_expiration_date"] == renewal["start_date"] == "2027-11-20T00:00:00.000Z"
    assert (renewal["total"], renewal["mca_profit"], renewal["distributor_profit"]) == ("15000.00", "1875.00", "750.00")
    assert renewal["policy"]["id"] == policy["id"]
    assert renewal["customer"]["email"] == policy["email"]
    assert renewal["product"]["id"] == policy["product_id"]
    assert renewal["productCategory"]["name"] == "Auto"
    assert renewal["provider"]["company_name"] == "Anchorline Insurance"
    assert (renewal["status"], renewal["is_live"]) == (True, False)


def test_one_renewal_has_its_fields_directly_under_data(
    client: Client, partner: Partner, renewal: dict[str, Any]
) -> None:
    assert data_of(client, partner.test_key, f"renewals/{renewal['id']}") == renewal


def test_renewals_of_others_are_not_there(
    client: Client, partner: Partner, stranger: Partner, renewal: dict[str, Any]
) -> None:
    for key in (partner.live_key, stranger.test_key, stranger.live_key):
        assert data_of(client, key, "renewals") == page_of("renewals", [])
        assert data_of(client, key, "renewals/search?status=true") == page_of("renewals", [])
        assert client.get(f"/v1/renewals/{renewal['id']}", key=key).status_code == 404
    assert client.get(f"/v1/renewals/{UNKNOWN}", key=partner.test_key).status_code == 404
    assert broken(client.get("/v1/renewals/x", key=partner.test_key)) == ["renewal_id"]


@every_case(
    ("query", "count"),
    [
        ("status=true", 1),
        ("status=TRUE", 1),
        ("status=false", 0),
        ("start_date=2027-11-05&end_date=2027-11-05", 1),
        ("end_date=2027-11-04", 0),
        ("start_date=2027-11-06", 0),
        ("expired_start_date=2028-11-20&expired_end_date=2028-11-20", 1),
        ("expired_end_date=2028-11-19", 0),
        ("customer_email=AMAKA.eze@example.com", 1),
        ("customer_email=amaka", 0),
        ("product_id=01900000-0000-7000-8000-000000010201", 1),
        ("product_id=01900000-0000-7000-8000-000000010202", 0),
        ("provider_id=01900000-0000-7000-8000-00000000b001", 1),
        ("provider_id=01900000-0000-7000-8000-00000000b002", 0),
        (f"customer_id={UNKNOWN}", 0),
        ("page=2", 0),
        ("anything=else", 1),
    ],
)
def test_search_narrows_by_each_parameter(
    client: Client, partner: Partner, renewal: dict[str, Any], query: str, count: int
) -> None:
    found = data_of(client, partner.test_key, f"renewals/search?{query}")
    assert len(found["renewals"]) == count
    assert found["total_count"] == (1 if query == "page=2" else count)


def test_search_by_customer_finds_theirs(client: Client, partner: Partner, renewal: dict[str, Any]) -> None:
    found = data_of(client, partner.test_key, f"renewals/search?customer_id={renewal['customer_id']}")
    assert found == page_of("renewals", [renewal])


@every_case(
    ("query", "fields"),
    [
        ("status=maybe", ["status"]),
        ("status=1&product_id=x", ["product_id", "status"]),
        ("start_date=05/11/2027", ["start_date"]),
        ("start_date=2027-11-06&end_date=2027-11-05", ["end_date"]),
        ("limit=101", ["limit"]),
    ],
)
def test_malformed_search_is_refused_by_field(client: Client, partner: Partner, query: str, fields: list[str]) -> None:
    answer = client.get(f"/v1/renewals/search?{query}", key=partner.test_key)
    assert sorted(broken(answer)) == fields
