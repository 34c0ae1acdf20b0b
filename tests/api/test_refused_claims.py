"""Refusals of credit life claims: each broken field is named and nothing is kept (contract C2, E4)."""

from typing import Any

import pytest

from core.covers.fields import build_example
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.services.claims.intake import submitted
from tests import papers
from tests.api.claiming import LODGE, PAPER, Lodge, claim_of, faults_of, policy_number, total, upload
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"incident_type": "Earthquake"}, "incident_type"),
    ({"accidental": "maybe"}, "accidental"),
    ({"loan_offer_date": "01/08/2026"}, "loan_offer_date"),
    ({"loan_offer_date": "2026-02-30"}, "loan_offer_date"),
    ({"loan_repayment_date": "2026-07-31"}, "loan_repayment_date"),
    ({"loan_amount": "0"}, "loan_amount"),
    ({"loan_amount": "1.234"}, "loan_amount"),
    ({"loan_amount": "NaN"}, "loan_amount"),
    ({"pending_repayment_amount": "100000.01"}, "pending_repayment_amount"),
    ({"pending_repayment_amount": "-1"}, "pending_repayment_amount"),
    ({"incident_date": "yesterday"}, "incident_date"),
    ({"policy_number": "x" * 61}, "policy_number"),
    ({"policy_number": "a\x00b"}, "policy_number"),
    ({"policy_number": ("a.pdf", b"x")}, "policy_number"),
    ({"medical_raport": "x"}, "medical_raport"),
]


@pytest.fixture
def lodge(client: Client, partner: Partner) -> Lodge:
    return Lodge(client, partner)


def test_each_required_field_is_missed_by_name(lodge: Lodge) -> None:
    for name in (*lodge.fields, "loan_offer_letter"):
        for absent in (None, "  "):
            assert faults_of(lodge(**{name: absent})).get(name) == "is required", name


def test_all_broken_fields_are_named_at_once_and_nothing_is_kept(
    client: Client, partner: Partner, lodge: Lodge
) -> None:
    faults = faults_of(lodge(loan_amount="-1", accidental="perhaps", employment_termination_letter=None))
    assert set(faults) == {"loan_amount", "accidental", "employment_termination_letter"}
    assert total(client, partner.test_key) == 0
    assert papers.on_disk() == []


@every_case(
    ("incident", "accidental", "needed"),
    [
        ("Death", "false", {"medical_report"}),
        ("Permanent disability", "false", {"medical_report"}),
        ("Temporary disability", "true", {"medical_report", "police_report"}),
        ("Critical illness", "false", {"medical_report"}),
        ("Loss of job", "false", {"employment_termination_letter"}),
        ("Burglary", "false", set()),
        ("Burglary", "true", {"police_report"}),
    ],
)
def test_papers_are_required_by_incident(lodge: Lodge, incident: str, accidental: str, needed: set[str]) -> None:
    loss = {"incident_type": incident, "accidental": accidental, "employment_termination_letter": None}
    answer = lodge(**loss)
    if needed:
        faults = faults_of(answer)
        assert set(faults) == needed
        assert all(message.startswith("is required for ") for message in faults.values())
        answer = lodge(**{**loss, **dict.fromkeys(needed, PAPER)})
    assert claim_of(answer)["credit_life_claim_meta"]["incident_type"] == incident


def test_wrong_values_are_refused_by_name(lodge: Lodge) -> None:
    for changed, field in WRONG:
        assert set(faults_of(lodge(**changed))) == {field}


def test_policy_must_be_a_credit_life_policy_of_ones_own_in_this_mode(
    lodge: Lodge, client: Client, partner: Partner, stranger: Partner
) -> None:
    accident = client.post(
        "/v1/products/insurer-f/buy-personal-accident",
        key=partner.test_key,
        json=build_example(PERSONAL_ACCIDENT.request),
    ).json()["data"]["meta"]["policy_number"]
    attempts = [
        {"policy_number": "NOPE/1"},
        {"policy_number": accident},
        {"policy_number": policy_number(client, stranger.test_key)},
        {"policy_number": policy_number(client, partner.live_key)},
        {"key": partner.live_key},
        {"key": stranger.test_key},
    ]
    for changed in attempts:
        faults = faults_of(lodge(**changed))
        assert faults == {"policy_number": "must be a credit life policy of yours in this mode"}
    assert papers.on_disk() == []


def test_address_must_be_an_upload_of_ones_own_in_this_mode(
    lodge: Lodge, client: Client, partner: Partner, stranger: Partner
) -> None:
    links = [
        upload(client, stranger.test_key),
        upload(client, partner.live_key),
        "http://127.0.0.1:8501/v1/files/aaaaaaaaaaaaaaaaaaaaaaaaaa",
        "https://elsewhere.example/letter.pdf",
    ]
    for link in links:
        faults = faults_of(lodge(loan_offer_letter=link, policy_number="NOPE/1"))
        assert set(faults) == {"loan_offer_letter", "policy_number"}
    assert faults_of(lodge(loan_offer_letter="letter.pdf")) == {"loan_offer_letter": "must be an http or https link"}


@every_case(
    ("content", "status"),
    [(b"<html>", 415), (b"", 400), (papers.picture()[:200], 400), (papers.pdf(password="x"), 400)],
)
def test_a_paper_that_is_no_proper_file_is_refused_by_name(
    lodge: Lodge, client: Client, partner: Partner, content: bytes, status: int
) -> None:
    answer = lodge(employment_termination_letter=("a.pdf", content))
    assert answer.status_code == status
    assert [fault["field"] for fault in answer.json()["errorData"]] == ["employment_termination_letter"]
    assert papers.on_disk() == [], "the paper that was fine is gone too"
    assert total(client, partner.test_key) == 0


def test_more_files_than_papers_are_refused(lodge: Lodge) -> None:
    assert lodge(**dict.fromkeys(submitted.DOCUMENTS, PAPER), extra=PAPER).status_code == 400


@every_case(
    ("options", "status"),
    [
        ({"content": b"x", "headers": {"Content-Type": "text/plain"}}, 415),
        ({"data": {"policy_number": "x"}}, 415),
        ({"json": ["x"]}, 400),
        ({"json": {"policy_number": {"a": 1}}}, 400),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400),
        ({"content": b'{"a": NaN}', "headers": {"Content-Type": "application/json"}}, 400),
    ],
)
def test_other_bodies_are_refused(client: Client, partner: Partner, options: dict[str, Any], status: int) -> None:
    answer = client.post(LODGE, key=partner.test_key, **options)
    assert answer.status_code == status
    assert answer.json()["responseCode"] == 0
