"""Corrections of what was submitted: with a reason, and by a supervisor where more is owed (contract C12, C16)."""

from typing import Any

import pytest

from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import corrections as claim_corrections
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, KIN, Office


def correct(
    office: Office, claim_id: Any, *, by: str = "bola", reason: str = "The lender wrote again", **amounts: Any
) -> Any:
    version = amounts.pop("version", office.claim(claim_id).version)
    return office.do(
        claim_corrections.correct_amounts, claim_id, by=by, amounts=amounts, reason=reason, version=version
    )


def test_an_officer_lowers_what_is_owed_with_a_reason_and_the_history_has_both(office: Office) -> None:
    claim_id = office.lodge()
    correct(office, claim_id, pending_repayment_amount="60000")
    entry = office.log(claim_id)[-1]
    assert (entry.action, entry.after["reason"]) == ("claim corrected", "The lender wrote again")
    assert entry.after["pending_repayment_amount"] == "60000.00"
    assert entry.after["pending_repayment_amount_before"] == "75000.00"
    with pytest.raises(InvalidInput, match=r"amount must not be above ₦60,000.00"):
        office.move(claim_id, "Approved", by="sade", amount="75000")
    correct(office, claim_id, loan_amount="90000")
    assert "loan_differs" in office.claim(claim_id).flags
    correct(office, claim_id, loan_amount="100000")
    assert "loan_differs" not in office.claim(claim_id).flags


def test_the_amount_claimed_follows_a_correction_once_it_is_known(office: Office) -> None:
    claim_id = office.lodge()
    correct(office, claim_id, pending_repayment_amount="70000")
    assert office.claim(claim_id).claim_amount_minor == 0, "of a loan the review says what is owed"
    office.move(claim_id, "Reviewing")
    correct(office, claim_id, pending_repayment_amount="60000")
    assert office.claim(claim_id).claim_amount_minor == 6_000_000


def test_nobody_but_a_supervisor_raises_what_is_owed(office: Office) -> None:
    claim_id = office.lodge()
    with pytest.raises(NotAllowed, match="Raising what is owed needs a supervisor"):
        correct(office, claim_id, pending_repayment_amount="75000.01")
    assert office.claim(claim_id).version == 1
    correct(office, claim_id, by="sade", pending_repayment_amount="80000")
    office.move(claim_id, "Approved", by="sade", amount="80000")


def test_an_officer_does_not_raise_what_was_claimed_under_an_estimate_to_estimate_more_after_it(office: Office) -> None:
    claim_id = office.lodge()
    meta = {"cost_of_repair": "60000.00", "repair_receipt": "https://x.example/r"}
    office.put(claim_id, credit_life_claim_meta=None, gadget_claim_meta=meta, claim_amount_minor=6_000_000)
    estimate = {"estimate_document": "repair_receipt"}
    office.move(claim_id, "Viewed")
    office.move(claim_id, "Repair estimate submitted", amount="50000", **estimate)
    with pytest.raises(NotAllowed, match="Raising what was claimed needs a supervisor"):
        correct(office, claim_id, cost_of_repair="600000")
    correct(office, claim_id, cost_of_repair="55000")
    assert office.claim(claim_id).claim_amount_minor == 5_500_000
    office.move(claim_id, "Reviewing")
    with pytest.raises(NotAllowed, match=r"₦60,000.00 is above the ₦55,000.00 claimed"):
        office.move(claim_id, "Repair estimate submitted", amount="60000", note="By the workshop", **estimate)


@every_case(
    ("amounts", "field"),
    [
        ({"pending_repayment_amount": "100000.01"}, "pending_repayment_amount"),
        ({"pending_repayment_amount": "75000"}, "loan_amount"),
        ({"cost_of_repair": "1"}, "cost_of_repair"),
        ({"loan_amount": "much"}, "loan_amount"),
        ({"loan_amount": "99999", "reason": ""}, "correction_reason"),
    ],
)
def test_a_wrong_correction_is_refused_by_name(office: Office, amounts: dict[str, Any], field: str) -> None:
    claim_id = office.lodge()
    with pytest.raises(InvalidInput) as refused:
        correct(office, claim_id, by="sade", **amounts)
    assert {fault.field for fault in refused.value.faults} == {field}


