"""The review of a claim: coverage, missing documents, related claims (contract C3)."""

from datetime import date
from typing import Any
from uuid import UUID

import pytest

from core import clock, ids
from core.covers.cover import Term
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.intake import lodging
from core.services.claims.review import fraud_flags, related
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import questions
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.policies import certificates
from core.store.access import Scope
from core.store.schema.tables import Policy
from core.ui.kit import words
from tests import papers
from tests.conftest import Partner
from tests.services.claim_desk import NOON, Desk
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)


def review(office: Office, claim_id: UUID, *, by: str = "bola") -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people[by])


def answers(office: Office, claim_id: UUID) -> dict[str, bool | None]:
    return {check.question: check.passed for check in review(office, claim_id).checks}


def test_claim_in_order_passes_every_check(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    assert set(answers(office, claim_id).values()) == {True}
    found = review(office, claim_id)
    assert (found.fraud_flags, found.missing_documents, found.related_claims, found.messages) == ([], [], [], [])
    assert [(paper.name, paper.is_required, bool(paper.code)) for paper in found.documents] == [
        ("loan_offer_letter", True, True),
        ("employment_termination_letter", True, True),
    ]
    assert (found.amounts.owed, found.clock.days_left, found.reference) == (75000, 60, f"C-{claim_id.hex[-8:].upper()}")
    assert found.facts["pending_repayment_amount"] == "75000.00"
    assert "loan_offer_letter" not in found.facts


@pytest.mark.parametrize(
    ("changed", "doubted", "holds"),
    [
        ({"incident_date": "2026-08-21"}, "In force on the day of the incident", False),
        ({"incident_date": "2027-08-23"}, "Within the loan", False),
        ({"incident_date": None}, "In force on the day of the incident", None),
        ({"incident_type": "Burglary"}, "Benefit bought", False),
        ({"loan_amount": "120000"}, "The insured loan", False),
        ({"incident_date": "2026-11-21"}, "Told after it happened", False),
    ],
)
def test_what_does_not_hold_is_said(office: Office, changed: dict[str, Any], doubted: str, holds: bool | None) -> None:
    answered = {"incident_date": "2026-11-18", **changed}
    assert answers(office, office.lodge(**{k: v for k, v in answered.items() if v}))[doubted] is holds


def test_cancelled_policy_covers_nothing_after_its_end(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    office.desk.change_policy(cancelled_at=clock.midnight(date(2026, 11, 19)))
    assert answers(office, claim_id)["In force on the day of the incident"] is True
    office.desk.change_policy(cancelled_at=clock.midnight(date(2026, 11, 18)))
    assert answers(office, claim_id)["In force on the day of the incident"] is False


def said_of_cover(office: Office, claim_id: UUID) -> str:
    return next(check.detail for check in review(office, claim_id).checks if check.detail.startswith("Cover "))


def test_end_of_cover_is_that_of_the_policy_and_its_certificate(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    with office.store.reading(DESK) as session:
        policy = session.get_one(Policy, office.desk.sale.policy_id)
        certificate = certificates.get_by_code(session, policy.certificate_code or "")
        (found,) = lodging.find_policies(session, policy.policy_number or "")
    first, end = (words.day(day) for day in (certificate.start_at, certificate.expiration_at))
    last = words.day(clock.add_days(clock.to_lagos_day(certificate.expiration_at), -1))
    assert said_of_cover(office, claim_id) == f"Cover {first} to {end} · Last day of cover {last}"
    assert found.cover[-2:] == [("Cover", f"{first} to {end}"), ("Last day of cover", last)]
    office.desk.change_policy(cancelled_at=clock.midnight(date(2026, 11, 19)))
    assert said_of_cover(office, claim_id) == f"Cover {first} to {end} · Cancelled 19 Nov 2026"


def test_day_of_expiration_is_covered_where_it_was_paid_for() -> None:
    term = Term.from_days(date(2026, 11, 2), date(2026, 11, 9))
    policy = Policy(start_at=term.start_at, expiration_at=term.expiration_at)
    assert fraud_flags.get_cover_days(policy) == (date(2026, 11, 2), date(2026, 11, 9))
    assert fraud_flags.describe_cover(policy) == [("Cover", "2 Nov 2026 to 9 Nov 2026")]


def test_document_that_is_missing_or_gone_is_told_apart(office: Office) -> None:
    claim_id = office.lodge()
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    elsewhere = {"loan_offer_letter": "https://elsewhere.example/a.pdf", "employment_termination_letter": None}
    office.put(claim_id, credit_life_claim_meta={**meta, **elsewhere})
    letter, termination = review(office, claim_id).documents
    assert (letter.is_missing, letter.code, letter.link) == (False, None, "https://elsewhere.example/a.pdf")
    assert termination.is_missing
    assert review(office, claim_id).missing_documents == ["employment_termination_letter"]


def test_other_claims_are_bound_by_policy_customer_and_account(office: Office, partner: Partner) -> None:
    first, second = office.lodge(incident_date="2026-10-01"), office.lodge_again()
    stranger = Desk(office.store, partner, email="another@example.com")
    third = ids.parse(stranger.lodge()[0]["id"])
    assert [(line.id, line.relations) for line in review(office, second).related_claims] == [
        (first, ("same policy", "same customer"))
    ]
    for claim_id in (second, third):
        office.put(claim_id, account_key="of one account")
    found = review(office, second)
    assert {line.id: line.relations for line in found.related_claims}[third] == ("same payout account",)
    assert found.fraud_flags == ["Another claim asks for payment to the same account"]
    with office.store.reading(DESK) as session:
        lines = related.list_by_policy(session, office.desk.sale.policy_id)
    assert {line.id for line in lines} == {first, second}


def test_conversation_tells_questions_from_comments(office: Office) -> None:
    claim_id = office.lodge()
    office.do(questions.add_comment, claim_id, text="For us")
    office.do(questions.ask_claimant, claim_id, by="ada", text="Send the original")
    found = review(office, claim_id)
    assert sorted((message.text, message.by, message.for_claimant, message.is_open) for message in found.messages) == [
        ("For us", "bola", False, False),
        ("Send the original", "ada", True, True),
    ]
    assert found.open_question
    assert found.clock.is_waiting
    office.do(questions.record_answer, claim_id)
    assert review(office, claim_id).open_question is None


def test_who_comes_second_learns_what_was_changed_and_by_whom(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Reviewing")
    office.do(questions.add_comment, claim_id, text="Hello")
    office.move(claim_id, "Approved", by="sade", amount="70000", note="Fine")
    (event,) = review(office, claim_id).list_events_since(2)
    assert event.actor == "staff sade@x.example"
    assert (event.facts["claim_status"], event.facts["approved_amount"]) == ("Approved", "70000.00")


def test_claim_of_the_other_mode_and_an_unknown_one_have_no_review(office: Office) -> None:
    claim_id = office.lodge()
    for scope, wanted in ((Scope.staff(is_live=True), claim_id), (DESK, ids.new())):
        with office.store.reading(scope) as session, pytest.raises(NotFound):
            claim_review.get_review(session, wanted, person=office.people["bola"])


def test_policy_of_a_caller_is_found_by_any_spelling_of_its_number(office: Office) -> None:
    number = str(office.desk.sale.policy["meta"]["policy_number"])
    with office.store.reading(DESK) as session:
        (found,) = lodging.find_policies(session, f" {number.lower()} ")
        assert lodging.find_policies(session, "") == lodging.find_policies(session, "nothing") == []
        for text in (number[-8:-1], found.email, found.holder, f"{found.holder.split()[-1]} {found.holder[:4]}"):
            assert found.id in {each.id for each in lodging.find_policies(session, text)}, text
    assert (found.id, found.loan_amount, found.stage) == (office.desk.sale.policy_id, 100000, "In force")
    assert (found.loan_start_on, found.loan_end_on) == (date(2026, 8, 22), date(2027, 8, 22))
    with office.store.reading(Scope.staff(is_live=True)) as session:
        assert lodging.find_policies(session, number) == []


def attach(office: Office, claim_id: UUID, name: str, *, by: str = "bola", version: int, text: str = "new") -> None:
    arriving = ReceivedFile(field=name, file_name="later.pdf", content=papers.pdf(text=text))
    with files.store_files([arriving]) as (kept,), office.store.writing(DESK) as session:
        lodging.attach_document(session, claim_id, kept, person=office.people[by], version=version)


def test_document_that_comes_later_takes_its_place_and_is_written_down(office: Office) -> None:
    claim_id, other = office.lodge(), office.lodge(incident_date="2026-10-01")
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    office.put(claim_id, credit_life_claim_meta={**meta, "incident_type": "Death", "loan_offer_letter": None})
    assert review(office, claim_id).missing_documents == ["loan_offer_letter", "medical_report", "death_certificate"]
    attach(office, claim_id, "loan_offer_letter", version=1)
    attach(office, claim_id, "medical_report", version=2, text="report")
    attach(office, claim_id, "death_certificate", version=3, text="certificate")
    found = review(office, claim_id)
    assert (found.missing_documents, [paper.file_name for paper in found.documents[:2]]) == (
        [],
        ["later.pdf", "later.pdf"],
    )
    entry = office.log(claim_id)[-1]
    assert (entry.action, (entry.after or {})["document"]) == ("claim document added", "death_certificate")
    attach(office, claim_id, "medical_report", version=4, text="new")
    assert office.claim(claim_id).flags == []
    attach(office, other, "medical_report", version=1, text="report")
    assert "same_file" in office.claim(other).flags


def test_document_is_refused_where_it_has_no_place(office: Office) -> None:
    claim_id = office.lodge()
    for kind, changed in (
        (InvalidInput, {"name": "front_image"}),
        (StaleVersion, {"version": 7}),
        (NotAllowed, {"by": "funmi"}),
    ):
        document: dict[str, Any] = {"name": "medical_report", "version": 1, **changed}
        refused: type[CoverdeskError] = kind
        with pytest.raises(refused):
            attach(office, claim_id, **document)
    office.move(claim_id, "Declined", reason="other", note="No")
    with pytest.raises(StateForbids, match="keeps its documents"):
        attach(office, claim_id, "medical_report", version=2)
    assert len(papers.on_disk()) == 2
