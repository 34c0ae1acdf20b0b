"""Lodging claims of every line of cover over the API: first notice, papers, claimants, abuse (contract C16)."""

from typing import Any

import httpx
import sqlalchemy as sa
from sqlmodel import col

from core import ids
from core.covers.claims.line import ClaimLine
from core.covers.claims.lines import LINES, MOTOR
from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.registry import COVERS
from core.services.claims.intake import submitted
from core.services.claims.review import related
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, Policy, Product
from tests import papers
from tests.api.claiming import PAPER, claim_of, faults_of, upload
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.selling import sell

every_line = every_case("line", LINES, ids=lambda line: line.route)
ACCOUNT = "0123456789"


def policy_of(store: Store, partner: Partner, line: ClaimLine) -> str:
    """The number of a policy that claims of a line can be lodged on."""
    cover = next((cover for cover in COVERS if (cover.prefix, cover.route) in line.covers), CREDIT_LIFE)
    cover = next((each for each in COVERS if each.key == "insurer-a/buy-thirdparty"), cover) if line is MOTOR else cover
    sale = sell(store, partner, cover)
    if cover is CREDIT_LIFE:
        with store.writing(Scope.system()) as session:
            device = sa.select(col(Product.id)).where(col(Product.route_name) == "buy-gadget").scalar_subquery()
            session.execute(sa.update(Policy).where(col(Policy.id) == sale.policy_id).values(product_id=device))
    return str(sale.policy["meta"]["policy_number"])


def lodge(
    client: Client, partner: Partner, line: ClaimLine, number: str, *, key: str | None = None, **changed: Any
) -> httpx.Response:
    body = {**build_example(line.request), "policy_number": number, **changed}
    return client.post(
        f"/v1/claims/{line.route}",
        key=key or partner.test_key,
        json={name: value for name, value in body.items() if value is not None},
    )


@every_line
def test_first_notice_of_every_line_is_taken_as_pending_and_owes_its_papers(
    line: ClaimLine, client: Client, partner: Partner, store: Store
) -> None:
    claim = claim_of(lodge(client, partner, line, policy_of(store, partner, line), account_number=ACCOUNT))
    assert (claim["claim_type"], claim["claim_status"], claim["claim_owner"]) == (line.title, "Pending", "Owner")
    assert claim[line.column]["incident_type"] == build_example(line.request)["incident_type"]
    assert claim[line.column]["account_number"] == "******6789"
    assert claim["credit_life_claim_meta"] is None
    assert claim["claim_amount"] == claim[line.column][line.amount], "what is claimed stands from the first day on"
    with store.reading(Scope.system()) as session:
        row = session.get_one(Claim, ids.parse(claim["id"]))
        assert submitted.list_missing_documents(row) == line.list_required(claim[line.column]["incident_type"])
        assert row.account_key
        assert ACCOUNT not in str(row.model_dump())
    found = client.get(f"/v1/claims/search?claim_type={line.title.lower()}", key=partner.test_key).json()["data"]
    assert [each["id"] for each in found["claims"]] == [claim["id"]]


def test_papers_come_as_files_or_as_addresses_of_the_sender(client: Client, partner: Partner, store: Store) -> None:
    number = policy_of(store, partner, MOTOR)
    body = {**build_example(MOTOR.request), "policy_number": number}
    answer = client.post(
        "/v1/claims/motor",
        key=partner.test_key,
        data={**body, "driving_licence": upload(client, partner.test_key)},
        files={"police_report": PAPER, "damage_image": ("damage.png", papers.picture())},
    )
    meta = claim_of(answer)["vehicle_claim_meta"]
    assert all("/v1/files/" in meta[name] for name in ("police_report", "damage_image", "driving_licence"))
    assert meta["repair_quote"] is None


def test_document_of_a_stranger_is_refused_by_name_and_nothing_is_kept(
    client: Client, partner: Partner, stranger: Partner, store: Store
) -> None:
    number = policy_of(store, partner, MOTOR)
    theirs = upload(client, stranger.test_key)
    assert set(faults_of(lodge(client, partner, MOTOR, number, police_report=theirs))) == {"police_report"}
    for key in (stranger.test_key, partner.live_key):
        assert set(faults_of(lodge(client, partner, MOTOR, number, key=key))) == {"policy_number"}
    assert client.get("/v1/claims", key=partner.test_key).json()["data"]["total_count"] == 0


