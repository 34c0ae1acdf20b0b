"""Chains through a claim: a part paid before a refund, an account typed by who approves it (contract, Controls)."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest

from core import clock, ids, seal
from core.covers import request as requests
from core.covers.claims.lines import ContentsClaimRequest, MotorClaimRequest
from core.covers.insurers import insurer_a, insurer_b
from core.covers.refunds import Refund
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.claims.intake import lodging
from core.services.claims.review import review as claim_review
from core.services.claims.review import twins
from core.services.claims.review.coverage_checks import CoverageCheck
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import paying as claim_paying
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.policies import changes, refunds
from core.services.renewals import renewals
from core.services.selling import endorsing
from core.store.access import Owner, Scope
from core.store.schema.tables import Policy
from tests import papers
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.services.selling import sell
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}


def put_in_force_again(office: Office, *, actor: str) -> None:
    """Let a policy that waits for its insurer be put in force, with the start that was planned."""
    office.desk.change_policy(activated=False)
    given = {"actor": actor, "expected_version": 1, "start_on": date(2026, 8, 22), "policy_number": "BY/HAND/1"}
    with office.store.writing(DESK) as session:
        changes.activate(session, office.desk.sale.policy_id, insurer_accepted="By telephone", **given)


def check(office: Office, claim_id: UUID, key: str) -> CoverageCheck:
    with office.store.reading(DESK) as session:
        checks = claim_review.get_review(session, claim_id, person=office.people["sade"]).checks
    return next(each for each in checks if each.key == key)


def preview(office: Office) -> Refund:
    with office.store.reading(DESK) as session:
        policy = session.get_one(Policy, office.desk.sale.policy_id)
        return refunds.add_refunds(refunds.compute_cancellation_refunds(session, policy, by_insurer=True))


def test_nothing_goes_back_of_a_term_on_which_a_part_of_a_claim_was_paid(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    part = {"amount": "20000", "payment_reference": "ONE"}
    office.do(claim_paying.pay_part, claim_id, by="ada", version=office.claim(claim_id).version, **part)
    office.move(claim_id, "Reviewing", by="sade")
    office.move(claim_id, "Declined", by="bola", reason="exclusion", note="Excluded by the wording")
    found = preview(office)
    assert found.amount_minor == 0
    with (
        pytest.raises(StateForbids, match="was paid: the premium cannot go back whole"),
        office.store.reading(DESK) as session,
    ):
        refunds.refuse_paid(refunds.list_policy_claims(session, office.desk.sale.policy_id))


@pytest.mark.parametrize("is_confirmed", [True, False], ids=["confirmed", "by one word"])
def test_a_part_that_came_back_uses_premium_up_until_somebody_else_approved_the_claim_again(
    office: Office, *, is_confirmed: bool
) -> None:
    """Whoever noted a return that there was not declines the claim, and the premium would follow the payment."""
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    part = {"amount": "69999", "payment_reference": "ONE"}
    office.do(claim_paying.pay_part, claim_id, by="ada", version=office.claim(claim_id).version, **part)
    back = {"payment_reference": "ONE", "note": "The bank returned it", "version": office.claim(claim_id).version}
    office.do(claim_paying.take_back_part, claim_id, by="root", **back)
    if is_confirmed:
        office.approve_anew(claim_id, by=office.hire("uche", "supervisor"))
    office.move(claim_id, "Reviewing", by="root")
    office.move(claim_id, "Declined", by="root", reason="exclusion", note="Excluded by the wording")
    assert (preview(office).amount_minor > 0) is is_confirmed


def test_a_loss_that_was_paid_for_is_not_moved_to_a_day_on_which_nothing_is_owed(office: Office) -> None:
    """Found by the model: paid, settled, opened again, and its day set to one before the sale."""
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted", "Paid", "Settled", "Reviewing")
    moved = {"on": "2025-10-18", "reason": "By the letter", "version": office.claim(claim_id).version}
    with pytest.raises(StateForbids, match=r"was paid for the loss as it is known, and this day does not meet: .*In"):
        office.do(claim_corrections.set_incident_date, claim_id, by="sade", **moved)
    assert office.log(claim_id)[-1].action == "claim correction refused"
    office.do(claim_corrections.set_incident_date, claim_id, by="sade", **moved | {"on": "2026-11-11"})


@pytest.mark.parametrize("is_back", [False, True], ids=["paid", "said to have come back"])
def test_a_loss_that_was_paid_for_is_not_moved_to_another_term(office: Office, *, is_back: bool) -> None:
    """The premium of the term that it used up would go back, and all that the term insures be owed again."""
    car = {"registration_number": "KJA-001AA", "chassis_number": "CHASSIS0000000001"}
    with clock.freeze(NOON - timedelta(days=400)):
        sale = office.desk.sale = sell(office.store, office.partner, insurer_a.THIRD_PARTY, **car)
    with clock.freeze(NOON - timedelta(days=40)), office.store.writing(office.partner.scope()) as session:
        renewals.renew(session, sale.policy_id, office.partner.seller())
    claim_id = lodge_motor(office, incident_date="2026-11-10", registration_number=car["registration_number"])
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted", "Paid")
    if is_back:
        office.move(claim_id, "Offer accepted", by="root", payment_reference="BACK", note="It came back")
    else:
        office.move(claim_id, "Settled", by="sade")
    office.move(claim_id, "Reviewing", by="root")
    moved = {"reason": "By the letter", "version": office.claim(claim_id).version}
    with pytest.raises(StateForbids, match="was paid for a loss of the term from 16 Oct 2026"):
        office.do(claim_corrections.set_incident_date, claim_id, by="root", on="2026-09-10", **moved)
    assert office.log(claim_id)[-1].action == "claim correction refused"
    office.do(claim_corrections.set_incident_date, claim_id, by="root", on="2026-11-11", **moved)
    office.move(claim_id, "Declined", by="root", reason="exclusion", note="Excluded by the wording")
    assert preview(office).amount_minor == 0


@pytest.mark.both_databases
@pytest.mark.parametrize("endorsed", ["the policy that paid", "the other policy"])
def test_another_registration_number_hides_no_loss_that_another_policy_paid(office: Office, endorsed: str) -> None:
    """Two insurers cover a car, and one policy gets another number between the two claims for one accident."""
    number, sales = {"registration_number": "KJA-001AA"}, []
    with clock.freeze(NOON - timedelta(days=90)):
        for place, cover in enumerate((insurer_a.THIRD_PARTY, insurer_b.THIRD_PARTY)):
            person = {"email": f"driver{place}@x.example", "phone_number": f"0803555000{place}"}
            sales.append(sell(office.store, office.partner, cover, **number, **person))
    office.desk.sale = sales[0]
    first = lodge_motor(office, incident_date="2026-11-10", **number)
    office.walk(first, "Approved", "Offer sent", "Offer accepted", "Paid")
    changed = sales[endorsed == "the other policy"].policy_id
    told: dict[str, Any] = {"effective_on": clock.today(), "reason": "A new number", "requested_by": "The owner"}
    with office.store.writing(DESK) as session:
        new = {"registration_number": "ABC-123XY"}
        endorsing.endorse(session, changed, new, expected_version=1, by=office.people["funmi"], **told)
        assert twins.has_paid_twin(session, [office.claim(first).customer_id]), "erased early, it would be hidden"
    office.desk.sale = sales[1]
    second = lodge_motor(office, incident_date="2026-11-10", account_number="0123456781", **number)
    found = check(office, second, "duplicate")
    assert (found.passed, "the same kind of incident of this vehicle" in found.detail) == (False, True)
    with pytest.raises(NotAllowed, match="an approver other than who approved"):
        office.move(second, "Approved", by="sade", amount="75000")


def lodge_motor(office: Office, **changed: str) -> UUID:
    """A claim for the damage of a third party, on the policy of the office's desk."""
    names = ("police_report", "driving_licence", "third_party_demand")
    given = {"incident_type": "Third party property damage", "cost_of_repair": "75000", **changed}
    return lodge_loss(office, MotorClaimRequest, names, **given)


