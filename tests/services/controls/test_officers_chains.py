"""Chains of officers and supervisors on one claim, each act of which is allowed alone (contract, Controls)."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner, Result

from core import cli, clock, ids, seal
from core.covers.credit_life import CREDIT_LIFE
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.claims.intake import lodging
from core.services.claims.review import related
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import reserves as claim_reserves
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.selling import endorsing
from core.store.access import Scope
from core.store.schema.tables import Claim, Policy, Staff
from tests import papers
from tests.conftest import make_partner
from tests.planting import find_faults
from tests.services.claim_desk import NOON, Desk
from tests.services.claim_office import DESK, KIN, Office
from tests.services.selling import sell
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}
LATER = NOON + timedelta(hours=1)
PAYEE = {"name": "Bisi Okafor", "bank_name": "A Bank", "account_number": "0123456780", "reason": "By telephone"}
PAPERS = ("front_image", "back_image", "repair_receipt")
# Credit life on the reducing basis, which is another product.
OTHER = "01900000-0000-7000-8000-000000080103"
RESTS = "Somebody else gave you your password"
OWN = "It has your own e-mail, phone or account"


def seen(office: Office, claim_id: UUID) -> int:
    return office.claim(claim_id).version


def reference(claim_id: UUID) -> str:
    return f"C-{claim_id.hex[-8:].upper()}"


def damaged(office: Office, *, actor: str = "tests", **details: str) -> UUID:
    """A claim for a damaged device, which names no account: the claimant is paid by name."""
    claim_id = office.lodge(actor=actor, **KNOWN)
    own = {name: f"https://x.example/{claim_id.hex}/{name}" for name in PAPERS}
    meta = {"cost_of_repair": "60000.00", "incident_type": "Cracked screen", **own, **details}
    office.put(claim_id, credit_life_claim_meta=None, gadget_claim_meta=meta, claim_type="Gadget")
    office.put(claim_id, claim_amount_minor=6_000_000)
    return claim_id


def close_as_second(office: Office, claim_id: UUID, first: UUID) -> None:
    given = {"first": reference(first), "version": seen(office, claim_id)}
    office.do(claim_moves.link_second_submission, claim_id, by="ada", **given)


def correct(office: Office, claim_id: UUID, *, by: str, amount: str = "100000") -> None:
    given: dict[str, Any] = {"amounts": {"pending_repayment_amount": amount}, "reason": "The lender wrote again"}
    office.do(claim_corrections.correct_amounts, claim_id, by=by, version=seen(office, claim_id), **given)


def set_claimant(office: Office, claim_id: UUID, *, by: str) -> None:
    given = {"claimant": KIN, "reason": "They called", "version": seen(office, claim_id)}
    office.do(claim_corrections.set_claimant, claim_id, by=by, **given)


def set_payee(office: Office, claim_id: UUID, *, by: str) -> None:
    office.do(claim_corrections.set_payee, claim_id, by=by, version=seen(office, claim_id), **PAYEE)


def date_incident(office: Office, claim_id: UUID, *, by: str) -> None:
    given = {"on": "2026-11-01", "reason": "The letter says so", "version": seen(office, claim_id)}
    office.do(claim_corrections.set_incident_date, claim_id, by=by, **given)


def deduct(office: Office, claim_id: UUID, excess: int, *, by: str) -> None:
    given = {"excess": Decimal(excess), "betterment": Decimal(0), "version": seen(office, claim_id)}
    office.do(claim_moves.set_deductions, claim_id, by=by, **given)


def hand_over(office: Office, claim_id: UUID, *, by: str) -> None:
    office.do(claim_paying.hand_over, claim_id, by=by, version=seen(office, claim_id))


def attach(office: Office, claim_id: UUID, *, by: str) -> None:
    received = ReceivedFile(field="loan_offer_letter", file_name="a.pdf", content=papers.pdf(text="Another letter"))
    with files.store_files([received]) as (kept,):
        office.do(lodging.attach_document, claim_id, by=by, file=kept, version=seen(office, claim_id))


def reserve(office: Office, claim_id: UUID, *, by: str) -> None:
    given = {"amount": "50000", "reason": "As it looks now", "version": seen(office, claim_id)}
    office.do(claim_reserves.set_reserve, claim_id, by=by, **given)


def rest(office: Office, name: str) -> None:
    """Somebody else has reset the password of this person."""
    with office.store.writing(Scope.system()) as session:
        session.get_one(Staff, office.people[name].id).approves_from = NOON + timedelta(hours=24)
    office.people[name] = office.person(name)


def command(office: Office, claim_id: UUID, to: str, *options: str) -> Result:
    arguments = ["claims", "move", str(claim_id), "--to", to, "--by", "sade@x.example"]
    return CliRunner().invoke(cli.app, [*arguments, "--version", str(seen(office, claim_id)), *options])


@pytest.mark.parametrize("is_linked", [True, False], ids=["linked", "declined as a duplicate"])
def test_an_officer_does_not_raise_what_is_owed_by_lodging_anew(office: Office, *, is_linked: bool) -> None:
    """Correcting takes a supervisor; the claim is lodged again with more, and the first is closed for it."""
    first = office.lodge(pending_repayment_amount="50000", **KNOWN)
    with clock.freeze(LATER):
        again = {"pending_repayment_amount": "100000", "actor": "staff ada@x.example", "at": LATER, **KNOWN}
        second = office.lodge_again(**again)
        if is_linked:
            close_as_second(office, first, second)
        else:
            office.move(first, "Declined", by="ada", reason="duplicate", note="Lodged twice")
        with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: Nothing was declined before"):
            office.move(second, "Approved", by="ada", amount="100000")
        office.move(second, "Approved", by="sade", amount="100000")


def test_the_first_claim_is_not_closed_for_a_third_so_that_a_second_one_takes_its_place(office: Office) -> None:
    """The one that it is linked to is of another kind, and waits; so does an old one that was paid long ago."""
    office.lodge(incident_type="Permanent disability", incident_date="2026-09-20", at=NOON - timedelta(days=50))
    first = office.lodge_again(pending_repayment_amount="50000", **KNOWN)
    with clock.freeze(LATER):
        third = office.lodge_again(incident_type="Temporary disability", at=LATER, **KNOWN)
        second = office.lodge_again(pending_repayment_amount="100000", at=LATER, **KNOWN)
        close_as_second(office, first, third)
        with pytest.raises(NotAllowed, match="Nothing was declined before"):
            office.move(second, "Approved", by="ada", amount="100000")
        # As one that was declined as a duplicate of nobody knows which.
        office.put(first, second_of=None)
        with pytest.raises(NotAllowed, match="Nothing was declined before"):
            office.move(second, "Approved", by="ada", amount="100000")


def test_claims_that_were_lodged_twice_hide_none_that_was_declined(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(related, "MAX_RELATED", 1)
    first = office.lodge(**KNOWN)
    office.move(first, "Declined", by="sade", reason="misrepresentation", note="The letter is false")
    with clock.freeze(LATER):
        again = office.lodge_again(incident_type="Temporary disability", at=LATER, **KNOWN)
        office.move(again, "Declined", by="ada", reason="duplicate", note="Lodged twice")
        office.put(again, second_of=first)
    with clock.freeze(LATER + timedelta(hours=1)):
        claim_id = office.lodge_again(at=LATER + timedelta(hours=1), **KNOWN)
        with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: Nothing was declined before"):
            office.move(claim_id, "Approved", by="ada", amount="75000")


def test_an_officer_does_not_move_the_loss_into_the_cover_by_lodging_anew(office: Office) -> None:
    first = office.lodge(incident_date="2026-08-01")
    with clock.freeze(LATER):
        second = office.lodge_again(incident_date="2026-11-01", at=LATER)
        close_as_second(office, first, second)
        with pytest.raises(NotAllowed, match="Nothing was declined before"):
            office.move(second, "Approved", by="ada", amount="75000")


def test_a_later_loss_is_not_held_up_by_a_claim_that_was_lodged_twice_before(office: Office) -> None:
    first = office.lodge(**KNOWN)
    with clock.freeze(LATER):
        second = office.lodge_again(at=LATER, **KNOWN)
        office.move(second, "Declined", by="ada", reason="duplicate", note="Lodged twice")
        third = office.lodge_again(incident_type="Permanent disability", at=LATER + timedelta(hours=1), **KNOWN)
        for claim_id in (first, third):
            with office.store.reading(DESK) as session:
                checks = claim_review.get_review(session, claim_id, person=office.people["sade"]).checks
            assert next(each.passed for each in checks if each.key == "declined") is True


@pytest.mark.parametrize("act", [set_claimant, correct, set_payee, deduct, attach, reserve])
def test_nobody_changes_what_a_claim_of_their_own_says(office: Office, act: Any) -> None:
    """Whoever took their own e-mail off it would approve it then."""
    claim_id = office.lodge(**KNOWN)
    office.move(claim_id, "Reviewing")
    office.put(claim_id, claim_owner_email="Sade@x.example")
    given = (1_000,) if act is deduct else ()
    with pytest.raises(NotAllowed, match=OWN):
        act(office, claim_id, *given, by="sade")
    assert office.log(claim_id)[-1].action == "claim change refused"
    act(office, claim_id, *given, by="root")


def test_nobody_hands_a_claim_of_their_own_to_finance(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    office.put(claim_id, claim_owner_email="root@x.example")
    with pytest.raises(NotAllowed, match=OWN):
        hand_over(office, claim_id, by="root")


def test_a_supervisor_whose_password_was_reset_does_nothing_that_takes_one(office: Office) -> None:
    raised, dated, accepted = office.lodge(**KNOWN), office.lodge(incident_date="2026-08-01"), office.lodge(**KNOWN)
    estimated = damaged(office)
    office.move(estimated, "Viewed")
    office.walk(accepted, "Approved", "Offer sent", "Offer accepted")
    rest(office, "sade")
    for act, claim_id in (
        (correct, raised),
        (date_incident, dated),
        (set_payee, accepted),
        (hand_over, accepted),
    ):
        with pytest.raises(NotAllowed, match=RESTS):
            act(office, claim_id, by="sade")
    estimate = {"amount": "90000", "estimate_document": "repair_receipt", "note": "More"}
    with pytest.raises(NotAllowed, match="a password that nobody else gave or reset"):
        office.move(estimated, "Repair estimate submitted", by="sade", **estimate)
    correct(office, raised, by="sade", amount="60000")


def test_an_officer_takes_no_deduction_off_that_somebody_else_approved_with(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    deduct(office, claim_id, 50_000, by="bola")
    office.move(claim_id, "Approved", by="sade", amount="75000")
    with pytest.raises(NotAllowed, match="Lowering what comes off an approved claim needs a supervisor"):
        deduct(office, claim_id, 49_999, by="ada")
    assert office.log(claim_id)[-1].action == "claim deductions refused"
    deduct(office, claim_id, 60_000, by="ada")
    deduct(office, claim_id, 0, by="sade")


def test_who_changed_a_claim_after_its_approval_had_ended_does_not_approve_it_anew(office: Office) -> None:
    """The first change ends the approval; the second one was somebody's who then approved it again."""
    claim_id = office.lodge(**KNOWN)
    office.move(claim_id, "Approved", by="root", amount="75000")
    set_claimant(office, claim_id, by="bola")
    correct(office, claim_id, by="sade")
    for by in ("bola", "sade"):
        with pytest.raises(NotAllowed, match="somebody other than who made the change"):
            office.approve_anew(claim_id, by=by)
    office.approve_anew(claim_id, by="root")
    attach(office, claim_id, by="ada")
    office.approve_anew(claim_id, by="sade")
    office.move(claim_id, "Reviewing", by="sade", note="The debt is another one")
    correct(office, claim_id, by="sade", amount="74000")
    choose_by_link(office.store, office.people["sade"], by=office.people["ada"])
    for by in ("sade", "ada"):
        with pytest.raises(NotAllowed, match="an approver other than who changed its figures or claimant since"):
            office.move(claim_id, "Approved", by=by, amount="74000")
    office.move(claim_id, "Approved", by="root", amount="74000")