def test_claim_on_a_policy_of_another_line_is_refused(client: Client, partner: Partner, store: Store) -> None:
    number = str(sell(store, partner, CREDIT_LIFE).policy["meta"]["policy_number"])
    assert faults_of(lodge(client, partner, MOTOR, number)) == {
        "policy_number": "must be a motor policy of yours in this mode"
    }
    everything = faults_of(client.post("/v1/claims/motor", key=partner.test_key, json={}))
    assert set(everything) == {
        "policy_number",
        "incident_type",
        "incident_date",
        "incident_place",
        "incident_description",
    }
    assert client.post("/v1/claims/boats", key=partner.test_key, json={}).status_code in {404, 405}


def test_claimant_after_a_death_stands_on_the_claim(client: Client, partner: Partner, store: Store) -> None:
    line = next(line for line in LINES if line.route == "personal-accident")
    number = policy_of(store, partner, line)
    relative = {"claimant": "Next of kin", "claimant_relation": "Wife", "claimant_email": "Bisi@Example.com"}
    named = {**relative, "claimant_first_name": "Bisi", "claimant_last_name": "Balogun"}
    assert set(faults_of(lodge(client, partner, line, number, incident_type="Death"))) == {"claimant"}
    claim = claim_of(lodge(client, partner, line, number, incident_type="Death", **named))
    assert (claim["claim_owner"], claim["claim_owner_first_name"]) == ("Next of kin", "Bisi")
    assert claim["claim_owner_email"] == "Bisi@example.com"
    assert claim["claim_meta"]["claimant_relation"] == "Wife"
    search = client.get("/v1/claims/search?claim_owner=next%20of", key=partner.test_key).json()["data"]
    assert search["total_count"] == 1


def test_of_a_claimant_nothing_is_known_but_what_they_gave(client: Client, partner: Partner, store: Store) -> None:
    line = next(line for line in LINES if line.route == "personal-accident")
    number = policy_of(store, partner, line)
    for name, phone in (("Bisi", "+2348031234501"), ("Chidi", "+2348031234502")):
        named = {"claimant": "Beneficiary", "claimant_first_name": name, "claimant_last_name": "Balogun"}
        reached = {"claimant_phone_number": phone, "account_number": phone[-10:]}
        claim = claim_of(lodge(client, partner, line, number, incident_type="Death", **named, **reached))
        assert (claim["claim_owner_email"], claim["claim_owner_phone_number"]) == (None, phone)
        assert claim["customer"]["email"]
    with store.reading(Scope.system()) as session:
        rows = list(session.execute(sa.select(Claim)).scalars())
        # Two beneficiaries of one policy share no address, so that they are not taken for one person.
        assert {related.count_recent(session, row) for row in rows} == {1}


def test_incident_that_the_cover_does_not_insure_is_taken_and_flagged(
    client: Client, partner: Partner, store: Store
) -> None:
    number = policy_of(store, partner, MOTOR)
    own = claim_of(lodge(client, partner, MOTOR, number, incident_type="collision"))
    others = claim_of(lodge(client, partner, MOTOR, number, incident_type="Third party injury"))
    with store.reading(Scope.system()) as session:
        flags = {str(row.id): row.flags for row in session.execute(sa.select(Claim)).scalars()}
    assert "benefit_not_bought" in flags[own["id"]]
    assert "benefit_not_bought" not in flags[others["id"]]


def test_key_repeats_the_first_answer(client: Client, partner: Partner, store: Store) -> None:
    body = {**build_example(MOTOR.request), "policy_number": policy_of(store, partner, MOTOR)}
    answers = [
        client.post("/v1/claims/motor", key=partner.test_key, json=body, headers={"Idempotency-Key": "crash-1"})
        for _ in range(2)
    ]
    assert claim_of(answers[0]) == claim_of(answers[1])
