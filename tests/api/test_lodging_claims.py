"""Lodging a credit life claim over the API: the record at birth, in two encodings (contract C1, C4, S13)."""

from datetime import UTC, datetime

import pytest

from core import clock
from core.services.audit import log as audit
from core.store.access import Scope, Store
from tests import papers
from tests.api.claiming import LODGE, PAPER, Lodge, claim_of, path_in, total, upload
from tests.api.conftest import Client
from tests.conftest import Partner

AT_BIRTH = {
    *("id", "app_mode", "claim_description", "claim_owner", "claim_owner_first_name", "claim_owner_last_name"),
    *("claim_owner_email", "claim_owner_phone_number", "decline_reason", "credit_life_claim_meta", "claim_type"),
    *("claim_amount", "repair_estimate", "offer_amount", "betterment_deduction_amount", "excess_deduction_amount"),
    *("incident_date", "claim_status", "claim_invoice_url", "offer_form_url", "created_at", "updated_at"),
}
LATER = {
    *("is_live", "estimate_amount", "vehicle_claim_meta", "gadget_claim_meta", "status_time_line", "product_id"),
    *("customer_id", "distributor_id", "provider_id", "policy_id", "inspection_id", "claim_id", "customer", "provider"),
    *("product", "policy", "inspection", "comments", "deleted_at", "version"),
}


@pytest.fixture
def lodge(client: Client, partner: Partner) -> Lodge:
    return Lodge(client, partner)


def test_claim_at_birth_is_as_the_specification_has_it(lodge: Lodge, client: Client, partner: Partner) -> None:
    with clock.freeze(datetime(2026, 11, 20, 7, 8, tzinfo=UTC)):
        answer = lodge(policy_number=f" {lodge.number.lower()[:5]} {lodge.number[5:]}", incident_date="2026-11-18")
    claim = claim_of(answer)
    assert answer.json()["responseText"] == "Claim submitted"
    assert set(claim) == AT_BIRTH | LATER
    assert (claim["claim_type"], claim["claim_status"], claim["decline_reason"]) == ("Credit life", "Pending", "None")
    assert {claim[name] for name in claim if name.endswith(("_amount", "_estimate"))} == {"0.00"}
    assert (claim["claim_owner"], claim["claim_owner_first_name"]) == ("Owner", "Ngozi")
    assert claim["status_time_line"] == [{"name": "Pending", "time_stamp": "Nov 20, 2026 8:08 AM"}]
    assert (claim["app_mode"], claim["is_live"], claim["version"]) == ("test", False, 1)
    assert claim["incident_date"] == "2026-11-18"
    assert claim["created_at"] == "2026-11-20T07:08:00.000Z"
    assert claim["inspection"] is None
    assert claim["comments"] == []
    assert claim["gadget_claim_meta"] is claim["vehicle_claim_meta"] is None


def test_claim_embeds_customer_insurer_product_and_policy(lodge: Lodge) -> None:
    claim = claim_of(lodge())
    assert set(claim["customer"]) == {"id", "first_name", "last_name", "email", "phone_number"}
    assert set(claim["provider"]) == {"id", "company_name"}
    assert set(claim["product"]) == {"id", "route_name", "name"}
    assert claim["product"]["route_name"] == "buy-credit-life"
    assert claim["policy"]["meta"]["policy_number"] == lodge.number
    assert claim["policy"]["id"] == claim["policy_id"]
    assert claim["customer"]["id"] == claim["customer_id"] == claim["policy"]["customer_id"]


def test_what_was_submitted_is_echoed_and_files_become_addresses(
    lodge: Lodge, client: Client, partner: Partner
) -> None:
    meta = claim_of(lodge(incident_type="LOSS OF JOB", accidental="False"))["credit_life_claim_meta"]
    links = [meta.pop(name) for name in ("loan_offer_letter", "employment_termination_letter")]
    assert meta == {
        "police_report": None,
        "medical_report": None,
        "loan_amount": "100000.00",
        "pending_repayment_amount": "75000.50",
        "incident_type": "Loss of job",
        "loan_offer_date": "2026-08-01",
        "loan_repayment_date": "2027-08-01",
        "accidental": "false",
    }
    for link in links:
        assert client.get(path_in(link), key=partner.test_key).content == papers.pdf()


def test_json_with_addresses_of_uploads_does_the_same(client: Client, partner: Partner, lodge: Lodge) -> None:
    body = {
        **lodge.fields,
        "accidental": False,
        "loan_amount": 100000,
        "loan_offer_letter": upload(client, partner.test_key),
        "employment_termination_letter": upload(client, partner.test_key, papers.pdf(text="Another")),
    }
    claim = claim_of(client.post(LODGE, key=partner.test_key, json=body))
    other = claim_of(lodge())
    assert set(claim) == set(other)
    assert claim["credit_life_claim_meta"]["loan_offer_letter"] == body["loan_offer_letter"]
    assert claim["credit_life_claim_meta"]["accidental"] == "false"


def test_form_may_mix_files_and_addresses(client: Client, partner: Partner, lodge: Lodge) -> None:
    link = upload(client, partner.test_key)
    meta = claim_of(lodge(loan_offer_letter=link))["credit_life_claim_meta"]
    assert meta["loan_offer_letter"] == link
    assert meta["employment_termination_letter"] != link


def test_same_key_and_form_replay_the_first_answer(lodge: Lodge, client: Client, partner: Partner) -> None:
    headers = {"Idempotency-Key": "claim-1"}
    first, second = lodge(headers=headers), lodge(headers=headers)
    assert claim_of(second) == claim_of(first)
    assert second.headers["idempotent-replayed"] == "true"
    assert total(client, partner.test_key) == 1
    assert len(papers.on_disk()) == 2
    other = lodge(headers=headers, loan_offer_letter=("paper.pdf", papers.pdf(text="Another")))
    assert other.status_code == 409
    assert len(papers.on_disk()) == 2


def test_lodging_is_written_down(lodge: Lodge, store: Store) -> None:
    claim = claim_of(lodge())
    with store.reading(Scope.system()) as session:
        (entry,) = audit.list_history(session, f"claim {claim['id']}")
        assert entry.action == "claim lodged"
        assert entry.after is not None
        assert entry.after["policy_id"] == claim["policy_id"]


def test_unknown_fields_and_files_are_ignored_by_name(lodge: Lodge, client: Client, partner: Partner) -> None:
    answer = lodge(channel="whatsapp", selfie=PAPER)
    assert claim_of(answer)["claim_status"] == "Pending"
    assert answer.headers["x-ignored-fields"] == "channel,selfie"
    refused = lodge(incident_date="yesterday", channel="whatsapp")
    assert (refused.status_code, refused.headers["x-ignored-fields"]) == (400, "channel")
    assert len(papers.on_disk()) == 2