def test_what_was_submitted_stands_once_an_offer_was_accepted(office: Office) -> None:
    claim_id = office.lodge()
    with pytest.raises(StaleVersion):
        correct(office, claim_id, version=7, pending_repayment_amount="1")
    office.put(claim_id, claim_status="Offer accepted")
    with pytest.raises(StateForbids, match="keeps what was submitted"):
        correct(office, claim_id, by="sade", pending_repayment_amount="1")
    with pytest.raises(StateForbids, match="keeps what was submitted"):
        office.do(claim_corrections.set_claimant, claim_id, by="sade", claimant=KIN, reason="They called", version=1)


def test_a_death_that_came_over_the_api_gets_its_claimant_before_an_officer_approves_it(office: Office) -> None:
    claim_id = office.lodge(incident_type="Death")
    with office.store.reading(DESK) as session:
        found = claim_review.get_review(session, claim_id, person=office.people["bola"])
    assert [check.key for check in found.unmet_checks if check.passed is False] == ["claimant"]
    meta = {
        **(office.claim(claim_id).credit_life_claim_meta or {}),
        "death_certificate": "https://x.example/v1/files/a",
    }
    office.put(claim_id, credit_life_claim_meta=meta)
    with pytest.raises(NotAllowed, match="Claimed by another person"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    with pytest.raises(InvalidInput, match="claimant must be another than the owner"):
        office.do(claim_corrections.set_claimant, claim_id, claimant={}, reason="They called", version=1)
    office.do(claim_corrections.set_claimant, claim_id, claimant=KIN, reason="They called", version=1)
    claim = office.claim(claim_id)
    assert (claim.claim_owner, claim.claim_owner_first_name) == ("Next of kin", "Bisi")
    assert "Bisi" not in str(office.log(claim_id)[-1].after)
    office.move(claim_id, "Approved", by="bola", amount="75000")


def date_incident(office: Office, claim_id: Any, on: str, *, by: str = "bola", reason: str | None = "A slip") -> None:
    version = office.claim(claim_id).version
    office.do(claim_corrections.set_incident_date, claim_id, by=by, on=on, reason=reason, version=version)


@pytest.mark.frozen_at(NOON)
def test_no_officer_moves_a_loss_into_the_cover_and_a_known_day_changes_with_a_reason_only(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-08-01")
    with pytest.raises(NotAllowed, match="In force on the day of the incident"):
        office.move(claim_id, "Approved", amount="75000")
    with pytest.raises(InvalidInput, match="correction_reason must be given"):
        date_incident(office, claim_id, "2026-11-01", reason=None)
    with pytest.raises(NotAllowed, match=r"met needs a supervisor: In force on the day of the incident"):
        date_incident(office, claim_id, "2026-11-01")
    assert office.claim(claim_id).incident_date == "2026-08-01"
    date_incident(office, claim_id, "2026-11-01", by="sade", reason="The letter says so")
    assert (office.claim(claim_id).incident_date, office.log(claim_id)[-1].after["reason"]) == (
        "2026-11-01",
        "The letter says so",
    )
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    with pytest.raises(StateForbids, match="Offer accepted keeps what was submitted"):
        date_incident(office, claim_id, "2026-11-02", by="sade")


@pytest.mark.frozen_at(NOON)
@pytest.mark.parametrize("database", ["sqlite"])
def test_the_day_of_a_line_changes_where_the_line_keeps_it(office: Office) -> None:
    marine, gadget = office.lodge(), office.lodge()
    incident = {"incident_type": "Theft"}
    bare = {"credit_life_claim_meta": None, "incident_date": None}
    office.put(marine, claim_type="Marine", claim_meta={**incident, "incident_date": "2026-11-01"}, **bare)
    office.put(gadget, claim_type="Gadget", gadget_claim_meta={**incident, "date": "2026-11-01"}, **bare)
    for claim_id in (marine, gadget):
        date_incident(office, claim_id, "2026-11-02")
    assert (office.claim(marine).claim_meta or {})["incident_date"] == "2026-11-02"
    assert (office.claim(gadget).gadget_claim_meta or {})["date"] == "2026-11-02"
