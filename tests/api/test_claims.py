"""Claims over the API: listed, searched by every parameter, read one by one (contract P2, P4, P6)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from core.store.access import Store
from tests.api.claiming import Lodge, claim_of, faults_of
from tests.api.conftest import Client
from tests.api.selling import page_of
from tests.conftest import Partner
from tests.every_case import every_case

FOUND = [
    ("status=pending", True),
    ("status=Paid", False),
    ("claim_status=pending", True),
    ("claim_status=Paid", False),
    ("incident_start_date=2026-11-18&incident_end_date=2026-11-18", True),
    ("incident_start_date=2026-11-18T00:00:00Z&incident_end_date=2026-11-18T00:00:00Z", True),
    ("incident_start_date=2026-11-18T00:00:01Z", False),
    ("incident_start_date=2026-11-19", False),
    ("incident_end_date=2026-11-17", False),
    ("customer_id=01900000-0000-7000-8000-0000000000ff", False),
    ("customer_email=NGOZI.OKAFOR@example.com", True),
    ("customer_email=okafor@example.com", False),
    ("first_name=ngozi&last_name=OKAFOR", True),
    ("first_name=ngo", False),
    ("phone_number=%2B2348031234567", True),
    ("phone_number=+2348031234567", True),
    ("phone_number=0803%20123%204567", True),
    ("phone_number=(080)31234567", True),
    ("phone_number=08031234568", False),
    ("phone_number=0803", False),
    ("claim_type=credit%20LIFE", True),
    ("claim_type=Gadget", False),
    ("claim_owner=wne", True),
    ("claim_owner=zi%20oka", True),
    ("claim_owner=100%25", False),
    ("claim_amount=0&offer_amount=0.0&repair_estimate=0.00", True),
    ("claim_amount=1", False),
    ("unknown=1", True),
    ("status=", True),
]
MALFORMED = [
    ("status=Lost", "status"),
    ("incident_start_date=yesterday", "incident_start_date"),
    ("incident_start_date=2026-11-19&incident_end_date=2026-11-18", "incident_end_date"),
    ("customer_id=me", "customer_id"),
    ("claim_amount=much", "claim_amount"),
    ("offer_amount=-1", "offer_amount"),
    ("repair_estimate=1.001", "repair_estimate"),
    ("page=0", "page"),
    ("limit=101", "limit"),
]


@pytest.fixture
def lodge(client: Client, partner: Partner) -> Lodge:
    return Lodge(client, partner)


def test_claim_is_listed_searched_and_read_alike(lodge: Lodge, client: Client, partner: Partner) -> None:
    older, newer = claim_of(lodge()), claim_of(lodge())
    for path in ("/v1/claims", "/v1/claims/search", f"/v1/customers/claims/{newer['customer_id']}"):
        data = client.get(path, key=partner.test_key).json()["data"]
        assert data == page_of("claims", [newer, older])
    second = client.get("/v1/claims?limit=1&page=2", key=partner.test_key).json()["data"]
    assert second == page_of("claims", [older], 2)
    one = client.get(f"/v1/claims/{newer['id']}", key=partner.test_key).json()
    assert (one["responseText"], one["data"]) == ("Claim retrieved", {"claim": newer})


def test_others_see_no_claim_of_mine(lodge: Lodge, client: Client, partner: Partner, stranger: Partner) -> None:
    claim = claim_of(lodge())
    for key in (partner.live_key, stranger.test_key, stranger.live_key):
        assert client.get("/v1/claims", key=key).json()["data"] == page_of("claims", [])
        assert client.get(f"/v1/claims/search?customer_id={claim['customer_id']}", key=key).json()["data"] == page_of(
            "claims", []
        )
        for path in (f"/v1/claims/{claim['id']}", f"/v1/customers/claims/{claim['customer_id']}"):
            assert client.get(path, key=key).status_code == 404


@every_case(
    ("path", "status"),
    [("credit-life", 405), ("abc", 400), ("01900000-0000-7000-8000-0000000000ff", 404)],
)
def test_path_that_is_no_claim_of_mine(client: Client, partner: Partner, path: str, status: int) -> None:
    assert client.get(f"/v1/claims/{path}", key=partner.test_key).status_code == status


def test_search_narrows_by_every_parameter(client: Client, partner: Partner) -> None:
    claim_of(Lodge(client, partner, phone_number="+2348031234567")(incident_date="2026-11-18"))
    for query, found in FOUND:
        answer = client.get(f"/v1/claims/search?{query}", key=partner.test_key)
        assert answer.status_code == 200, answer.text
        assert answer.headers.get("x-ignored-fields") == ("unknown" if "unknown" in query else None)
        assert client.get(f"/v1/claims?{query}", key=partner.test_key).json() == answer.json()
        assert answer.json()["data"]["total_count"] == len(answer.json()["data"]["claims"]) == int(found), query


def test_malformed_search_is_refused_by_name(client: Client, partner: Partner) -> None:
    for query, field in MALFORMED:
        assert set(faults_of(client.get(f"/v1/claims/search?{query}", key=partner.test_key))) == {field}


@contextmanager
def counted(store: Store) -> Iterator[list[str]]:
    """The statements that the store runs meanwhile."""
    statements: list[str] = []

    def note(_c: Any, _x: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    sa.event.listen(store.engine, "before_cursor_execute", note)
    yield statements
    sa.event.remove(store.engine, "before_cursor_execute", note)


def test_a_page_costs_the_same_statements_however_many_claims_it_has(
    lodge: Lodge, client: Client, partner: Partner, store: Store
) -> None:
    costs = []
    for _ in range(2):
        claim_of(lodge())
        client.get("/v1/claims", key=partner.test_key)
        with counted(store) as statements:
            client.get("/v1/claims", key=partner.test_key)
        costs.append(len([text for text in statements if "claim" in text]))
    assert costs[0] == costs[1] == 5
