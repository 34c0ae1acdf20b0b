"""Cover bought after a loss, limits over all claims of a policy, and estimates (contract K1, K5, K6)."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers.insurer_a import THIRD_PARTY
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.catalogue import product_list
from core.services.claims.review import review as claim_review
from core.services.claims.review.coverage_checks import CHECK_KEYS
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.finance.credit_notes import deciding
from core.services.policies import changes
from core.services.renewals import renewals
from core.store.access import Scope, Store
from core.store.schema.tables import Agreement, Claim, CreditNote, Policy, ProductVersion
from tests.conftest import Partner
from tests.planting import find_faults
from tests.services.claim_desk import NOON, Desk
from tests.services.claim_office import DESK, Office
from tests.services.loan_books import person
from tests.services.races import run_while_open
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}


def review(office: Office, claim_id: UUID) -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people["sade"])


def check(office: Office, claim_id: UUID, key: str) -> tuple[bool | None, str]:
    return next((each.passed, each.detail) for each in review(office, claim_id).checks if each.key == key)


def test_cover_that_was_bought_after_the_loss_fails_whenever_it_was_made_to_begin(office: Office) -> None:
    claim_id = office.lodge_on_cover_bought_after()
    assert check(office, claim_id, "bought") == (False, "Bought on 20 Nov 2026, after the loss")
    assert check(office, claim_id, "in_force")[0] is True
    assert "early_claim" in office.claim(claim_id).flags
    with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: Bought before the loss"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    with pytest.raises(InvalidInput, match=r"reasons\.bought must be given"):
        office.move(claim_id, "Approved", by="sade", amount="1000", reasons={})
    with pytest.raises(NotAllowed, match=r"an admin: the cover was bought after the loss.*up to ₦50,000.00"):
        office.move(claim_id, "Approved", by="sade", amount="50000.01")
    office.move(claim_id, "Approved", by="sade", amount="50000")
    second = office.lodge_again(incident_type="Permanent disability", incident_date="2026-10-28")
    with pytest.raises(NotAllowed, match=r"an admin: the cover was bought after the loss.*up to ₦0.00"):
        office.move(second, "Approved", by="sade", amount="25000")
    office.move(second, "Approved", by="root", amount="25000")


def test_waiting_period_counts_from_the_sale_where_that_is_later(office: Office) -> None:
    with clock.freeze(NOON - timedelta(days=25)):
        started = (NOON - timedelta(days=120)).date().isoformat()
        office.desk.sale = sell(
            office.store, office.partner, CREDIT_LIFE, loan_start_date=started, loan_tenure=12, email="w@x.example"
        )
    claim_id = ids.parse(office.desk.lodge(incident_type="Critical illness", incident_date="2026-11-18")[0]["id"])
    assert check(office, claim_id, "bought")[0] is True
    assert check(office, claim_id, "waiting") == (False, "30 days from 26 Oct 2026, over on 25 Nov 2026")


def test_loss_on_the_day_of_the_sale_is_for_an_officer_to_judge(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-08-22")
    assert check(office, claim_id, "bought") == (None, "Bought on 22 Aug 2026, on the day of the loss")


def test_a_limit_counts_what_was_approved_on_the_same_policy_claimant_or_account(office: Office) -> None:
    first = office.lodge(**KNOWN)
    office.move(first, "Approved", by="ada", amount="60000")
    office.people["ada"] = replace(office.people["ada"], claim_limit_minor=7_000_000)
    with clock.freeze(NOON + timedelta(days=20)):
        again = {"incident_date": "2026-12-08", "at": NOON + timedelta(days=20)}
        second = office.lodge_again(incident_type="Permanent disability", accidental="false", **again)
        with pytest.raises(
            NotAllowed, match=r"₦15,000.00 with the ₦60,000.00 approved on another claim.*is above the limit"
        ) as refused:
            office.move(second, "Approved", by="ada", amount="15000")
    assert "within 90 days" in str(refused.value)
    with clock.freeze(NOON + timedelta(days=91)):
        office.move(second, "Approved", by="ada", amount="15000")


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ({"claim_owner_phone_number": "08035550101"}, {"claim_owner_phone_number": "+234 803 555 0101"}),
        ({"claim_owner_phone_number": "(080) 35.55-0101"}, {"claim_owner_phone_number": "234-80 3555 0101"}),
        ({"claim_owner_email": "Kin@x.example"}, {"claim_owner_email": "kin@x.example"}),
        # The contacts of another policy were endorsed, or somebody claims for its holder.
        ({}, {}),
    ],
    ids=["phone", "phone in odd spellings", "e-mail", "customer"],
)
def test_a_claimant_is_one_however_the_contact_is_written(
    office: Office, mine: dict[str, Any], theirs: dict[str, Any]
) -> None:
    first, second = (office.lodge(**KNOWN) for _ in range(2))
    office.put(first, **mine)
    office.put(second, **theirs or {"customer_id": office.claim(first).customer_id})
    for claim_id, other in ((first, second), (second, first)):
        office.move(other, "Approved", by="ada", amount="60000")
        with pytest.raises(NotAllowed, match=r"approved on another claim of this policy, claimant or account"):
            office.move(claim_id, "Approved", by="ada", amount="60000")
        office.move(other, "Reviewing", by="sade")
        office.put(other, approved_by=None, approved_amount_minor=0)
    office.move(first, "Declined", by="bola", reason="exclusion", note="Excluded by the wording")
    with office.store.reading(DESK) as session:
        checks = claim_review.get_review(session, second, person=office.people["sade"]).checks
    assert next(each.passed for each in checks if each.key == "declined") is False


def test_two_claims_of_one_person_that_are_approved_at_one_instant_count_together(office: Office) -> None:
    first, second = (office.lodge(**KNOWN) for _ in range(2))
    for claim_id in (first, second):
        office.put(claim_id, claim_owner_email="one@x.example")
    seen: dict[str, Any] = {
        "version": office.claim(first).version,
        "reasons": dict.fromkeys(CHECK_KEYS, "Seen, and accepted"),
    }
    refusal = run_while_open(
        office.store,
        DESK,
        lambda session: claim_moves.move_claim(
            session, first, to="Approved", person=office.people["ada"], amount="75000", **seen
        ),
        lambda: office.move(second, "Approved", by="ada", amount="75000"),
    )
    assert "₦75,000.00 with the ₦75,000.00 approved on another claim of this policy, claimant or account" in str(
        refusal
    )


def test_debt_is_owed_once_on_all_its_claims_together(office: Office) -> None:
    first = office.lodge(**KNOWN)
    for status, inputs in (("Approved", {"amount": "49999"}), ("Offer sent", {}), ("Offer accepted", {})):
        office.move(first, status, by="sade", **inputs)
    with clock.freeze(NOON + timedelta(hours=1)):
        second = office.lodge_again(incident_type="Permanent disability", at=NOON + timedelta(hours=1), **KNOWN)
        assert review(office, second).amounts.limits.owed_minor == 2_500_100
        office.move(first, "Paid", by="ada", payment_reference="ONE")
        third = office.lodge_again(incident_type="Temporary disability", at=NOON + timedelta(hours=2), **KNOWN)
        for claim_id in (second, third):
            assert review(office, claim_id).amounts.limits.owed_minor == 2_500_100
            with pytest.raises(InvalidInput, match=r"amount must not be above ₦25,001.00, what is still owed after"):
                office.move(claim_id, "Approved", by="sade", amount="49999")
            (entry,) = (each for each in office.log(claim_id) if each.action == "claim move to Approved refused")
            assert "what is still owed after" in (entry.after or {})["refused"]


def test_another_incident_of_a_loan_within_two_weeks_is_a_line_and_fails_once_one_is_approved(office: Office) -> None:
    first = office.lodge(**KNOWN)
    second = office.lodge_again(incident_type="Permanent disability", **KNOWN)
    for mine, other in ((first, second), (second, first)):
        (found,) = review(office, mine).duplicates
        assert (found.id, found.matches) == (other, ("another incident on this policy within 14 days",))
        assert check(office, mine, "duplicate")[0] is None
    office.move(first, "Approved", by="bola", amount="40000")
    words = f"C-{first.hex[-8:].upper()} (Approved) has another incident on this policy within 14 days"
    assert check(office, second, "duplicate") == (False, words)
    with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: No other claim for this loss"):
        office.move(second, "Approved", by="ada", amount="30000")
    # What is left of the debt bounds it, so that who approved the first may approve this one too.
    office.move(first, "Reviewing", by="sade")
    office.move(first, "Approved", by="sade", amount="40000")
    office.move(second, "Approved", by="sade", amount="30000")


def test_an_estimate_names_its_paper_and_one_above_the_claimed_amount_takes_a_supervisor_and_a_note(
    office: Office,
) -> None:
    claim_id = office.lodge(**KNOWN)
    office.move(claim_id, "Viewed", by="bola")
    paper = {"estimate_document": "loan_offer_letter"}
    with pytest.raises(InvalidInput, match="estimate_document must be given"):
        office.move(claim_id, "Repair estimate submitted", by="bola", amount="60000")
    with pytest.raises(InvalidInput, match="must be one of the papers of this claim: loan_offer_letter"):
        office.move(claim_id, "Repair estimate submitted", by="bola", amount="60000", estimate_document="police_report")
    with pytest.raises(
        InvalidInput,
        match=r"note must be given: the estimate is above the ₦75,000.00 claimed, and a supervisor says why",
    ):
        office.move(claim_id, "Repair estimate submitted", by="sade", amount="450000", **paper)
    with pytest.raises(NotAllowed, match=r"a supervisor: ₦450,000.00 is above the ₦75,000.00 claimed"):
        office.move(claim_id, "Repair estimate submitted", by="bola", amount="450000", note="By the shop", **paper)
    logged = [entry.action for entry in office.log(claim_id)]
    assert logged.count("claim move to Repair estimate submitted refused") == 4, "each of the four"
    office.move(claim_id, "Repair estimate submitted", by="sade", amount="450000", note="By the shop", **paper)
    assert (office.log(claim_id)[-1].after or {})["document"] == "loan_offer_letter"


def test_a_cover_whose_policy_names_no_sum_has_the_ceiling_of_its_product(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    with office.store.writing(DESK) as session:
        policy = session.get_one(Policy, office.claim(claim_id).policy_id)
        policy.submitted = {name: value for name, value in policy.submitted.items() if name != "loan_amount"}
        policy.sum_insured_minor = None
        meta = {**(office.claim(claim_id).credit_life_claim_meta or {}), "pending_repayment_amount": "5000000.00"}
        meta["loan_amount"] = "5000000.00"
        session.execute(sa.update(Claim).where(col(Claim.id) == claim_id).values(credit_life_claim_meta=meta))
    assert review(office, claim_id).amounts.limits.insured_minor == 300_000_000
    with pytest.raises(InvalidInput, match=r"amount must not be above ₦3,000,000.00, what is insured"):
        office.move(claim_id, "Approved", by="sade", amount="5000000")


def test_the_ceiling_of_a_renewed_term_is_that_of_the_rates_at_which_it_was_renewed(
    store: Store, partner: Partner
) -> None:
    sale = sell(store, partner, THIRD_PARTY)
    ends = clock.to_lagos_day(datetime.fromisoformat(sale.policy["expiration_date"]))
    with store.writing(Scope.system()) as session:
        first = product_list.get_product(session, UUID(sale.policy["product_id"])).in_force.id
        row = session.get_one(ProductVersion, first)
        later = {"id": ids.new(), "effective_at": clock.now() + timedelta(days=30)}
        meta = {**row.meta, "claim_ceiling": "1000000.00"}
        session.insert(ProductVersion(**{**row.model_dump(), **later, "meta": meta}))
    with clock.freeze(clock.lagos_midnight(ends) - timedelta(days=9)), store.writing(partner.scope()) as session:
        renewals.renew(session, sale.policy_id, partner.seller())
        policy = session.get_one(Policy, sale.policy_id)
        days = (ends - timedelta(days=20), ends + timedelta(days=20))
        found = [claim_limits.find_ceiling(session, policy, day) for day in days]
    assert found == [300_000_000, 100_000_000]


def cancelled(office: Office, *, is_declined: bool = False) -> tuple[UUID, int]:
    """End the policy, with its refund approved; the credit note and its sum in kobo."""
    if is_declined:
        office.desk.change_policy(activated=False)
    with office.store.writing(DESK) as session:
        policy = session.get_one(Policy, office.desk.sale.policy_id)
        given = {"reason": "Sold the car", "actor": "staff wale@x.example", "expected_version": policy.version}
        if is_declined:
            changes.decline(session, policy.id, **given)
        else:
            changes.cancel(session, policy.id, **given, by_insurer=False)
        note = session.execute(sa.select(CreditNote)).scalar_one()
        key, total = note.id, note.total_minor
    with office.store.writing(DESK) as session:
        deciding.approve(
            session, key, {"payee_bank": "A Bank", "payee_account": "0123456780"}, by=office.people["root"]
        )
    return key, total


def pay_back(office: Office, note: UUID) -> None:
    with office.store.writing(DESK) as session:
        paid = {"bank_reference": "BACK-1", "value_on": "2026-11-20"}
        deciding.pay(session, note, paid, by=office.people["funmi"])


@pytest.mark.both_databases
@pytest.mark.parametrize("is_declined", [False, True], ids=["cancelled", "declined"])
def test_premium_that_went_back_comes_off_the_claims_of_its_term(office: Office, is_declined: bool) -> None:
    first = office.lodge(**KNOWN)
    office.move(first, "Declined", reason="exclusion", note="Excluded by the wording", by="sade")
    note, back = cancelled(office, is_declined=is_declined)
    pay_back(office, note)
    second = office.lodge_again(**KNOWN)
    office.walk(second, "Approved")
    rest = 7_500_000 - back
    (line,) = [each for each in review(office, second).offer.steps if each.label.startswith("Less premium")]
    assert line.amount == money.to_naira(rest)
    above = f"{money.format_naira(rest)}, what remains after the .* of premium that went back"
    with pytest.raises(InvalidInput, match=above):
        office.move(second, "Offer sent", amount=str(money.to_naira(rest + 1)), note="As agreed", by="sade")
    office.move(second, "Offer sent", amount=str(money.to_naira(rest)), note="As agreed", by="sade")
    office.walk(second, "Offer accepted", "Paid")
    # Nor is what came off one claim paid by another one for the same debt.
    third = office.lodge_again(**KNOWN, pending_repayment_amount=str(money.to_naira(back)))
    with pytest.raises(InvalidInput, match=r"must not be above ₦0\.00, what is still owed"):
        office.move(third, "Approved", amount=str(money.to_naira(back)), by="sade")


@pytest.mark.parametrize(
    ("holder", "is_declined"), [("distributor", False), ("distributor", True), ("platform", False)]
)
def test_premium_that_a_distributor_has_back_on_its_statement_comes_off_a_claim_that_comes_after(
    store: Store, partner: Partner, holder: str, is_declined: bool
) -> None:
    """A lender that holds the premium ended the loan, was credited the refund, and claimed for a loss of before."""
    desk = Desk(store, partner, is_live=True)
    by = person(store, "admin", "root").id
    with store.writing(Scope.system()) as session:
        terms = {"number": "AG/1", "starts_on": date(2026, 1, 1), "collects": holder, "account": "distributor"}
        session.insert(Agreement(id=by, distributor_id=partner.id, made_by=by, created_at=NOON, **terms))
    if is_declined:
        desk.change_policy(activated=False)
    with store.writing(desk.scope) as session:
        given = {"reason": "Repaid", "actor": "key", "expected_version": 1}
        if is_declined:
            back = changes.decline(session, desk.sale.policy_id, **given).refund
        else:
            back = changes.cancel(session, desk.sale.policy_id, **given, by_insurer=False).refund
    assert back
    claim_id = ids.parse(desk.lodge(**KNOWN)[0]["id"])
    with store.reading(desk.scope) as session:
        limits = claim_limits.load(session, session.get_one(Claim, claim_id))
    assert limits.given_back_minor == (back.amount_minor if holder == "distributor" else 0)


def test_what_counts_of_another_claim_is_its_offer_once_there_is_one_also_a_rejected_one(office: Office) -> None:
    first = office.lodge(**KNOWN)
    for status, inputs in (("Approved", {"amount": "75000"}), ("Offer sent", {"amount": "40000", "note": "A part"})):
        office.move(first, status, by="sade", **inputs)
    office.move(first, "Offer rejected", by="bola")
    with clock.freeze(NOON + timedelta(hours=1)):
        second = office.lodge_again(incident_type="Permanent disability", at=NOON + timedelta(hours=1), **KNOWN)
        office.move(second, "Approved", by="root", amount="35000")
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
    with pytest.raises(InvalidInput, match=r"must not be above ₦40,000.00, what is still owed after the ₦35,000.00"):
        office.move(first, "Offer sent", by="sade", amount="75000")


def damaged(office: Office, claim_id: UUID, cost: str, *, incident_type: str = "Cracked screen") -> UUID:
    """Make a claim one for the damage of something, of which the policy covers up to its value."""
    papers = ("front_image", "back_image", "repair_receipt")
    meta = {"cost_of_repair": cost, "incident_type": incident_type}
    meta |= {name: f"https://x.example/{cost}/{name}" for name in papers}
    office.put(claim_id, credit_life_claim_meta=None, gadget_claim_meta=meta)
    with office.store.writing(DESK) as session:
        session.execute(sa.update(Policy).values(sum_insured_minor=None, submitted={"device_value": 3_000_000}))
    return claim_id


def accepted(office: Office, claim_id: UUID, amount: str, *, by: str = "sade") -> UUID:
    for status, inputs in (("Approved", {"amount": amount}), ("Offer sent", {}), ("Offer accepted", {})):
        office.move(claim_id, status, by=by, **inputs)
    return claim_id


def faults(office: Office) -> list[str]:
    with office.store.reading(Scope.system()) as session:
        return find_faults(session, "The claims of a policy come to no more than is owed")


def came_back(office: Office, claim_id: UUID) -> None:
    back = {"payment_reference": f"BACK-{claim_id.hex[-4:]}", "note": "The bank returned it"}
    office.move(claim_id, "Offer accepted", by="root", **back)


def test_two_losses_of_one_policy_are_both_owed_also_once_a_payment_came_back(office: Office) -> None:
    first = accepted(office, damaged(office, office.lodge(incident_date="2026-11-10"), "75000"), "75000")
    office.move(first, "Paid", by="ada", payment_reference="ONE")
    with clock.freeze(NOON + timedelta(hours=1)):
        second = office.lodge_again(incident_date="2026-11-12", at=NOON + timedelta(hours=1))
        accepted(office, damaged(office, second, "60000", incident_type="Liquid damage"), "60000", by="root")
        assert faults(office) == []
        came_back(office, first)
        assert faults(office) == []
        office.approve_anew(first, by=office.hire("uche", "supervisor"))
        office.move(first, "Paid", by="bola", payment_reference="ANEW")
        office.move(second, "Paid", by="bola", payment_reference="TWO")
    assert faults(office) == []


def test_one_loss_that_is_claimed_twice_is_owed_once_whenever_it_was_paid(office: Office) -> None:
    first = accepted(office, damaged(office, office.lodge(**KNOWN), "75000"), "75000")
    office.move(first, "Paid", by="ada", payment_reference="ONE")
    with clock.freeze(NOON + timedelta(hours=1)):
        second = damaged(office, office.lodge_again(at=NOON + timedelta(hours=1), **KNOWN), "80000")
        with pytest.raises(InvalidInput, match=r"amount must not be above ₦0.00, what is still owed after"):
            office.move(second, "Approved", by="root", amount="5000")


def test_the_least_debt_that_was_named_of_a_loan_is_owed_whichever_claim_is_paid_first(office: Office) -> None:
    first = office.lodge(**KNOWN)
    with clock.freeze(NOON + timedelta(hours=1)):
        later = {"pending_repayment_amount": "20000", "at": NOON + timedelta(hours=1)}
        second = office.lodge_again(incident_type="Permanent disability", **later, **KNOWN)
        accepted(office, second, "15000")
        office.move(second, "Paid", by="ada", payment_reference="ONE")
        with pytest.raises(InvalidInput, match=r"amount must not be above ₦5,000.00, what is still owed after"):
            office.move(first, "Approved", by="sade", amount="55000")
        accepted(office, first, "5000")
        assert faults(office) == []
        came_back(office, second)
        assert faults(office) == []


def test_what_is_to_be_paid_of_an_offer_counts_whole_beside_what_was_paid_before_it(office: Office) -> None:
    first = accepted(office, office.lodge(**KNOWN), "75000")
    part = {"amount": "20000", "payment_reference": "ONE", "version": office.claim(first).version}
    office.do(claim_paying.pay_part, first, by="ada", **part)
    office.move(first, "Reviewing", by="sade")
    accepted(office, first, "60000")
    assert office.claim(first).offer_amount_minor == 4_000_000
    second = office.lodge_again(incident_type="Permanent disability", **KNOWN)
    with pytest.raises(InvalidInput, match=r"above ₦15,000.00, what is still owed after the ₦60,000.00 paid or"):
        office.move(second, "Approved", by="root", amount="35000")
    office.move(second, "Approved", by="root", amount="15000")
    assert faults(office) == []


@pytest.mark.both_databases
def test_a_correction_ends_the_approval_of_another_claim_that_is_above_what_is_owed_by_it(office: Office) -> None:
    first = accepted(office, office.lodge(**KNOWN), "20000")
    part = {"amount": "10000", "payment_reference": "ONE", "version": office.claim(first).version}
    office.do(claim_paying.pay_part, first, by="ada", **part)
    second = accepted(office, office.lodge_again(incident_type="Permanent disability", **KNOWN), "55000")
    office.move(first, "Reviewing", by="sade")
    amounts: dict[str, Any] = {"amounts": {"pending_repayment_amount": "30000"}, "reason": "By the letter"}
    office.do(claim_corrections.correct_amounts, first, by="bola", version=office.claim(first).version, **amounts)
    reference = f"C-{first.hex[-8:].upper()}"
    lapse = f"what is owed was lowered to ₦20,000.00 through claim {reference} by bola on 20 Nov 2026"
    assert review(office, second).approval_fault == lapse
    assert office.log(second)[-1].action == "claim approval lapsed"
    assert faults(office) == []
    with pytest.raises(StateForbids, match=r"a new approval: what is owed was lowered to ₦20,000.00"):
        office.move(second, "Paid", by="ada", payment_reference="TWO")
    with pytest.raises(InvalidInput, match=r"must not be above ₦20,000.00, what is still owed"):
        office.approve_anew(second, by="root")
    office.move(second, "Reviewing", by="sade")
    office.move(accepted(office, second, "20000"), "Paid", by="ada", payment_reference="TWO")
    assert faults(office) == []


def test_a_claim_that_is_reviewed_again_is_promised_nothing(office: Office) -> None:
    first = accepted(office, office.lodge(**KNOWN), "75000")
    office.move(first, "Reviewing", by="sade")
    second = accepted(office, office.lodge_again(incident_type="Permanent disability", **KNOWN), "75000")
    assert faults(office) == []
    with pytest.raises(InvalidInput, match=r"amount must not be above ₦0.00, what is still owed after"):
        office.move(first, "Approved", by="sade", amount="75000")
    office.move(second, "Paid", by="bola", payment_reference="ONE")
    assert faults(office) == []