def lodge_loss(office: Office, model: Any, names: tuple[str, ...], **changed: str) -> UUID:
    """A claim of another line than credit life, with papers of its own, on the policy of the office's desk."""
    account = {"bank_name": "Lagoon Bank", "account_name": "Ngozi Okafor", "account_number": "0123456789"}
    told = {"incident_place": "Lagos Road 1, Ikeja", "incident_description": "What happened there"}
    texts = {name: f"{name} {ids.new_code()}" for name in names}
    arriving = [ReceivedFile(field=name, file_name="a.pdf", content=papers.pdf(text=texts[name])) for name in names]
    given = {"policy_number": office.desk.sale.policy["meta"]["policy_number"], **account, **told, **changed}
    request = requests.validate(model, {**given, **{file.field: file.url for file in arriving}})
    owner = Owner(distributor_id=office.partner.id, is_live=False)
    with files.store_files(arriving) as kept, office.store.writing(office.partner.scope()) as session:
        return ids.parse(lodging.lodge_claim(session, request, kept, owner=owner, actor="key tests")["id"])


@pytest.mark.both_databases
@pytest.mark.parametrize("second", ["their own insurer", "that of another driver"])
def test_damage_that_the_insurer_of_who_did_it_pays_is_not_paid_by_another_one_unseen(
    office: Office, second: str
) -> None:
    """The owner of a car is paid as the third party of another driver's policy, and again by a second policy."""
    claims, is_own = [], second == "their own insurer"
    names = ("police_report", "driving_licence", "third_party_demand", "damage_image", "repair_quote")
    for place, plate in enumerate(("KJA-001AA", "KJA-002AA" if is_own else "KJA-003AA")):
        with clock.freeze(NOON - timedelta(days=90)):
            person = {"email": f"driver{place}@x.example", "phone_number": f"0803555000{place}"}
            cover = (insurer_a.THIRD_PARTY, insurer_b.THIRD_PARTY)[place]
            office.desk.sale = sell(office.store, office.partner, cover, registration_number=plate, **person)
        kind = "Collision" if place and is_own else "Third party property damage"
        given = {"incident_type": kind, "cost_of_repair": "75000", "account_number": f"012345678{place}"}
        hit = {} if place and is_own else {"third_party_registration_number": "KJA 002aa"}
        dated = {"incident_date": "2026-11-10", "registration_number": plate}
        claims.append(lodge_loss(office, MotorClaimRequest, names, **given, **hit, **dated))
    for claim_id in claims:
        found = check(office, claim_id, "duplicate")
        assert (found.passed, "the damage of the same vehicle on another policy" in found.detail) == (False, True)
    office.move(claims[0], "Approved", by="sade", amount="75000")
    with pytest.raises(NotAllowed, match="an approver other than who approved"):
        office.move(claims[1], "Approved", by="sade", amount="75000")