def test_who_set_a_claimant_who_is_paid_neither_approves_nor_pays(office: Office) -> None:
    claim_id = damaged(office)
    set_claimant(office, claim_id, by="bola")
    with pytest.raises(NotAllowed, match="an approver other than who set the claimant, who is paid"):
        office.move(claim_id, "Approved", by="bola", amount="60000")
    for status, inputs in (("Approved", {"amount": "60000"}), ("Offer sent", {}), ("Offer accepted", {})):
        office.move(claim_id, status, by="sade", **inputs)
    paid = {"payment_reference": "ONE", "payment": {"method": "Cheque"}}
    with pytest.raises(NotAllowed, match="a payer who has not set the claimant, who is paid"):
        office.move(claim_id, "Paid", by="bola", **paid)
    office.move(claim_id, "Paid", by="ada", **paid)


def test_who_lodged_a_claim_for_another_claimant_who_is_paid_does_not_approve_it(office: Office) -> None:
    """An officer makes a claim up for a friend, whom it pays by name, and would approve it."""
    bola = office.people["bola"].actor
    own, another = damaged(office, actor=bola), damaged(office, actor=bola)
    office.put(another, claim_owner="Representative", claim_owner_first_name="A", claim_owner_last_name="Friend")
    with pytest.raises(NotAllowed, match="an approver other than who set the claimant, who is paid"):
        office.move(another, "Approved", by="bola", amount="60000")
    office.move(another, "Approved", by="sade", amount="60000")
    office.move(own, "Approved", by="bola", amount="60000")


