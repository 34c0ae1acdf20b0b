"""One loss is paid once: duplicates on both claims, reasons for checks that are not met, and the limit of a policy."""

import os
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError

from core import clock
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.claims.reports import figures as claim_figures
from core.services.claims.review import related
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.lists.windows import Window
from core.store.schema.tables import ClaimOverride, ClaimPayment
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.services.races import run_at_once

pytestmark = pytest.mark.frozen_at(NOON)

ROUNDS = int(os.environ.get("COVERDESK_RACES", "3"))
ACCEPTED = ("Approved", "Offer sent", "Offer accepted")
KNOWN = {"incident_date": "2026-11-10"}


def review(office: Office, claim_id: UUID, by: str = "sade") -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people[by])


def paid(office: Office) -> int:
    with office.store.reading(DESK) as session:
        return int(session.execute(sa.select(sa.func.sum(ClaimPayment.amount_minor))).scalar_one() or 0)


def accepted(office: Office, claim_id: UUID) -> UUID:
    office.move(claim_id, "Approved", by="sade", amount="75000")
    office.move(claim_id, "Offer sent", by="sade")
    office.move(claim_id, "Offer accepted", by="sade")
    return claim_id


def test_two_claims_on_one_loan_are_not_both_approved(office: Office) -> None:
    first, second = office.lodge(), office.lodge_again()
    accepted(office, first)
    with pytest.raises(InvalidInput, match=r"amount must not be above .*0.00.* approved on other claims of the policy"):
        office.move(second, "Approved", by="sade", amount="75000")
    office.move(first, "Paid", by="ada", payment_reference="ONE")
    assert paid(office) == 7_500_000
    with pytest.raises(InvalidInput, match=r"amount must not be above .*0.00.* paid or approved on other claims"):
        office.move(second, "Approved", by="sade", amount="75000")


def test_claims_of_one_policy_never_come_to_more_than_is_insured(office: Office) -> None:
    first = office.lodge(pending_repayment_amount="100000")
    accepted(office, first)
    office.move(first, "Paid", by="ada", payment_reference="ONE")
    # The debt grew again since, as another lender might say; the policy insures 100,000 in all.
    with clock.freeze(NOON + timedelta(hours=1)):
        second = office.lodge_again(incident_type="Permanent disability", at=NOON + timedelta(hours=1))
        with pytest.raises(
            InvalidInput, match=r"amount must not be above ₦25,000.00, what is (still owed|insured) after"
        ):
            office.move(second, "Approved", by="sade", amount="75000")
        office.move(second, "Approved", by="sade", amount="25000")
        office.move(second, "Offer sent", by="sade")
        office.move(second, "Offer accepted", by="sade")
        office.move(second, "Paid", by="ada", payment_reference="TWO")
    assert paid(office) == 10_000_000


def test_two_approvers_of_two_claims_on_one_loan_approve_it_once(office: Office) -> None:
    for _ in range(ROUNDS):
        claims = office.lodge(), office.lodge_again()
        approve = [partial(office.move, each, "Approved", by="sade", amount="75000") for each in claims]
        assert sorted(type(each).__name__ for each in run_at_once(*approve)) == ["InvalidInput", "NoneType"]
        assert sum(office.claim(each).approved_amount_minor for each in claims) == 7_500_000


@pytest.mark.both_databases
def test_payer_and_reopener_of_one_claim_have_one_winner(office: Office) -> None:
    for number in range(ROUNDS):
        claim_id = accepted(office, office.lodge())
        version = office.claim(claim_id).version
        refusals = run_at_once(
            partial(office.move, claim_id, "Paid", by="ada", version=version, payment_reference=f"R{number}"),
            partial(office.move, claim_id, "Reviewing", by="sade", version=version),
        )
        assert sorted(type(each).__name__ for each in refusals) == ["NoneType", "StaleVersion"]


