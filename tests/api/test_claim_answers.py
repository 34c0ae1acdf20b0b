"""The distributor sees what is asked, answers it, and adds documents over the API (contract C18)."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from core import ids
from core.covers.claims.lines import MOTOR
from core.covers.fields import build_example
from core.covers.insurers.insurer_a import THIRD_PARTY
from core.services.claims.workflow import questions
from core.services.people import staff
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, Staff
from tests import papers
from tests.api.claiming import PAPER, claim_of, faults_of, upload
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.services.selling import sell


@pytest.fixture
def claim_id(client: Client, partner: Partner, store: Store) -> str:
    """A motor claim without papers, whose claimant was asked for something."""
    number = sell(store, partner, THIRD_PARTY).policy["meta"]["policy_number"]
    body = {**build_example(MOTOR.request), "policy_number": number}
    lodged = claim_of(client.post("/v1/claims/motor", key=partner.test_key, json=body))
    assert "questions" not in lodged
    with store.writing(Scope.system()) as session:
        session.add(Staff(email="ada@x.example", name="ada", roles=["claims"]))
    with store.writing(Scope.staff(is_live=False)) as session:
        person = staff.get_by_email(session, "ada@x.example")
        questions.ask_claimant(session, ids.parse(lodged["id"]), text="Who drove?", person=person)
    return str(lodged["id"])


def answer(client: Client, key: str, claim_id: str, **body: Any) -> httpx.Response:
    return client.post(f"/v1/claims/{claim_id}/answers", key=key, json=body)


def add(client: Client, key: str, claim_id: str, **body: Any) -> httpx.Response:
    return client.post(f"/v1/claims/{claim_id}/documents", key=key, json=body)


def test_a_question_is_seen_with_its_day_and_answered_once(client: Client, partner: Partner, claim_id: str) -> None:
    seen = client.get(f"/v1/claims/{claim_id}", key=partner.test_key).json()["data"]["claim"]["questions"]
    assert [(each["text"], each["status"], bool(each["due_date"])) for each in seen] == [("Who drove?", "Open", True)]
    assert set(faults_of(answer(client, partner.test_key, claim_id))) == {"answer"}
    (question,) = claim_of(answer(client, partner.test_key, claim_id, answer="My brother\ndrove."))["questions"]
    assert (question["status"], question["answer"]) == ("Answered", "My brother\ndrove.")
    assert answer(client, partner.test_key, claim_id, answer="Again").status_code == 409


def test_nobody_else_answers_or_adds(client: Client, partner: Partner, stranger: Partner, claim_id: str) -> None:
    for key in (stranger.test_key, stranger.live_key, partner.live_key):
        assert answer(client, key, claim_id, answer="I did").status_code == 404
        link = upload(client, key)
        assert add(client, key, claim_id, police_report=link).status_code == 404
    theirs = upload(client, stranger.test_key)
    assert set(faults_of(add(client, partner.test_key, claim_id, police_report=theirs))) == {"police_report"}
    assert answer(client, partner.test_key, str(ids.new()), answer="I did").status_code == 404


def test_documents_follow_as_files_and_as_addresses_and_the_first_stays_a_version(
    client: Client, partner: Partner, claim_id: str, store: Store
) -> None:
    path = f"/v1/claims/{claim_id}/documents"
    claim = claim_of(client.post(path, key=partner.test_key, data={}, files={"police_report": PAPER}))
    first = claim["vehicle_claim_meta"]["police_report"]
    assert "/v1/files/" in first
    assert claim["version"] == 2
    link = upload(client, partner.test_key, papers.pdf(text="better"))
    claim = claim_of(add(client, partner.test_key, claim_id, police_report=link, driving_licence=link))
    assert claim["vehicle_claim_meta"]["police_report"] == claim["vehicle_claim_meta"]["driving_licence"] == link
    assert set(faults_of(add(client, partner.test_key, claim_id, front_image=link, police_report=link))) == {
        "front_image"
    }
    assert set(faults_of(add(client, partner.test_key, claim_id))) == {"body"}
    assert set(faults_of(add(client, partner.test_key, claim_id, signed_discharge=link))) == {"signed_discharge"}
    with store.writing(Scope.system()) as session:
        session.get_one(Claim, UUID(claim_id)).offer_amount_minor = 100
    claim = claim_of(add(client, partner.test_key, claim_id, signed_discharge=link))
    assert claim["vehicle_claim_meta"]["signed_discharge"] == link
    refused = client.post(path, key=partner.test_key, files={"police_report": ("a", b"no")})
    assert (refused.status_code, refused.json()["errorData"][0]["field"]) == (415, "police_report")
    with store.writing(Scope.system()) as session:
        session.get_one(Claim, UUID(claim_id)).claim_status = "Declined"
    assert add(client, partner.test_key, claim_id, police_report=link).status_code == 409