def test_no_sale_and_no_other_name_of_the_holder_says_who_is_paid_on_an_earlier_policy(office: Office) -> None:
    """A cheap sale under the e-mail of a customer gives their record another name and phone, and a friend is paid.

    Nor does who endorses the policy to another name decide on what is paid to that name.
    """
    policy_id, olu = office.desk.sale.policy_id, office.people[office.hire("olu", "operations", "supervisor")]
    with office.store.reading(DESK) as session:
        email = session.get_one(Policy, policy_id).email
    friend = {"first_name": "Al", "last_name": "Friend", "phone_number": "08035550099", "loan_account_number": "X-1"}
    sell(office.store, office.partner, CREDIT_LIFE, email=email, loan_amount="20000", **friend)
    how: dict[str, Any] = {"reason": "She married", "requested_by": "The customer", "expected_version": 1}
    uche = office.people[office.hire("uche", "operations", "supervisor")]
    for by, changed in ((olu, {"last_name": "Obi"}), (uche, {"phone_number": "08031234569"})):
        with office.store.writing(DESK) as session:
            endorsing.endorse(session, policy_id, changed, effective_on=clock.today(), by=by, **how)
        how["expected_version"] += 1
    claim_id = damaged(office)
    claim = office.claim(claim_id)
    names = (claim.claim_owner_first_name, claim.claim_owner_last_name, claim.claim_owner_name_key)
    assert (*names, claim.claim_owner_phone_number) == ("Ngozi", "Obi", "ngozi obi", "08031234569")
    for name in ("olu", "uche"):
        with pytest.raises(NotAllowed, match="an approver other than who set the claimant, who is paid"):
            office.move(claim_id, "Approved", by=name, amount="60000")
    office.move(claim_id, "Approved", by="sade", amount="60000")


