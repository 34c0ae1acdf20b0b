"""Rows written past the services that break a rule on claims are found by name and sum."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.desk import store_check
from core.services.audit import log as audit
from core.services.claims.review import coverage_checks
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow.moves import BY_COMMAND
from core.services.policies import changes as policy_changes
from core.store.access import Scope
from core.store.schema.tables import Claim, ClaimEvent, ClaimOverride, ClaimPayment, FileMark, Policy, UploadedFile
from tests.planting import find_faults, planted
from tests.portfolio import build_payment
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}
PAID = ("Approved", "Offer sent", "Offer accepted", "Paid")
OUTSIDE = "No loss outside its cover was paid without a reason"
UNAPPROVED = "What a claim was paid, somebody approved"
TWO_LINKS = "Nobody paid a claim whose approval, payee or estimate was theirs"
RETURNS = "Nobody noted the return of a claim that they approved or paid"
BY_THE_COMMAND_LINE = "No claim was decided on by the command line"


def faults(office: Office, rule: str = "") -> list[str]:
    """List what one rule of the check finds, or all of them."""
    with office.store.reading(Scope.system()) as session:
        return find_faults(session, rule) if rule else store_check.list_faults(session)


def named(claim_id: UUID) -> str:
    return f"claim C-{claim_id.hex[-8:].upper()}"


def paid(office: Office, **changed: Any) -> UUID:
    claim_id = office.lodge(**{**KNOWN, **changed})
    office.walk(claim_id, *PAID)
    return claim_id


def plant(office: Office, *statements: Any) -> None:
    with office.store.writing(Scope.system()) as session:
        for statement in statements:
            session.execute(statement.execution_options(synchronize_session=False))


def insert_payment(office: Office, claim_id: UUID, minor: int, *, by: str, reference: str = "PLANTED") -> None:
    claim = office.claim(claim_id)
    with office.store.writing(DESK) as session:
        for row in build_payment(claim, clock.now(), reference):
            row.amount_minor = minor
            if isinstance(row, ClaimPayment):
                row.paid_by = office.people[by].id
            session.insert(row)


def test_a_return_noted_by_who_approved_or_paid_is_named_with_what_was_paid(office: Office) -> None:
    """A false return has the same loss paid twice: nobody who has another part in its payment notes one."""
    claim_id = paid(office)
    office.move(claim_id, "Offer accepted", by="root", payment_reference="BACK", note="It came back")
    assert faults(office, RETURNS) == []
    for name, part in (("sade", "approved"), ("ada", "paid")):
        by = f"(SELECT id FROM staff WHERE name = '{name}')"
        noted = f"UPDATE claim_payment SET paid_by = {by} WHERE reverses IS NOT NULL"
        with planted(office.store, noted, without={"claim_payment_update": "claim_payment"}) as session:
            found = f"{named(claim_id)}, ₦70,000.00 was noted as returned by {name}, who {part} it"
            assert find_faults(session, RETURNS) == [found]
            # A version without the rule let them, and its log does not say that the approval ended.
            entry: dict[str, Any] = {"actor": f"staff {name}@x.example", "subject": f"claim {claim_id}", "before": None}
            noted_then = {"claim_status": "Offer accepted", "reversed": "70000.00"}
            audit.write(session, action="claim moved", after=noted_then, **entry)
            assert find_faults(session, RETURNS) == []
            audit.write(session, action="claim moved", after={**noted_then, "approval": "ended"}, **entry)
            assert find_faults(session, RETURNS) == [found]
    logged = next(entry.after or {} for entry in reversed(office.log(claim_id)) if entry.action == "claim moved")
    assert (logged["reversed"], logged["approval"]) == ("70000.00", "ended")


def test_a_second_submission_of_a_paid_claim_that_was_paid_itself_is_named_with_both_sums(office: Office) -> None:
    """It was closed as one before a paid claim could not be."""
    rule = "No second submission of a paid claim was paid"
    first, second = paid(office), office.lodge_again(**KNOWN)
    office.do(claim_moves.link_second_submission, second, first=named(first)[6:], by="ada", version=1)
    assert faults(office, rule) == []
    insert_payment(office, second, 4_000_000, by="ada")
    assert faults(office, rule) == [
        f"{named(second)}, ₦40,000.00 paid: it is closed as the second submission of {named(first)}, ₦70,000.00 paid"
    ]


def explain(office: Office, claim_id: UUID, check_key: str) -> None:
    """Give a reason for a check that the claim did not meet."""
    claim = office.claim(claim_id)
    with office.store.writing(DESK) as session:
        events = session.execute(sa.select(col(ClaimEvent.id)).where(col(ClaimEvent.claim_id) == claim_id))
        session.insert(
            ClaimOverride(
                id=ids.new(),
                distributor_id=claim.distributor_id,
                is_live=claim.is_live,
                claim_id=claim_id,
                event_id=events.scalars().all()[-1],
                check_key=check_key,
                is_failed=True,
                detail="It is not met",
                reason="The insurer agreed in writing",
                staff_id=office.people["sade"].id,
                created_at=clock.now(),
            )
        )


def test_an_honest_office_has_no_fault(office: Office) -> None:
    paid(office)
    assert faults(office) == []


def test_payment_for_a_loss_from_before_the_sale(office: Office) -> None:
    claim_id = paid(office)
    plant(office, sa.update(Claim).where(col(Claim.id) == claim_id).values(incident_date="2026-08-01"))
    rule = "No loss from before its sale was paid without a reason"
    explain(office, claim_id, coverage_checks.IN_FORCE)
    fault = f"{named(claim_id)}, ₦70,000.00 paid: the loss was before the sale, and nobody gave a reason"
    assert fault in faults(office, rule)
    explain(office, claim_id, coverage_checks.BOUGHT)
    assert fault not in faults(office, rule)


@pytest.mark.both_databases
def test_payment_for_a_loss_from_after_the_loan_was_said_to_be_over(office: Office) -> None:
    claim_id = paid(office)
    policy_id = office.claim(claim_id).policy_id
    over_on, fault = (
        {"ended_on": "2026-10-30"},
        "outside the cover, whose loan was over on 30 Oct 2026, and nobody gave",
    )
    with office.store.writing(Scope.system()) as session:
        subject = audit.subject_of("policy", policy_id)
        audit.write(session, actor="key", action="policy cancelled", subject=subject, after=over_on)
    plant(office, sa.update(Policy).where(col(Policy.id) == policy_id).values(cancelled_at=NOON))
    plant(office, sa.update(Claim).where(col(Claim.id) == claim_id).values(created_at=NOON - timedelta(hours=1)))
    assert not [each for each in faults(office, OUTSIDE) if named(claim_id) in each], "it was paid before"
    plant(office, sa.update(Claim).where(col(Claim.id) == claim_id).values(created_at=NOON))
    assert any(fault in each for each in faults(office, OUTSIDE))


def test_payment_for_a_loss_outside_the_cover(office: Office) -> None:
    claim_id = paid(office)
    plant(office, sa.update(Claim).where(col(Claim.id) == claim_id).values(incident_date="2028-11-10"))
    explain(office, claim_id, coverage_checks.BOUGHT)
    fault = "₦70,000.00 paid: its loss of 10 Nov 2028 is outside the cover, and nobody gave a reason"
    assert f"{named(claim_id)}, {fault}" in faults(office, OUTSIDE)
    explain(office, claim_id, coverage_checks.IN_FORCE)
    assert f"{named(claim_id)}, {fault}" not in faults(office, OUTSIDE)


def test_payment_for_a_loss_before_the_desk_put_its_cover_in_force(office: Office) -> None:
    claim_id = paid(office)
    for actor in ("insurer", "staff funmi@x.example"):
        assert not [each for each in faults(office, OUTSIDE) if "outside the cover" in each], "nobody at the desk did"
        office.desk.change_policy(activated=False, version=1)
        given = {"expected_version": 1, "start_on": date(2026, 8, 22), "policy_number": "BY/HAND/1", "actor": actor}
        with office.store.writing(DESK) as session:
            policy_changes.activate(session, office.desk.sale.policy_id, insurer_accepted="By telephone", **given)
    fault = "its loss of 10 Nov 2026 is outside the cover, which the desk put in force on 20 Nov 2026, and nobody gave"
    assert f"{named(claim_id)}, ₦70,000.00 paid: {fault} a reason" in faults(office, OUTSIDE)


def test_payment_on_an_approval_that_had_lapsed(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    payee = {"name": "Another", "bank_name": "A Bank", "account_number": "0123456788", "reason": "By telephone"}
    office.do(claim_corrections.set_payee, claim_id, by="root", version=office.claim(claim_id).version, **payee)
    with clock.freeze(NOON + timedelta(hours=1)):
        insert_payment(office, claim_id, 7_000_000, by="ada")
    fault = "₦70,000.00 was paid though its approval had lapsed: the payee and the account were changed"
    assert f"{named(claim_id)}, {fault}" in faults(office, "Nothing was paid on an approval that had lapsed")


def test_payment_above_what_was_approved_and_without_an_approval(office: Office) -> None:
    claim_id, other = paid(office), office.lodge(**KNOWN)
    insert_payment(office, claim_id, 1_000_000, by="ada")
    assert f"{named(claim_id)}, ₦80,000.00 paid: ₦75,000.00 was approved" in faults(office, UNAPPROVED)
    insert_payment(office, other, 500_000, by="ada", reference="PLANTED 2")
    assert f"{named(other)}, ₦5,000.00 paid: ₦0.00 was approved" in faults(office, UNAPPROVED)


def test_payment_by_who_approved(office: Office) -> None:
    claim_id = paid(office)
    insert_payment(office, claim_id, 100_000, by="sade")
    assert f"{named(claim_id)}, ₦1,000.00 was paid by sade, who approved it" in faults(office, TWO_LINKS)


def test_who_sets_a_payee_after_having_paid_is_no_two_links(office: Office) -> None:
    claim_id = paid(office)
    office.walk(claim_id, "Settled", "Reviewing", "Approved")
    payee = {"name": "Another", "bank_name": "A Bank", "account_number": "0123456788", "reason": "By telephone"}
    with clock.freeze(NOON + timedelta(hours=1)):
        office.do(claim_corrections.set_payee, claim_id, by="ada", version=office.claim(claim_id).version, **payee)
    assert faults(office) == []
    with clock.freeze(NOON + timedelta(hours=2)):
        insert_payment(office, claim_id, 100_000, by="ada")
    assert f"{named(claim_id)}, ₦1,000.00 was paid by ada, who set a payee" in faults(office, TWO_LINKS)


def test_claim_that_is_not_what_was_approved(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved")
    plant(office, sa.update(Claim).where(col(Claim.id) == claim_id).values(incident_date="2026-11-09"))
    assert f"{named(claim_id)}, ₦75,000.00 approved: the incident was changed since" in faults(
        office, "Every approved claim is what was approved"
    )


def test_claims_of_a_policy_that_come_to_more_than_is_owed(office: Office) -> None:
    first = paid(office)
    second = office.lodge_again(incident_type="Permanent disability", **KNOWN)
    office.put(second, claim_status="Approved", approved_amount_minor=7_000_000, approved_by=office.people["sade"].id)
    office.certify(second)
    assert first != second
    expected = f"{named(second)}, ₦70,000.00 paid or approved: ₦5,000.00 is owed with the other claims of its policy"
    assert expected in faults(office, "The claims of a policy come to no more than is owed")


def test_estimate_above_what_was_claimed(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.put(claim_id, repair_estimate_minor=275_000_000)
    assert f"{named(claim_id)}, ₦2,750,000.00 estimated: ₦75,000.00 was claimed" in faults(
        office, "No estimate is above what was claimed without a note"
    )


def test_approval_by_who_had_declined(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Viewed", "Approved")
    claim = office.claim(claim_id)
    row = ClaimEvent(
        id=ids.new(),
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim_id,
        status="Declined",
        staff_id=office.people["sade"].id,
        created_at=NOON - timedelta(days=1),
    )
    with office.store.writing(DESK) as session:
        session.insert(row)
    assert f"{named(claim_id)}, ₦75,000.00 was approved by sade, who had declined it" in faults(
        office, "Nobody approved what they had declined"
    )


def test_two_claims_paid_on_one_paper(office: Office) -> None:
    first, second = paid(office), paid(office)
    with office.store.writing(Scope.system()) as session:
        query = sa.select(col(UploadedFile.code)).where(col(UploadedFile.claim_id).in_((first, second)))
        for code in session.execute(query).scalars():
            session.insert(FileMark(mark="t0123456789abcdef", code=code))
    rule = "No two claims were paid on one paper without a word"
    explain(office, first, coverage_checks.IN_FORCE)
    expected = f"{named(first)}, ₦70,000.00 paid: another paid claim has the same paper, and nobody said why"
    assert expected in faults(office, rule)
    explain(office, second, coverage_checks.DUPLICATE)
    assert expected not in faults(office, rule)


def test_payment_under_a_reference_that_cannot_be_typed(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    insert_payment(office, claim_id, 7_000_000, by="sade", reference="R\u20111")
    found = faults(office, "Every payment reference can be typed")
    assert any("₦70,000.00: its reference has a character" in each and "U+2011" in each for each in found)


def test_claim_that_the_command_line_approved(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved")
    assert not [each for each in faults(office, BY_THE_COMMAND_LINE) if "command line" in each]
    with office.store.writing(Scope.system()) as session:
        after = {"to": "Approved", "officer": "sade@x.example"}
        subject = audit.subject_of("claim", claim_id)
        audit.write(session, actor="command line, eve at desk-1", action=BY_COMMAND, subject=subject, after=after)
    (found,) = [each for each in faults(office, BY_THE_COMMAND_LINE) if "command line" in each]
    assert found.startswith(named(claim_id))
    assert "₦75,000.00, was made Approved for sade@x.example by command line, eve at desk-1" in found


@pytest.mark.both_databases
def test_table_that_lost_what_keeps_its_rows(office: Office) -> None:
    paid(office)
    with office.store.writing(Scope.system()) as session:
        on = "" if office.store.is_sqlite else " ON claim_payment"
        session.connection().exec_driver_sql(f"DROP TRIGGER claim_payment_update{on}")
    words = "nothing in the database keeps the 1 rows of claim_payment, ₦70,000.00: its trigger for update is gone"
    assert words in faults(office, "The database keeps the rows that stay")
