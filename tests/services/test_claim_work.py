"""Working a claim: every move with what it needs, by whom, and what stays of it (contract C5-C7)."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest

from core import clock, ids
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.intake import submitted
from core.services.claims.lists import records
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import questions
from core.services.claims.workflow.changes import ClaimChange
from core.store.access import Scope
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, INPUTS, PAID, Office

pytestmark = pytest.mark.frozen_at(NOON)

# The figure of docs/claims.md: COVERDESK_RACES=200.
ROUNDS = int(os.environ.get("COVERDESK_RACES", "6"))


def refused(office: Office, kind: type[CoverdeskError], claim_id: UUID, to: str, **inputs: Any) -> CoverdeskError:
    """The refusal of a move, which leaves the claim as it was."""
    before, events = office.claim(claim_id), office.events(claim_id)
    with pytest.raises(kind) as refusal:
        office.move(claim_id, to, **inputs)
    assert type(refusal.value) is kind
    assert office.claim(claim_id) == before
    assert office.events(claim_id) == events
    return refusal.value


def broken(refusal: CoverdeskError) -> list[str]:
    assert isinstance(refusal, InvalidInput)
    return [fault.field for fault in refusal.faults]


def test_recorded_history_of_the_specification(office: Office) -> None:
    claim_id = office.lodge()
    for hours, status in enumerate(PAID, 1):
        with clock.freeze(NOON + timedelta(hours=hours)):
            office.walk(claim_id, status)
    with office.store.reading(DESK) as session:
        record = records.get_claim(session, claim_id)
    assert record["status_time_line"] == [
        {"name": "Pending", "time_stamp": "Nov 20, 2026 1:00 PM"},
        {"name": "Approved", "time_stamp": "Nov 20, 2026 2:00 PM"},
        {"name": "Offer sent", "time_stamp": "Nov 20, 2026 3:00 PM"},
        {"name": "Offer accepted", "time_stamp": "Nov 20, 2026 4:00 PM"},
        {"name": "Paid", "time_stamp": "Nov 20, 2026 5:00 PM"},
    ]
    assert (record["offer_amount"], record["claim_amount"], record["version"]) == ("70000.00", "75000.00", 5)
    claim = office.claim(claim_id)
    assert (claim.approved_amount_minor, claim.approved_by) == (7_500_000, office.people["sade"].id)
    assert claim.payment_reference == INPUTS["Paid"]["payment_reference"]


def test_move_keeps_its_note_its_author_and_its_line_in_the_log(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-10")
    change = office.move(claim_id, "approved", amount="75000.00", note=" Complete\nand within cover ")
    assert isinstance(change, ClaimChange)
    assert (change.claim_status, change.version) == ("Approved", 2)
    event = office.events(claim_id)[-1]
    assert (event.status, event.note, event.staff_id) == (
        "Approved",
        "Complete\nand within cover",
        office.people["bola"].id,
    )
    entry = office.log(claim_id)[-1]
    assert (entry.actor, entry.action) == ("staff bola@x.example", "claim moved")
    assert entry.before == {
        "claim_status": "Pending",
        "claim_amount": "0.00",
        "approved_amount": "0.00",
        "approved_by": None,
        "assigned_to": None,
        "version": 1,
    }
    assert entry.after == {
        "claim_status": "Approved",
        "claim_amount": "75000.00",
        "approved_amount": "75000.00",
        "approved_by": str(office.people["bola"].id),
        "assigned_to": str(office.people["bola"].id),
        "version": 2,
        "note": "Complete\nand within cover",
    }


@pytest.mark.both_databases
def test_history_keeps_its_order_where_two_clocks_differ(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Viewed", "Reviewing")
    with clock.freeze(NOON - timedelta(minutes=1)):
        office.walk(claim_id, "Approved")
    found = office.events(claim_id)
    assert [event.status for event in found] == ["Pending", "Viewed", "Reviewing", "Approved"]
    assert len({event.created_at for event in found}) == 4


def test_amount_must_be_above_zero(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Viewed")
    for to in ("Approved", "Repair estimate submitted"):
        for amount in (None, "0", "0.00"):
            inputs = {**INPUTS[to], "amount": amount}
            assert broken(refused(office, InvalidInput, claim_id, to, **inputs)) == ["amount"]


def test_amount_that_is_none_is_refused(office: Office) -> None:
    claim_id = office.lodge()
    for amount in ("-1", "1.001", "NaN", "1e9", "a lot", "10000000000000.01"):
        assert broken(refused(office, InvalidInput, claim_id, "Approved", amount=amount)) == ["amount"]


def test_approval_needs_the_documents_of_the_incident(office: Office) -> None:
    claim_id = office.lodge()
    meta = {**(office.claim(claim_id).credit_life_claim_meta or {}), "employment_termination_letter": None}
    office.put(claim_id, credit_life_claim_meta=meta)
    refusal = refused(office, StateForbids, claim_id, "Approved", amount="75000")
    assert str(refusal) == "Approved needs the required documents: employment termination letter"
    assert refusal.detail == {"missing": ["the required documents: employment termination letter"]}


def test_offer_lies_above_zero_and_not_above_what_was_approved(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved")
    for amount in ("0", "75000.01"):
        assert broken(refused(office, InvalidInput, claim_id, "Offer sent", amount=amount)) == ["amount"]
    office.move(claim_id, "Offer sent", amount="75000.00")
    assert office.claim(claim_id).offer_amount_minor == 7_500_000


def test_offer_without_an_amount_follows_the_rule(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Approved", amount="75000")
    version = office.claim(claim_id).version
    office.do(claim_moves.set_deductions, claim_id, excess=Decimal(5000), betterment=Decimal("100.50"), version=version)
    office.move(claim_id, "Offer sent")
    assert office.claim(claim_id).offer_amount_minor == 7_500_000 - 500_000 - 10_050


def test_offer_above_what_the_rule_gives_is_refused_and_one_below_needs_a_reason(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Approved", amount="14000")
    office.do(claim_moves.set_deductions, claim_id, excess=Decimal(1000), betterment=Decimal("500.25"), version=2)
    for above in ("12499.76", "13000.01", "14000"):
        refusal = refused(office, InvalidInput, claim_id, "Offer sent", amount=above, note="We promised")
        assert str(refusal) == "amount must not be above ₦12,499.75, what remains after excess and betterment"
    below = refused(office, InvalidInput, claim_id, "Offer sent", amount="12499.74")
    assert str(below) == "note must be given: an offer below ₦12,499.75 needs one that says why"
    office.move(claim_id, "Offer sent", amount="12499.74", note="Settled by phone")
    assert (office.claim(claim_id).offer_amount_minor, office.events(claim_id)[-1].note) == (
        1_249_974,
        "Settled by phone",
    )


def test_offer_above_what_remains_says_so(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Approved", amount="75000")
    office.do(claim_moves.set_deductions, claim_id, excess=Decimal(15000), betterment=Decimal(0), version=2)
    refusal = refused(office, InvalidInput, claim_id, "Offer sent", amount="60000.01")
    assert str(refusal) == "amount must not be above ₦60,000.00, what remains after excess and betterment"
    office.move(claim_id, "Offer sent", amount="60000")


def test_deductions_that_leave_nothing_leave_no_offer(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Approved", amount="75000")
    office.do(claim_moves.set_deductions, claim_id, excess=Decimal(80000), betterment=Decimal(0), version=2)
    assert broken(refused(office, InvalidInput, claim_id, "Offer sent")) == ["amount"]


def test_offer_after_an_estimate_needs_an_earlier_approval(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Viewed", "Repair estimate submitted")
    refusal = refused(office, StateForbids, claim_id, "Offer sent", amount="1")
    assert refusal.detail == {"missing": ["an earlier approval"]}
    office.walk(claim_id, "Approved", "Reviewing", "Approved", "Offer sent")
    assert office.claim(claim_id).claim_status == "Offer sent"


def test_decline_needs_a_reason_code_and_a_note(office: Office) -> None:
    claim_id = office.lodge()
    for inputs, fields in (
        ({}, ["reason", "note"]),
        ({"reason": "other"}, ["note"]),
        ({"note": "No"}, ["reason"]),
        ({"reason": "other", "note": "  "}, ["note"]),
        ({"reason": "because", "note": "No"}, ["reason"]),
        ({"reason": "other", "note": "No\0"}, ["note"]),
        ({"reason": "other", "note": "n" * 2001}, ["note"]),
    ):
        assert broken(refused(office, InvalidInput, claim_id, "Declined", **inputs)) == fields


def test_every_reason_code_declines(office: Office) -> None:
    claim_id = office.lodge()
    for reason in submitted.DECLINE_REASONS:
        change = office.move(claim_id, "Declined", reason=reason.title().replace(" ", "-"), note="As agreed")
        assert change.claim_status == "Declined"
        assert office.claim(claim_id).decline_reason == reason
        office.move(claim_id, "Reviewing", by="sade")


def test_payment_needs_a_reference_and_a_second_person(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    assert broken(refused(office, InvalidInput, claim_id, "Paid")) == ["payment_reference"]
    refusal = refused(office, NotAllowed, claim_id, "Paid", by="sade", payment_reference="R")
    assert refusal.detail == {"missing": ["a payer other than the approver"]}
    wrong = refused(office, InvalidInput, claim_id, "Paid", payment_reference="R", amount="70000.01")
    assert broken(wrong) == ["amount"]
    office.move(claim_id, "Paid", payment_reference="R", amount="70000")
    assert office.claim(claim_id).payment_reference == "R"


def test_payment_of_a_claim_that_nobody_approved_is_refused(office: Office) -> None:
    claim_id = office.lodge()
    office.put(claim_id, claim_status="Offer accepted", approved_amount_minor=100, offer_amount_minor=100)
    refused(office, StateForbids, claim_id, "Paid", payment_reference="R")


def test_input_that_a_move_does_not_take_is_not_dropped_silently(office: Office) -> None:
    claim_id = office.lodge()
    for to, inputs, field in (
        ("Reviewing", {"amount": "1"}, "amount"),
        ("Reviewing", {"reason": "other"}, "reason"),
        ("Approved", {"amount": "1", "payment_reference": "R"}, "payment_reference"),
    ):
        assert broken(refused(office, InvalidInput, claim_id, to, **inputs)) == [field]


def test_unknown_status_is_refused_by_name(office: Office) -> None:
    assert broken(refused(office, InvalidInput, office.lodge(), "Lost")) == ["to"]


def test_amount_above_a_limit_needs_a_supervisor(office: Office) -> None:
    claim_id = office.lodge(pending_repayment_amount="90000")
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=5_000_000)
    refusal = refused(office, NotAllowed, claim_id, "Approved", by="ada", amount="50000.01")
    assert str(refusal) == "Approved needs a supervisor: ₦50,000.01 is above the limit of ₦50,000.00"
    office.move(claim_id, "Approved", by="ada", amount="50000")
    office.move(claim_id, "Reviewing", by="ada")
    estimate = {**INPUTS["Repair estimate submitted"], "amount": "50000.01"}
    refused(office, NotAllowed, claim_id, "Repair estimate submitted", by="ada", **estimate)
    office.move(claim_id, "Approved", by="sade", amount="90000")
    refused(office, NotAllowed, claim_id, "Offer sent", by="ada", amount="90000")
    office.move(claim_id, "Offer sent", by="sade", amount="90000")
    office.move(claim_id, "Offer accepted", by="ada")
    refused(office, NotAllowed, claim_id, "Paid", by="ada", payment_reference="R")
    office.move(claim_id, "Paid", by="root", payment_reference="R")


def test_appeal_and_reopening_need_a_supervisor(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved", "Offer sent", "Offer rejected", "Declined")
    assert refused(office, NotAllowed, claim_id, "Reviewing", by="ada").detail == {"missing": ["a supervisor"]}
    office.move(claim_id, "Reviewing", by="sade", note="Appeal")
    assert office.claim(claim_id).decline_reason == "None"
    office.walk(claim_id, *PAID, "Settled")
    refused(office, NotAllowed, claim_id, "Reviewing")
    office.move(claim_id, "Reviewing", by="root", note="New papers")
    assert [event.status for event in office.events(claim_id)][-2:] == ["Settled", "Reviewing"]


def test_approval_lapses_with_the_case_it_belonged_to(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved", "Offer sent", "Offer rejected", "Declined", "Reviewing")
    office.walk(claim_id, "Repair estimate submitted")
    refused(office, StateForbids, claim_id, "Offer sent", by="sade", amount="1")
    office.walk(claim_id, *PAID, "Settled", "Reviewing", "Repair estimate submitted")
    refused(office, StateForbids, claim_id, "Offer sent", by="sade", amount="1")


def test_claims_are_worked_by_their_officers_only(office: Office) -> None:
    claim_id = office.lodge()
    refused(office, NotAllowed, claim_id, "Viewed", by="funmi")
    for verb, options in (
        (claim_moves.open_claim, {}),
        (questions.add_comment, {"text": "Hello"}),
        (claim_moves.assign_claim, {"to": None, "version": 1}),
        (claim_corrections.set_incident_date, {"on": "2026-11-01", "version": 1}),
        (claim_moves.set_deductions, {"excess": "1", "betterment": "1", "version": 1}),
    ):
        with pytest.raises(NotAllowed):
            office.do(verb, claim_id, by="funmi", **options)
    assert office.claim(claim_id).version == 1


def test_claim_of_another_mode_or_none_is_not_found(office: Office) -> None:
    claim_id, person = office.lodge(), office.people["bola"]
    for scope, wanted in ((Scope.staff(is_live=True), claim_id), (DESK, ids.new())):
        with pytest.raises(NotFound), office.store.writing(scope) as session:
            claim_moves.move_claim(session, wanted, to="Viewed", person=person, version=1)
        with pytest.raises(NotFound), office.store.writing(scope) as session:
            claim_moves.open_claim(session, wanted, person=person)


def test_second_officer_is_told_the_version_of_now(office: Office) -> None:
    claim_id = office.lodge()
    office.move(claim_id, "Reviewing", by="ada", version=1)
    refusal = refused(office, StaleVersion, claim_id, "Declined", version=1, reason="other", note="No")
    assert refusal.status == 409
    assert refusal.detail == {"version": 2, "claim_status": "Reviewing"}
    office.move(claim_id, "Declined", version=refusal.detail["version"], reason="other", note="No")


def race(office: Office, rounds: int) -> None:
    claim_id, meet = office.lodge(), Barrier(2)
    office.move(claim_id, "Reviewing")

    def attempt(by: str, to: str, version: int) -> Any:
        meet.wait()
        try:
            return office.move(claim_id, to, by=by, version=version)
        except StaleVersion as stale:
            return stale

    with ThreadPoolExecutor(2) as pool:
        for number in range(rounds):
            version = office.claim(claim_id).version
            to = ("Inspection submitted", "Reviewing")[number % 2]
            answers = list(pool.map(attempt, ("ada", "bola"), (to, to), (version, version)))
            assert sorted(type(answer).__name__ for answer in answers) == ["ClaimChange", "StaleVersion"]
            (loser,) = (answer for answer in answers if isinstance(answer, StaleVersion))
            assert loser.detail == {"version": version + 1, "claim_status": to}
    assert len(office.events(claim_id)) == rounds + 2
    assert office.claim(claim_id).version == rounds + 2
    assert len(office.log(claim_id)) == rounds + 2


@pytest.mark.both_databases
def test_two_officers_on_one_claim_have_one_winner(office: Office) -> None:
    race(office, ROUNDS)


def test_opening_a_pending_claim_makes_it_viewed_once(office: Office) -> None:
    claim_id = office.lodge()
    first = office.do(claim_moves.open_claim, claim_id, by="ada")
    again = office.do(claim_moves.open_claim, claim_id, by="bola")
    assert first == again
    assert (again.claim_status, again.version) == ("Viewed", 2)
    assert [(event.status, event.staff_id) for event in office.events(claim_id)] == [
        ("Pending", None),
        ("Viewed", office.people["ada"].id),
    ]
    office.move(claim_id, "Reviewing")
    assert office.do(claim_moves.open_claim, claim_id).claim_status == "Reviewing"


@pytest.mark.both_databases
def test_two_who_open_a_claim_at_once_view_it_once(office: Office) -> None:
    claim_id, meet = office.lodge(), Barrier(2)

    def attempt(by: str) -> ClaimChange:
        meet.wait()
        change: ClaimChange = office.do(claim_moves.open_claim, claim_id, by=by)
        return change

    with ThreadPoolExecutor(2) as pool:
        assert {change.version for change in pool.map(attempt, ("ada", "bola"))} == {2}
    assert len(office.events(claim_id)) == 2


def test_comment_takes_nothing_from_anybody(office: Office) -> None:
    claim_id = office.lodge()
    comment_id = office.do(questions.add_comment, claim_id, text="Called.\nNo answer.", for_claimant=True)
    with office.store.reading(DESK) as session:
        (comment,) = records.get_claim(session, claim_id)["comments"]
    assert (comment["id"], comment["text"]) == (str(comment_id), "Called.\nNo answer.")
    assert office.claim(claim_id).version == 1
    entry = office.log(claim_id)[-1]
    assert (entry.action, entry.after) == ("claim commented", {"comment_id": str(comment_id), "for_claimant": True})
    for text in ("", " \n ", "x" * 2001, "a\0b"):
        with pytest.raises(InvalidInput, match="text"):
            office.do(questions.add_comment, claim_id, text=text)


def test_what_officers_say_to_each_other_never_reaches_the_claimant(office: Office) -> None:
    claim_id = office.lodge()
    office.do(questions.add_comment, claim_id, text="I doubt the letter.")
    office.do(questions.add_comment, claim_id, text="We are on it.", for_claimant=True)
    office.do(questions.ask_claimant, claim_id, text="Please send the original.")
    office.move(claim_id, "Viewed", note="Odd")
    with office.store.reading(DESK) as session:
        record = records.get_claim(session, claim_id)
    assert [comment["text"] for comment in record["comments"]] == ["We are on it.", "Please send the original."]
    assert "Odd" not in str(record)


def test_claim_is_assigned_to_who_works_claims(office: Office) -> None:
    claim_id, ada = office.lodge(), office.people["ada"].id
    assert office.do(claim_moves.assign_claim, claim_id, to=ada, version=1).version == 2
    assert office.claim(claim_id).assigned_to == ada
    entry = office.log(claim_id)[-1]
    assert (entry.before, entry.after) == (
        {"assigned_to": None, "version": 1},
        {"assigned_to": str(ada), "version": 2},
    )
    for nobody in (office.people["funmi"].id, ids.new()):
        with pytest.raises(InvalidInput, match="assigned_to"):
            office.do(claim_moves.assign_claim, claim_id, to=nobody, version=2)
    with pytest.raises(StaleVersion):
        office.do(claim_moves.assign_claim, claim_id, to=None, version=1)
    office.do(claim_moves.assign_claim, claim_id, to=None, version=2)
    assert office.claim(claim_id).assigned_to is None


def test_day_of_the_incident_is_filled_in_and_flagged(office: Office) -> None:
    claim_id = office.lodge(loan_amount="99000")
    assert office.claim(claim_id).flags == ["loan_differs"]
    with clock.freeze(NOON):
        office.do(claim_corrections.set_incident_date, claim_id, on="2026-08-30", version=1)
        assert office.claim(claim_id).flags == ["early_loss", "loan_differs"]
        office.do(claim_corrections.set_incident_date, claim_id, by="sade", on="2026-11-01", version=2, reason="A slip")
        assert office.claim(claim_id).flags == ["loan_differs"]
        assert office.claim(claim_id).incident_date == "2026-11-01"
        for day in ("2026-11-21", "soon"):
            with pytest.raises(InvalidInput, match="incident_date"):
                office.do(claim_corrections.set_incident_date, claim_id, on=day, version=3, reason="A slip")
    entry = office.log(claim_id)[-1]
    assert entry.before == {"incident_date": "2026-08-30", "flags": ["early_loss", "loan_differs"], "version": 2}


@pytest.mark.both_databases
def test_same_incident_that_turns_out_is_flagged(office: Office) -> None:
    first, second = office.lodge(), office.lodge_again(incident_date="2026-11-02")
    with clock.freeze(NOON + timedelta(hours=1)):
        office.do(claim_corrections.set_incident_date, second, on="2026-11-01", version=1, reason="A slip")
        assert "duplicate" not in office.claim(second).flags
        office.do(claim_corrections.set_incident_date, first, on="2026-11-01", version=1)
    assert "duplicate" in office.claim(first).flags


def test_decided_claim_keeps_its_facts(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, *PAID)
    with pytest.raises(StateForbids, match="keeps what was submitted"):
        office.do(claim_corrections.set_incident_date, claim_id, on="2026-11-01", version=5)
    with pytest.raises(StateForbids, match="keeps its facts"):
        office.do(claim_moves.set_deductions, claim_id, excess=Decimal(1), betterment=Decimal(0), version=5)
