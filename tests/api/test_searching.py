"""Purchases and policies are searched over the API as they are on the desk, by what is the caller's own alone."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.api.v1 import policies as policy_routes
from core.covers.insurers import insurer_a, insurer_f
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.sales import api_purchases, page_locator, purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN, broken, buy, data_of, page_of
from tests.conftest import Partner
from tests.covers import shipped

pytestmark = pytest.mark.both_databases

NGOZI = {"first_name": "Ngozi", "last_name": "Okafor-Bello", "email": "ngozi@example.com"}
TUNDE = {"first_name": "Túndé", "last_name": "Ademola", "email": "Tunde@example.com", "phone_number": "08051112222"}
LISTS = ("purchase", "policies")
Sold = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(autouse=True)
def still() -> Iterator[None]:
    with clock.freeze(shipped.STILL):
        yield


@pytest.fixture
def sold(client: Client, partner: Partner) -> Sold:
    """A motor policy of Ngozi and an accident policy of Túndé."""
    return (
        buy(client, partner.test_key, insurer_a.THIRD_PARTY, registration_number="ABC-123-XY", **NGOZI),
        buy(client, partner.test_key, insurer_f.COVERS[0], **TUNDE),
    )


def found(client: Client, key: str, name: str, text: str, **more: str) -> list[dict[str, Any]]:
    answer = client.get(f"/v1/{name}/search", key=key, params={"search": text, **more})
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    (rows,) = (value for value in data.values() if isinstance(value, list))
    assert data["total_count"] == len(rows)
    return list(rows)


def test_every_form_of_a_text_finds_what_the_desk_finds(
    store: Store, client: Client, partner: Partner, sold: Sold
) -> None:
    ngozi, tunde = sold
    number = ngozi["meta"]["policy_number"]
    texts = {
        number: ngozi,
        number[4:].lower(): ngozi,
        "abc 123 xy": ngozi,
        "okafor": ngozi,
        "OKAFOR-bello  ngozi": ngozi,
        "NGOZI@example.com": ngozi,
        ngozi["id"]: ngozi,
        ngozi["purchase_id"]: ngozi,
        "tunde ademola": tunde,
        "+234 805 111 2222": tunde,
        tunde["customer_id"]: tunde,
        "nobody at all": None,
        UNKNOWN: None,
        "%%": None,
    }
    for text, policy in texts.items():
        by_list = [found(client, partner.test_key, name, text) for name in LISTS]
        expected = [[policy["purchase_id"]], [policy["id"]]] if policy else [[], []]
        assert [[row["id"] for row in rows] for rows in by_list] == expected, text
        with store.reading(Scope.staff(is_live=False)) as session:
            criteria = PurchaseFilter.read({"find": [text]})
            desk = purchases.PURCHASES.read_page(session, criteria, load_choices(session), paging=Paging(1, 50))
        assert [str(row.id) for row in desk] == expected[0], text


def test_a_search_narrows_together_with_other_conditions_and_pages(
    client: Client, partner: Partner, sold: Sold
) -> None:
    every = found(client, partner.test_key, "purchase", "example.com ngozi")
    assert every == []
    assert found(client, partner.test_key, "purchase", "ngozi", end_date="2020-01-01") == []
    assert found(client, partner.test_key, "purchase", "ngozi", customer_type="beneficiary") == []
    whole = data_of(client, partner.test_key, f"purchase/{sold[0]['purchase_id']}")["purchase"]
    assert found(client, partner.test_key, "purchase", "ngozi", customer_type="principal") == [whole]
    for page in ("2", "1000000000"):
        answer = client.get(f"/v1/purchase/search?search=ngozi&limit=100&page={page}", key=partner.test_key)
        assert answer.json()["data"] == page_of("purchases", [], 1)
    for blank in ("", "%20", "%20%20"):
        assert data_of(client, partner.test_key, f"purchase/search?search={blank}")["total_count"] == 2


def test_a_text_that_cannot_be_searched_is_named_with_every_other_fault(client: Client, partner: Partner) -> None:
    for name in LISTS:
        for text in ("x", "x" * 101, "a%09b", "a%00b", "%20y%20", "a%E2%80%8Bb"):
            answer = client.get(f"/v1/{name}/search?search={text}&limit=0&customer_type=nobody", key=partner.test_key)
            assert sorted(broken(answer)) == ["customer_type", "limit", "search"], text


def test_a_search_finds_and_counts_nothing_of_another_distributor_or_mode(
    client: Client, partner: Partner, stranger: Partner, sold: Sold
) -> None:
    ngozi, _ = sold
    number = ngozi["meta"]["policy_number"]
    same = buy(client, stranger.test_key, insurer_a.THIRD_PARTY, registration_number="DEF-456-XY", **NGOZI)
    live = buy(client, partner.live_key, insurer_a.THIRD_PARTY, registration_number="GHJ-789-XY", **NGOZI)
    ids = ("id", "purchase_id", "customer_id")
    texts = ["ngozi", NGOZI["email"], *(str(policy[name]) for policy in (ngozi, same, live) for name in ids)]
    texts += [policy["meta"]["policy_number"] for policy in (same, live)] + [
        number,
        number[3:],
        "DEF456XY",
        "ghj-789-xy",
    ]
    keys = {partner.test_key: ngozi, stranger.test_key: same, partner.live_key: live, stranger.live_key: None}
    for key, own in keys.items():
        for text in texts:
            purchases_found, policies_found = (found(client, key, name, text) for name in LISTS)
            assert {row["id"] for row in purchases_found} <= ({own["purchase_id"]} if own else set())
            assert {row["id"] for row in policies_found} <= ({own["id"]} if own else set())
        assert len(found(client, key, "purchase", "ngozi")) == (1 if own else 0)


def test_the_whole_number_of_a_stranger_hides_no_part_of_ones_own(
    store: Store, client: Client, partner: Partner, stranger: Partner, sold: Sold
) -> None:
    part = str(sold[0]["meta"]["policy_number"])[:-1]
    theirs = buy(client, stranger.test_key, insurer_f.COVERS[0], **TUNDE)
    with store.writing(Scope.system()) as session:
        numbered = sa.update(Policy).where(col(Policy.id) == UUID(theirs["id"]))
        session.execute(numbered.values(number_key=part), execution_options={"synchronize_session": False})
    assert [row["id"] for row in found(client, stranger.test_key, "policies", part)] == [theirs["id"]]
    for name, field in zip(LISTS, ("purchase_id", "id"), strict=True):
        assert [row["id"] for row in found(client, partner.test_key, name, part)] == [sold[0][field]]


def test_a_search_never_runs_on_the_loop_and_its_statement_is_not_kept(
    client: Client, partner: Partner, sold: Sold, monkeypatch: pytest.MonkeyPatch
) -> None:
    short: list[bool] = []
    run_inline = policy_routes.run_inline

    async def noted(read: Any, *, is_short: bool = True) -> Any:
        short.append(is_short)
        return await run_inline(read, is_short=is_short)

    monkeypatch.setattr(policy_routes, "run_inline", noted)
    caches = (api_purchases._PAGE_QUERIES, page_locator._COUNT_QUERIES, page_locator._LINE_QUERIES)
    kept = [set(cache._queries) for cache in caches]
    for text in ("ngozi", "tunde", "abc 123 xy"):
        assert len(found(client, partner.test_key, "purchase", text)) == 1
    assert short == [False] * 3
    assert [set(cache._queries) for cache in caches] == kept
    client.get("/v1/purchase/search?customer_email=a@example.com", key=partner.test_key)
    assert short[3:] == [True]


@pytest.mark.usefixtures("sold")
def test_a_list_narrows_by_what_the_search_beside_it_knows(client: Client, partner: Partner) -> None:
    nobody = {"customer_email": "nobody@x.example"}
    for path in LISTS:
        everything = client.get(f"/v1/{path}", key=partner.test_key)
        assert everything.json()["data"]["total_count"] == 2
        narrowed = client.get(f"/v1/{path}", key=partner.test_key, params=nobody)
        assert (narrowed.json()["data"]["total_count"], "X-Ignored-Fields" in narrowed.headers) == (0, False)
        by_name = client.get(f"/v1/{path}", key=partner.test_key, params={"search": "Okafor-Bello"})
        assert by_name.json()["data"]["total_count"] == 1
        assert broken(client.get(f"/v1/{path}?customer_id=5", key=partner.test_key)) == ["customer_id"]
    for path in ("renewals", "claims"):
        wrong = client.get(f"/v1/{path}", key=partner.test_key, params={"customer_id": "5", "status": "no such word"})
        assert sorted(broken(wrong)) == ["customer_id", "status"]


def test_the_lists_of_a_customer_narrow_too(client: Client, partner: Partner, sold: Sold) -> None:
    ngozi, tunde = sold
    for path in LISTS:
        address = f"/v1/customers/{path.replace('purchase', 'purchases')}/{ngozi['customer_id']}"
        counts = [
            client.get(address, key=partner.test_key, params=given).json()["data"]["total_count"]
            for given in ({}, {"customer_id": ngozi["customer_id"]}, {"provider_id": tunde["provider_id"]})
        ]
        assert counts == [1, 1, 0]
        other = client.get(address, key=partner.test_key, params={"customer_id": tunde["customer_id"]})
        assert other.json()["errorData"] == [{"field": "customer_id", "message": "must be the customer of the address"}]