def test_a_duplicate_is_seen_from_both_claims(office: Office) -> None:
    first, second = office.lodge(), office.lodge_again()
    for mine, other in ((first, second), (second, first)):
        found = review(office, mine)
        assert [(each.id, each.matches) for each in found.duplicates] == [
            (other, ("the same kind of incident on this policy",))
        ]
        assert next(check.passed for check in found.checks if check.key == "duplicate") is False


def test_a_declined_claim_is_no_duplicate_unless_it_was_paid(office: Office) -> None:
    first, second = office.lodge(), office.lodge_again()
    office.move(first, "Declined", by="bola", reason="duplicate", note="Twice")
    assert review(office, second).duplicates == []
    office.move(first, "Reviewing", by="sade")
    assert len(review(office, second).duplicates) == 1


def test_a_duplicate_is_found_behind_any_number_of_claims_to_one_account(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claims of a distributor are paid to one account for years: a second one for a loss stands behind them."""
    monkeypatch.setattr(related, "MAX_RELATED", 3)
    first = office.lodge(text="one letter")
    on_policy = office.lodge()
    second_desk = office.desk
    others = [office.lodge() for _ in range(4)]
    office.desk = second_desk
    again, same_letter = office.lodge_again(), office.lodge(text="one letter")
    for claim_id in (first, on_policy, *others, again, same_letter):
        days = timedelta(days=claim_id in (first, on_policy))
        office.put(claim_id, account_key="one account", created_at=NOON - days)
    found = {each.id: each.matches for each in review(office, again).duplicates}
    assert "the same kind of incident on this policy" in found[on_policy]
    assert "the same document" in {each.id: each.matches for each in review(office, same_letter).duplicates}[first]
    assert len(found) == 4


def test_the_same_document_on_two_policies_is_a_duplicate_of_both(office: Office) -> None:
    first, second = office.lodge(text="one letter"), office.lodge(text="one letter")
    assert [each.matches for each in review(office, first).duplicates] == [("the same document",)]
    assert [each.id for each in review(office, second).duplicates] == [first]


def test_one_account_of_two_borrowers_calls_for_a_reason_and_no_supervisor(office: Office) -> None:
    first, second = office.lodge(**KNOWN), office.lodge(**KNOWN)
    for claim_id in (first, second):
        office.put(claim_id, account_key="k" * 64)
    assert [each.matches for each in review(office, first).duplicates] == [("the same payout account",)]
    with pytest.raises(InvalidInput, match=r"reasons.duplicate must be given, as “No other claim .*” is not known"):
        office.move(second, "Approved", by="bola", amount="75000", reasons={})
    office.move(second, "Approved", by="bola", amount="75000", reasons={"duplicate": "Husband and wife"})


def test_many_duplicates_are_named_by_the_first_and_counted(office: Office) -> None:
    for _ in range(5):
        latest = office.lodge_again()
    check = next(check for check in review(office, latest).checks if check.key == "duplicate")
    assert check.detail.count(" has ") == 3
    assert check.detail.endswith("; and 1 more")
    assert len(review(office, latest).duplicates) == 4


def test_three_claims_of_one_phone_in_ninety_days_call_for_a_reason(office: Office) -> None:
    office.lodge()
    incidents = ("Death", "Temporary disability")
    later = [NOON + timedelta(minutes=number) for number in (1, 2)]
    losses = zip(incidents, later, strict=True)
    claims = [office.lodge_again(incident_type=each, at=at, **KNOWN) for each, at in losses]
    assert [check.detail for check in review(office, claims[-1]).unmet_checks if check.key == "velocity"] == [
        "3 of this phone, account or e-mail up to this one"
    ]
    assert "velocity" not in [check.key for check in review(office, claims[0]).unmet_checks]


def test_an_officer_does_not_approve_a_duplicate_and_a_supervisor_says_why(office: Office) -> None:
    office.lodge(**KNOWN)
    second = office.lodge_again(**KNOWN)
    with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: No other claim for this loss"):
        office.move(second, "Approved", by="bola", amount="75000")
    with pytest.raises(InvalidInput, match=r"reasons.duplicate must be given"):
        office.move(second, "Approved", by="sade", amount="75000", reasons={})
    with pytest.raises(InvalidInput, match="reasons"):
        office.move(second, "Approved", by="sade", amount="75000", reasons={"duplicate": " ", "benefit": "x" * 501})
    assert office.claim(second).claim_status == "Pending"
    office.move(second, "Approved", by="sade", amount="75000", reasons={"duplicate": "Two jobs,  two losses"})
    assert [(each.key, each.is_failed, each.reason, each.by) for each in review(office, second).overrides] == [
        ("duplicate", True, "Two jobs, two losses", "sade")
    ]


def test_a_benefit_that_was_not_bought_needs_a_supervisor_and_a_reason(office: Office) -> None:
    claim_id = office.lodge(incident_type="Critical illness", **KNOWN)
    assert [check.key for check in review(office, claim_id).unmet_checks] == ["benefit"]
    with pytest.raises(NotAllowed, match="Benefit bought"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    with pytest.raises(InvalidInput, match=r"reasons.benefit"):
        office.move(claim_id, "Approved", by="root", amount="75000", reasons={})


def test_a_clean_claim_needs_no_reason(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    assert review(office, claim_id).unmet_checks == []
    office.move(claim_id, "Approved", by="bola", amount="75000", reasons={})
    assert review(office, claim_id).overrides == []


def test_an_unknown_check_needs_a_reason_of_its_own(office: Office) -> None:
    claim_id = office.lodge()
    unmet = {check.key for check in review(office, claim_id).unmet_checks}
    assert unmet == {"bought", "in_force", "premium", "waiting", "loan_dates", "reported"}
    with pytest.raises(InvalidInput) as refused:
        office.move(claim_id, "Approved", by="bola", amount="75000", reasons={"in_force": "Told by phone"})
    assert {fault.field for fault in refused.value.faults} == {f"reasons.{key}" for key in unmet - {"in_force"}}


def test_reasons_are_no_part_of_any_other_move(office: Office) -> None:
    claim_id = office.lodge()
    with pytest.raises(InvalidInput, match="reasons is no part of the move to Reviewing"):
        office.move(claim_id, "Reviewing", reasons={"benefit": "because"})
    with pytest.raises(InvalidInput, match="reasons must be by check"):
        office.move(claim_id, "Approved", amount="1", reasons={"no such check": "because"})


def test_a_duplicate_that_comes_after_the_approval_stops_the_payment(office: Office) -> None:
    claim_id = accepted(office, office.lodge())
    late = office.lodge_again()
    with pytest.raises(StateForbids, match="no other claim for this loss that the approval did not know of"):
        office.move(claim_id, "Paid", by="ada", payment_reference="ONE")
    office.move(late, "Declined", by="sade", reason="duplicate", note="The same loss")
    office.move(claim_id, "Paid", by="ada", payment_reference="ONE")
    assert paid(office) == 7_500_000


@pytest.mark.both_databases
def test_approvals_against_a_check_are_counted_and_kept(office: Office) -> None:
    office.move(office.lodge(**KNOWN), "Approved", by="sade", amount="75000", reasons={})
    office.move(office.lodge(), "Approved", by="sade", amount="75000")
    window = Window(clock.today() - timedelta(days=3), clock.today() + timedelta(days=1))
    with office.store.reading(DESK) as session:
        assert claim_figures.build_summary(session, window).current.overridden == 1
    changes: tuple[Any, ...] = (sa.update(ClaimOverride).values(reason="other"), sa.delete(ClaimOverride))
    for change in changes:
        with pytest.raises(DatabaseError, match="keeps what it holds"), office.store.writing(DESK) as session:
            session.execute(change)
