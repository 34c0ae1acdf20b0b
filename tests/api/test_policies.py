"""Policies over the API: search, list form, full form, and what no answer shows (contract P4, P5, S11, A3)."""

import os
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from core import clock
from core.covers import credit_life
from core.covers.insurers import insurer_a, insurer_b
from core.services.policies import changes
from core.settings import ROOT
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, Policy
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN, broken, buy, data_of
from tests.conftest import Partner
from tests.every_case import every_case

BVN = "22123456789"


@pytest.fixture
def loan(client: Client, partner: Partner) -> dict[str, Any]:
    """A credit life policy in force."""
    return buy(client, partner.test_key, credit_life.CREDIT_LIFE)


@pytest.fixture
def pending(client: Client, partner: Partner) -> dict[str, Any]:
    """A comprehensive auto policy that waits for its insurer."""
    return buy(client, partner.test_key, insurer_b.COMPREHENSIVE, bvn=BVN)


def test_the_five_minutes_take_one_number_out_of_a_list(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    """The line of docs/api.md that a reader copies: what it takes goes unquoted into the command that claims."""
    (line,) = [each for each in Path(ROOT, "docs/api.md").read_text().splitlines() if each.startswith("NUMBER=")]
    listed = client.get("/v1/policies?limit=1", key=partner.test_key).text
    script = f'get() {{ printf %s "$LISTED"; }}\n{line}\nprintf %s $NUMBER'
    ran = subprocess.run(["sh", "-c", script], env={**os.environ, "LISTED": listed}, capture_output=True, check=True)
    assert ran.stdout.decode() == loan["policy_number"]


def found(client: Client, partner: Partner, query: str) -> list[str]:
    data = data_of(client, partner.test_key, f"policies/search?{query}")
    assert data["total_count"] == len(data["policies"])
    return [policy["id"] for policy in data["policies"]]


def test_list_form_embeds_little_and_detail_embeds_all(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    (listed,) = data_of(client, partner.test_key, "policies")["policies"]
    assert set(listed["product"]) == {
        *("name", "description", "id", "inspectable", "is_dynamic_pricing", "claimable"),
    }
    assert set(listed["provider"]) == {"company_name", "id"}
    assert set(listed["purchase"]) == {"id", "total"}
    assert listed["inspection"] is None
    assert listed["distributor"] == {"business_name": "Swift Lenders", "id": str(partner.id)}
    full = data_of(client, partner.test_key, f"policies/{loan['id']}")["policy"]
    purchase = data_of(client, partner.test_key, f"purchase/{loan['purchase_id']}")["purchase"]
    assert full["customer"] == purchase["customer"]
    assert full["provider"] == purchase["provider"]
    assert full["product"] == purchase["product"]
    assert full["purchase"] == {name: purchase[name] for name in full["purchase"]}
    assert {"total", "mca_profit", "batch_id", "policy_id"} <= set(full["purchase"])
    assert full["inspection"] is None


def test_search_by_status_means_in_force_now(
    client: Client, partner: Partner, loan: dict[str, Any], pending: dict[str, Any]
) -> None:
    assert found(client, partner, "status=true") == [loan["id"]]
    assert found(client, partner, "status=false") == [pending["id"]]
    assert found(client, partner, "") == [pending["id"], loan["id"]]
    with clock.freeze(clock.now() + timedelta(days=400)):
        assert found(client, partner, "status=true") == []
        assert found(client, partner, "status=FALSE") == [pending["id"], loan["id"]]


def test_number_and_status_stand_at_the_top_of_a_policy_and_agree_with_active(
    client: Client, store: Store, partner: Partner, loan: dict[str, Any], pending: dict[str, Any]
) -> None:
    declined = buy(client, partner.test_key, insurer_a.COMPREHENSIVE)
    cancelled = buy(client, partner.test_key, insurer_a.THIRD_PARTY)
    later = buy(client, partner.test_key, credit_life.CREDIT_LIFE, loan_start_date=str(clock.today() + timedelta(9)))
    with store.writing(partner.scope()) as session:
        changes.decline(session, UUID(declined["id"]), actor="desk", reason="too old", expected_version=1)
        changes.cancel(
            session, UUID(cancelled["id"]), actor="desk", reason="sold", by_insurer=False, expected_version=1
        )

    def statuses() -> dict[str, str]:
        rows = data_of(client, partner.test_key, "policies")["policies"]
        assert all(row["active"] is (row["status"] == "active") for row in rows)
        assert all(row["policy_number"] == row["meta"]["policy_number"] for row in rows)
        return {row["id"]: row["status"] for row in rows}

    assert (loan["status"], loan["policy_number"]) == ("active", loan["meta"]["policy_number"])
    assert (pending["status"], pending["policy_number"]) == ("pending", None)
    expected = {
        loan["id"]: "active",
        later["id"]: "active",
        pending["id"]: "pending",
        declined["id"]: "declined",
        cancelled["id"]: "cancelled",
    }
    assert statuses() == expected
    with clock.freeze(clock.now() + timedelta(days=400)):
        assert statuses() == {**expected, loan["id"]: "expired", later["id"]: "expired"}
        one = data_of(client, partner.test_key, f"policies/{loan['id']}")["policy"]
        assert (one["status"], one["active"]) == ("expired", False)


def test_cancelled_policy_is_not_in_force(client: Client, store: Store, partner: Partner, loan: dict[str, Any]) -> None:
    with store.writing(partner.scope()) as session:
        changes.cancel(session, UUID(loan["id"]), actor="desk", reason="repaid", by_insurer=False, expected_version=1)
    assert found(client, partner, "status=true") == []
    assert data_of(client, partner.test_key, f"policies/{loan['id']}")["policy"]["active"] is False


def test_only_your_own_id_matches_as_distributor(
    client: Client, partner: Partner, stranger: Partner, loan: dict[str, Any]
) -> None:
    assert found(client, partner, f"distributor_id={partner.id}") == [loan["id"]]
    for other in (stranger.id, UNKNOWN):
        assert found(client, partner, f"distributor_id={other}") == []


def test_customer_type_tells_who_bought_for_whom(
    client: Client, store: Store, partner: Partner, loan: dict[str, Any], pending: dict[str, Any]
) -> None:
    buyer = Customer(
        distributor_id=partner.id,
        is_live=False,
        email="employer@example.com",
        email_key="employer@example.com",
        name_key="femi employer",
        first_name="Femi",
        last_name="Employer",
        user_id=UUID(UNKNOWN),
    )
    with store.writing(Scope.system()) as session:
        session.insert(buyer)
        session.get_one(Policy, UUID(loan["id"])).buyer_id = buyer.id
    assert found(client, partner, "customer_type=beneficiary") == [loan["id"]]
    assert found(client, partner, "customer_type=Principal") == [pending["id"]]
    assert len(found(client, partner, "customer_type=all")) == 2


@every_case(
    ("query", "count"),
    [
        ("customer_email=NGOZI.okafor@example.com", 1),
        ("customer_email=ngozi", 0),
        ("provider_id=01900000-0000-7000-8000-00000000b007", 1),
        ("provider_id=01900000-0000-7000-8000-00000000b001", 0),
        ("start_date=2020-01-01", 1),
        ("end_date=2020-01-01", 0),
        ("expired_start_date=2020-01-01T00:00:00Z", 1),
        ("expired_end_date=2020-01-01", 0),
        (f"customer_id={UNKNOWN}", 0),
    ],
)
def test_search_narrows_by_each_parameter(
    client: Client, partner: Partner, loan: dict[str, Any], query: str, count: int
) -> None:
    assert len(found(client, partner, query)) == count


def test_search_by_customer_finds_theirs(client: Client, partner: Partner, loan: dict[str, Any]) -> None:
    buy(client, partner.test_key, insurer_a.THIRD_PARTY)
    assert found(client, partner, f"customer_id={loan['customer_id']}") == [loan["id"]]


@every_case(
    ("query", "fields"),
    [
        ("status=active", ["status"]),
        ("distributor_id=me&customer_id=you", ["customer_id", "distributor_id"]),
        ("customer_type=owner", ["customer_type"]),
        ("expired_start_date=2026-02-02&expired_end_date=2026-02-01", ["expired_end_date"]),
    ],
)
def test_malformed_search_is_refused_by_field(client: Client, partner: Partner, query: str, fields: list[str]) -> None:
    assert sorted(broken(client.get(f"/v1/policies/search?{query}", key=partner.test_key))) == fields


def test_others_find_nothing(client: Client, partner: Partner, stranger: Partner, loan: dict[str, Any]) -> None:
    for key in (partner.live_key, stranger.test_key):
        assert data_of(client, key, f"policies/search?distributor_id={partner.id}")["total_count"] == 0
        assert data_of(client, key, f"policies/search?customer_id={loan['customer_id']}")["total_count"] == 0
        assert client.get(f"/v1/policies/{loan['id']}", key=key).status_code == 404


def test_personal_numbers_show_their_last_four_everywhere(
    client: Client, partner: Partner, pending: dict[str, Any]
) -> None:
    assert "6789" in str(pending["meta"])
    for path in (f"policies/{pending['id']}", "policies", "policies/search?status=false", "purchase"):
        assert BVN not in client.get(f"/v1/{path}", key=partner.test_key).text
    provider = data_of(client, partner.test_key, f"policies/{pending['id']}")["policy"]["provider"]
    assert provider["bvn_number"].startswith("****")
    assert provider["verification_number"].startswith("****")