def test_a_burglary_of_a_place_that_two_policies_insure_is_approved_by_two_people(office: Office) -> None:
    """A holder insures one home with two policies; the second claim had other papers, and every check was met."""
    claims = []
    for number in range(2):
        with clock.freeze(NOON - timedelta(days=90)):
            office.desk.sale = sell(office.store, office.partner, insurer_b.HOME)
        given = {"incident_type": "Burglary", "amount_claimed": "75000", "account_number": f"012345678{number}"}
        papers_of_it = ("police_report", "inventory", "receipts")
        given["incident_date"] = "2026-11-10"
        claims.append(lodge_loss(office, ContentsClaimRequest, papers_of_it, **given))
    assert check(office, claims[1], "duplicate").passed is False
    office.move(claims[0], "Approved", by="sade", amount="75000")
    with pytest.raises(NotAllowed, match="an approver other than who approved"):
        office.move(claims[1], "Approved", by="sade", amount="75000")
    office.move(claims[1], "Approved", by="root", amount="75000")


def test_who_typed_a_claim_with_its_account_at_the_desk_does_not_approve_it(office: Office) -> None:
    claim_id = office.lodge(actor="staff sade@x.example", **KNOWN)
    office.put(claim_id, sealed=seal.seal({"account_number": "0123456789"}))
    why = "an approver other than who lodged it and typed its account"
    with pytest.raises(NotAllowed, match=why):
        office.move(claim_id, "Approved", by="sade", amount="75000")
    assert "claim move to Approved refused" in {entry.action for entry in office.log(claim_id)}
    payee: dict[str, Any] = {"name": "Ngozi Okafor", "bank_name": "A Bank", "account_number": "0123456780"}
    seen = {"version": office.claim(claim_id).version, "reason": "By telephone"}
    office.do(claim_corrections.set_payee, claim_id, by="bola", **payee, **seen)
    with pytest.raises(NotAllowed, match="an approver other than who set the payee"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    office.move(claim_id, "Approved", by="sade", amount="75000")
    lender_is_paid = office.lodge(actor="staff bola@x.example", **KNOWN)
    office.move(lender_is_paid, "Approved", by="bola", amount="75000")


@pytest.mark.parametrize("way", ["lodged", "set"])
def test_who_may_act_as_who_named_the_payee_neither_approves_nor_pays_it(office: Office, way: str) -> None:
    """An admin confirms the link of an officer, opens it, and would approve what that one asks to be paid."""
    bola = office.people["bola"]
    with office.store.writing(Scope.system()) as session:
        subject = audit.subject_of("staff", bola.id)
        audit.write(session, actor=office.people["root"].actor, action="password link made", subject=subject)
    claim_id = office.lodge(actor=bola.actor if way == "lodged" else "key tests", **KNOWN)
    office.put(claim_id, sealed=seal.seal({"account_number": "0123456789"}))
    payee: dict[str, Any] = {"name": "Ngozi Okafor", "bank_name": "A Bank", "account_number": "0123456780"}
    seen = {"version": office.claim(claim_id).version, "reason": "By telephone"}
    if way == "set":
        office.do(claim_corrections.set_payee, claim_id, by="bola", **payee, **seen)
    with pytest.raises(NotAllowed, match="an approver other than who made the password link of who named the payee"):
        office.move(claim_id, "Approved", by="root", amount="75000")
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    with pytest.raises(NotAllowed, match="a payer who has not made the password link of who named the payee"):
        office.move(claim_id, "Paid", by="root", payment_reference="ONE")
    office.move(claim_id, "Paid", by="ada", payment_reference="ONE")


@pytest.mark.parametrize("who", ["as the approver", "as the payer"])
def test_who_made_the_password_of_an_approver_does_not_pay_by_that_approval(office: Office, who: str) -> None:
    """An admin opens the link of a supervisor, approves as that one a day later, and pays as admin; or the reverse."""
    approver, payer = ("sade", "root") if who == "as the approver" else ("root", "ada")
    puppet, maker = ("sade", "root") if who == "as the approver" else ("ada", "root")
    choose_by_link(office.store, office.people[puppet], by=office.people[maker])
    claim_id = office.lodge(**KNOWN)
    office.move(claim_id, "Approved", by=approver, amount="75000")
    office.move(claim_id, "Offer sent", by="bola")
    office.move(claim_id, "Offer accepted", by="bola")
    part = {"amount": "20000", "payment_reference": "PART", "version": office.claim(claim_id).version}
    refused = f"a payer who neither has a password by a link of {approver}, who approved it before, nor made theirs"
    with pytest.raises(NotAllowed, match=refused):
        office.move(claim_id, "Paid", by=payer, payment_reference="ONE")
    with pytest.raises(NotAllowed, match=refused):
        office.do(claim_paying.pay_part, claim_id, by=payer, **part)
    # A password that came about since does not undo by whose hand the approval was given.
    with clock.freeze(NOON + timedelta(days=1)):
        choose_by_link(office.store, office.people[puppet], by=office.people["funmi"], days_ago=0)
        if who == "as the approver":
            with pytest.raises(NotAllowed, match=refused):
                office.move(claim_id, "Paid", by=payer, payment_reference="ONE")
        else:
            office.move(claim_id, "Paid", by=payer, payment_reference="ONE")
            return
    office.move(claim_id, "Paid", by="bola", payment_reference="ONE")
    with pytest.raises(NotAllowed, match="somebody who neither has a password by a link of sade"):
        office.move(claim_id, "Offer accepted", by="root", payment_reference="BACK", note="It came back")


def test_who_made_a_password_that_was_replaced_before_the_approval_is_another_person(office: Office) -> None:
    choose_by_link(office.store, office.people["sade"], by=office.people["root"])
    choose_by_link(office.store, office.people["sade"], by=office.people["funmi"], days_ago=2)
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    office.move(claim_id, "Paid", by="root", payment_reference="ONE")


def test_who_noted_that_a_payment_came_back_does_not_approve_another_claim_for_its_debt(office: Office) -> None:
    """By a return that there was not, the debt is owed once more, on a second claim that somebody else pays."""
    first = office.lodge(**KNOWN)
    office.walk(first, "Approved", "Offer sent", "Offer accepted", "Paid")
    office.move(first, "Offer accepted", by="root", payment_reference="BACK", note="It came back")
    second = office.lodge_again(incident_date="2026-11-11")
    for by in ("root", "sade"):
        with pytest.raises(NotAllowed, match=r"an approver other than who approved C-\w+, or noted a return of it"):
            office.move(second, "Approved", by=by, amount="75000")
    office.move(second, "Approved", by=office.hire("uche", "supervisor"), amount="75000")


def test_cover_that_the_desk_put_in_force_after_the_loss_fails(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    assert check(office, claim_id, "in_force").passed is True
    put_in_force_again(office, actor="insurer")
    assert check(office, claim_id, "in_force").passed is True
    put_in_force_again_by_hand = {"actor": "staff funmi@x.example"}
    office.desk.change_policy(version=1)
    put_in_force_again(office, **put_in_force_again_by_hand)
    found = check(office, claim_id, "in_force")
    assert found.passed is False
    assert found.detail.endswith("Put in force at the desk 20 Nov 2026, after the loss")
    with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: In force on the day of the incident"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    office.move(claim_id, "Approved", by="sade", amount="75000")