def test_who_said_whom_to_call_does_not_approve_the_account_that_is_told_there(office: Office) -> None:
    """An officer makes up a loss of a customer, with the phone of a friend, who tells a colleague an account."""
    bola = office.people["bola"].actor
    called, another = damaged(office, actor=bola), damaged(office, actor=bola)
    office.put(called, claim_owner_phone_number="08035550099")
    set_claimant(office, another, by="bola")
    for claim_id in (called, another):
        set_payee(office, claim_id, by="ada")
        with pytest.raises(NotAllowed, match="an approver other than who set the claimant, who is paid"):
            office.move(claim_id, "Approved", by="bola", amount="60000")
        office.move(claim_id, "Approved", by="sade", amount="60000")


def test_who_set_the_claimant_of_a_claim_that_names_its_payee_may_approve_it(office: Office) -> None:
    claim_id = damaged(office, account_name="Ngozi Okafor")
    set_claimant(office, claim_id, by="bola")
    office.move(claim_id, "Approved", by="bola", amount="60000")


def test_by_the_command_line_a_supervisor_has_the_authority_of_an_officer(office: Office) -> None:
    """Whoever runs it types any name: a payment is not said to have come back, and no estimate is raised."""
    paid, estimated = office.lodge(**KNOWN), damaged(office)
    office.walk(paid, "Approved", "Offer sent", "Offer accepted", "Paid")
    office.move(estimated, "Viewed")
    back = command(office, paid, "Offer accepted", "--payment-reference", "BACK-1", "--note", "It came back")
    paper = ("--estimate-document", "repair_receipt", "--note", "More")
    more = command(office, estimated, "Repair estimate submitted", "--amount", "90000", *paper)
    for answer in (back, more):
        assert isinstance(answer.exception, NotAllowed)
        assert "a supervisor" in str(answer.exception)
    assert office.log(paid)[-1].action == "claim moved by command refused"
    assert office.claim(paid).claim_status == "Paid"
    assert command(office, estimated, "Reviewing").exit_code == 0


