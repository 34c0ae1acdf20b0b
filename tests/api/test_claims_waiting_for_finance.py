"""A payment that waits for finance is out of reach of the API, which pays nothing (contract C15)."""

from typing import Any

import pytest

from core.services.claims.workflow import paying as claim_paying
from core.store.access import Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.services.claim_office import DESK, Office

PAID = {"claim_status": "Paid", "payment_reference": "API-1", "amount": "70000.00", "version": 5}


@pytest.mark.parametrize("database", ["sqlite"])
def test_no_route_pays_or_changes_a_claim_that_waits_for_finance(
    client: Client, store: Store, partner: Partner
) -> None:
    office = Office(store, partner)
    claim_id = office.lodge(incident_date="2026-11-10")
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    office.do(claim_paying.hand_over, claim_id, by="sade", version=4)
    path = f"/v1/claims/{claim_id}"
    tried: list[tuple[str, str, Any]] = [
        *((method, path, PAID) for method in ("POST", "PUT", "PATCH", "DELETE")),
        *(("POST", f"{path}/{verb}", PAID) for verb in ("payments", "pay", "status", "hand-over", "payee")),
        ("POST", f"{path}/answers", {"answer": "Pay me", **PAID}),
        ("POST", "/v1/claims/payments", {"file": "claim,amount,reference"}),
    ]
    for method, address, body in tried:
        answer = client.request(method, address, key=partner.test_key, json=body)
        assert answer.status_code in {400, 404, 405, 409}, (method, address, answer.text)
    claim = client.get(path, key=partner.test_key).json()["data"]["claim"]
    assert (claim["claim_status"], office.claim(claim_id).payment_reference) == ("Offer accepted", None)
    with store.reading(DESK) as session:
        (waiting,) = claim_paying.list_open(session)
        assert (waiting.id, waiting.version, waiting.amount_minor) == (claim_id, 5, 7_000_000)