def test_what_a_claim_was_paid_counts_against_a_limit_also_once_it_is_opened_again(office: Office) -> None:
    first = office.lodge(**KNOWN)
    office.walk(first, "Approved", "Offer sent", "Offer accepted", "Paid", "Settled", "Reviewing")
    second = office.lodge_again(incident_date="2026-11-11", incident_type="Temporary disability")
    with office.store.reading(DESK) as session:
        related = claim_judgement.judge(session, session.get_one(Claim, second)).related
    assert related is not None
    assert (related.amount_minor, related.claims) == (7_000_000, 1)


def test_who_noted_that_a_payment_came_back_does_not_pay_again(office: Office) -> None:
    """A supervisor who had no other part in it would have it paid twice alone."""
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted", "Paid")
    office.move(claim_id, "Offer accepted", by="root", payment_reference="BACK-1", note="It came back")
    again = {"to": "Paid", "payment_reference": "TWO"}
    # Nor has it paid again by who paid it, or by the approval of before.
    with pytest.raises(StateForbids, match="a new approval: the return of a payment was noted by root"):
        office.move(claim_id, by="ada", **again)
    for by, part in (("root", "noted that its payment came back"), ("ada", "paid it before")):
        with pytest.raises(NotAllowed, match=f"who {part}|who made the change"):
            office.approve_anew(claim_id, by=by)
    with pytest.raises(NotAllowed, match="an approver who did not approve it before a payment of it came back"):
        office.approve_anew(claim_id, by="sade")
    office.approve_anew(claim_id, by="bola")
    with pytest.raises(NotAllowed, match="a payer who has not noted that its payment came back"):
        office.move(claim_id, by="root", **again)
    office.move(claim_id, by="ada", **again)


def test_who_issued_the_key_by_which_a_claim_named_its_account_neither_approves_nor_pays_it(office: Office) -> None:
    """An admin sends a claim in the name of a distributor, with an account of a friend, and would be its second."""
    key = f"key {ids.new()}"
    claim_id = office.lodge(actor=key, **KNOWN)
    with office.store.writing(Scope.system()) as session:
        audit.write(session, actor=office.people["root"].actor, action="key issued", subject=key)
    office.move(office.lodge(actor=key, **KNOWN), "Approved", by="root", amount="75000")
    office.put(claim_id, sealed=seal.seal({"account_number": "0123456789"}))
    with pytest.raises(NotAllowed, match="an approver other than who issued the key by which it named who is paid"):
        office.move(claim_id, "Approved", by="root", amount="75000")
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    with pytest.raises(NotAllowed, match="a payer who has not issued the key by which it named who is paid"):
        office.move(claim_id, "Paid", by="root", payment_reference="ONE")
    office.move(claim_id, "Paid", by="ada", payment_reference="ONE")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        ({}, {"loan_account_number": "LN-1"}),
        ({"phone_number": "08035550101"}, {"email": "n.okafor@x.example", "phone_number": "08035550101"}),
        ({"phone_number": "08035550101"}, {"email": "n.okafor@x.example", "phone_number": "+234 803 555 0101"}),
        ({"phone_number": "080 35-55.0101"}, {"email": "n.okafor@x.example", "phone_number": "234(80)3555 0101"}),
        (
            {"phone_number": "080 35-55.0101"},
            {"email": "n.okafor@x.example", "phone_number": "+2348035550101", "endorsed": "08039990000"},
        ),
        (
            {"loan_account_number": "LN-1"},
            {"loan_account_number": "ln - 1", "loan_amount": "99000", "product_id": OTHER},
        ),
        ({"loan_account_number": "LN/2026-0711"}, {"loan_account_number": "00LN2026 0711", "loan_amount": "99000"}),
        ({"loan_account_number": "LN-1"}, {"loan_account_number": "LN-1", "at": "Another Lender"}),
        (
            {"loan_account_number": "LN-1"},
            {"loan_account_number": "LN-1", "product_id": OTHER, "email": "n@x.example", "phone_number": "08035550101"},
        ),
    ],
    ids=[
        "without an account",
        "with one account",
        "with another e-mail",
        "with a phone in other marks",
        "with a phone in odd marks",
        "with a phone that was endorsed away",
        "of another product",
        "with an account in other signs",
        "at another distributor",
        "with another e-mail and phone",
    ],
)
def test_a_loan_that_was_insured_twice_is_owed_once(
    office: Office, first: dict[str, Any], second: dict[str, Any]
) -> None:
    claims = []
    for sold, kind in ((first, "Loss of job"), (second, "Permanent disability")):
        at = make_partner(office.store, sold["at"]) if "at" in sold else office.partner
        how = {name: text for name, text in sold.items() if name not in ("at", "endorsed")}
        office.desk = Desk(office.store, at, **how)
        claims.append(office.lodge_again(incident_type=kind, **KNOWN))
        if "endorsed" in sold:
            endorse_phone(office, sold["endorsed"])
    for claim_id, other in (claims, claims[::-1]):
        with office.store.reading(DESK) as session:
            (found,) = claim_review.get_review(session, claim_id, person=office.people["sade"]).duplicates
        assert (found.id, found.fails) == (other, True)
        assert "the same loan on another policy" in found.matches
    with pytest.raises(NotAllowed, match=r"a check has failed: .*No other claim for this loss"):
        office.move(claims[1], "Approved", by="bola", amount="75000")
    office.move(claims[0], "Approved", by="sade", amount="75000")
    with pytest.raises(NotAllowed, match=r"an approver other than who approved .* the same loan on another policy"):
        office.move(claims[1], "Approved", by="sade", amount="75000")
    office.move(claims[1], "Approved", by="root", amount="75000")
    rule, meta = "Nobody approves one loss on two policies", office.claim(claims[0]).credit_life_claim_meta
    with office.store.reading(Scope.system()) as session:
        assert find_faults(session, rule) == []
    # As a version without the rule approved it.
    office.put(claims[1], approved_by=office.people["sade"].id, credit_life_claim_meta=meta)
    with office.store.reading(Scope.system()) as session:
        assert len(find_faults(session, rule)) == ("loan_account_number" in first)


def endorse_phone(office: Office, phone: str) -> None:
    """Give the holder of the last policy another phone."""
    told: dict[str, Any] = {"effective_on": clock.today(), "reason": "A new phone", "requested_by": "The owner"}
    with office.store.writing(DESK) as session:
        by, changed = office.people["funmi"], {"phone_number": phone}
        endorsing.endorse(session, office.desk.sale.policy_id, changed, expected_version=1, by=by, **told)


def test_a_second_loan_with_an_account_of_its_own_is_another_debt(office: Office) -> None:
    office.desk = Desk(office.store, office.partner, loan_account_number="LN-1")
    office.lodge_again(**KNOWN)
    office.desk = Desk(office.store, office.partner, loan_account_number="LN-2")
    second = office.lodge_again(**KNOWN)
    with office.store.reading(DESK) as session:
        assert claim_review.get_review(session, second, person=office.people["sade"]).duplicates == []


def test_a_payment_has_no_day_before_the_claim_was_approved(office: Office) -> None:
    """Money that left before anybody approved it is not noted afterwards as if somebody had."""
    claim_id = office.lodge(**KNOWN)
    with clock.freeze(NOON + timedelta(days=2)):
        office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
        paid: dict[str, Any] = {"payment_reference": "ONE", "payment": {"value_on": "2026-11-21"}}
        with pytest.raises(InvalidInput, match="value_on must not be before it was approved"):
            office.move(claim_id, "Paid", by="ada", **paid)
        office.move(claim_id, "Paid", by="ada", **paid | {"payment": {"value_on": "2026-11-22"}})
