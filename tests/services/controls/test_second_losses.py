"""One loss that is lodged again as another kind, on another day or on another policy (contract K5)."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.claims.intake import submitted
from core.services.claims.review import related
from core.services.claims.review import review as claim_review
from core.services.claims.review.coverage_checks import CHECK_KEYS, CoverageCheck
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import transitions as claim_transitions
from core.services.compliance import erasures
from core.states import claims as claim_states
from core.store.access import Scope
from core.store.schema.tables import ClaimPayment, Policy, UploadedFile
from tests.planting import find_faults
from tests.services.claim_desk import NOON, Desk
from tests.services.claim_office import DESK, Office
from tests.services.races import run_while_open

pytestmark = pytest.mark.frozen_at(NOON)

PAPERS = ("front_image", "back_image", "repair_receipt")
LATER = NOON + timedelta(hours=1)


def damaged(office: Office, claim_id: UUID, kind: str, cost: str = "60000", **papers: str) -> UUID:
    """Make a claim one for the damage of a device that is insured for its value, with papers of its own."""
    own = {name: f"https://x.example/{claim_id.hex}/{name}" for name in PAPERS}
    meta = {"cost_of_repair": cost, "incident_type": kind, **own, **papers}
    office.put(claim_id, credit_life_claim_meta=None, gadget_claim_meta=meta, claim_type="Gadget")
    with office.store.writing(DESK) as session:
        session.execute(sa.update(Policy).values(sum_insured_minor=None, submitted={"device_value": 3_000_000}))
    return claim_id


def accepted(office: Office, claim_id: UUID, *, by: str) -> UUID:
    for status, inputs in (("Approved", {"amount": "60000"}), ("Offer sent", {}), ("Offer accepted", {})):
        office.move(claim_id, status, by=by, **inputs)
    return claim_id


def paid(office: Office, **papers: str) -> UUID:
    """A cracked screen of the tenth, approved by Sade and paid by Ada."""
    claim_id = damaged(office, office.lodge(incident_date="2026-11-10"), "Cracked screen", **papers)
    office.move(accepted(office, claim_id, by="sade"), "Paid", by="ada", payment_reference="ONE")
    return claim_id


def no_other(office: Office, claim_id: UUID) -> CoverageCheck:
    with office.store.reading(DESK) as session:
        checks = claim_review.get_review(session, claim_id, person=office.people["sade"]).checks
    return next(each for each in checks if each.key == "duplicate")


def reference(claim_id: UUID) -> str:
    return f"C-{claim_id.hex[-8:].upper()}"


def approve(office: Office, claim_id: UUID, *, by: str) -> None:
    office.move(claim_id, "Approved", by=by, amount="60000")


def find_faults_of(office: Office, rule: str) -> list[str]:
    with office.store.reading(Scope.system()) as session:
        return find_faults(session, rule)


def faults(office: Office) -> list[str]:
    with office.store.reading(Scope.system()) as session:
        return store_check.list_faults(session)


def test_a_claim_that_was_paid_is_no_second_submission_of_another(office: Office) -> None:
    """Opened again and closed for the other one, it would stand against that no more, and its approver approve both."""
    first = paid(office)
    second = damaged(office, office.lodge_again(incident_date="2026-11-12"), "Liquid damage")
    office.move(first, "Settled", by="ada")
    office.move(first, "Reviewing", by="sade")
    seen = {"first": reference(second), "version": office.claim(first).version}
    with pytest.raises(StateForbids, match="This claim was paid: link the other one to it"):
        office.do(claim_moves.link_second_submission, first, by="sade", **seen)
    assert no_other(office, second).passed is False
    with pytest.raises(NotAllowed, match="an approver other than who approved"):
        approve(office, second, by="sade")


def test_a_second_loss_soon_after_a_paid_one_is_approved_by_somebody_else(office: Office) -> None:
    first = paid(office)
    # Lodged long after the first one, and lost two days after it.
    with clock.freeze(NOON + timedelta(days=30)):
        again = {"incident_date": "2026-11-12", "at": NOON + timedelta(days=30)}
        second = damaged(office, office.lodge_again(**again), "Liquid damage")
        words = f"{reference(first)} (Paid) has another incident on this policy within 14 days"
        assert (no_other(office, second).passed, no_other(office, second).detail) == (False, words)
        with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: No other claim for this loss"):
            approve(office, second, by="bola")
        who = f"other than who approved {reference(first)}, or noted a return of it, which has another"
        with pytest.raises(NotAllowed, match=who):
            approve(office, second, by="sade")
        assert who in (office.log(second)[-1].after or {})["refused"]
        with pytest.raises(InvalidInput, match=r"reasons\.duplicate must be given"):
            office.move(second, "Approved", by="root", amount="60000", reasons={})
        office.move(accepted(office, second, by="root"), "Paid", by="bola", payment_reference="TWO")
    assert faults(office) == []


def test_who_approved_one_loss_does_not_approve_the_next_before_the_first_is_paid(office: Office) -> None:
    first = damaged(office, office.lodge(incident_date="2026-11-10"), "Cracked screen")
    second = damaged(office, office.lodge_again(incident_date="2026-11-12"), "Liquid damage")
    assert no_other(office, second).passed is None, "nobody has approved either of them"
    accepted(office, first, by="sade")
    with pytest.raises(NotAllowed, match=f"other than who approved {reference(first)}"):
        approve(office, second, by="sade")
    approve(office, second, by="root")
    office.move(first, "Paid", by="bola", payment_reference="ONE")
    office.move(first, "Settled", by="bola")
    # Taken up again, its approval is taken off; who ever gave it is known.
    office.move(first, "Reviewing", by="sade")
    office.move(second, "Reviewing", by="sade")
    with pytest.raises(NotAllowed, match=f"other than who approved {reference(first)}"):
        approve(office, second, by="sade")


def test_a_loss_long_after_a_paid_one_is_a_loss_like_any_other(office: Office) -> None:
    paid(office)
    with clock.freeze(NOON + timedelta(days=30)):
        again = {"incident_date": "2026-12-18", "at": NOON + timedelta(days=30)}
        second = damaged(office, office.lodge_again(**again), "Liquid damage")
        assert no_other(office, second).passed is True
        approve(office, second, by="sade")


def test_the_same_bill_or_photo_of_the_damage_is_owed_once_whatever_kind_and_day_it_is_lodged_under(
    office: Office,
) -> None:
    bill = {"repair_receipt": "https://x.example/bill-of-the-workshop.pdf"}
    paid(office, **bill)
    with clock.freeze(LATER):
        second = office.lodge_again(incident_date="2026-11-12", at=LATER)
        damaged(office, second, "Liquid damage", "80000", back_image=bill["repair_receipt"])
        assert no_other(office, second).passed is False
        with pytest.raises(InvalidInput, match=r"must not be above ₦0.00, what is still owed after the ₦60,000.00"):
            approve(office, second, by="root")
    assert faults(office) == []


def test_what_was_lost_whole_and_paid_is_not_lost_again_unseen_once_it_is_renewed(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device is stolen and paid for; renewed for another year, it is paid for once more as damaged."""
    papers = {name: f"https://x.example/{name}" for name in ("police_report", "payment_receipt")}
    first = damaged(office, office.lodge(incident_date="2026-11-10"), "Theft", cost="3000000", **papers)
    for status, inputs in (("Approved", {"amount": "3000000"}), ("Offer sent", {}), ("Offer accepted", {})):
        office.move(first, status, by="sade", **inputs)
    office.move(first, "Paid", by="bola", payment_reference="ONE")
    later = [NOON + timedelta(days=days) for days in (100, 200)]
    with clock.freeze(later[0]):
        earlier = damaged(office, office.lodge_again(incident_date="2026-10-10", at=later[0]), "Cracked screen")
        assert no_other(office, earlier).passed, "it was damaged before it was stolen"
    with clock.freeze(later[1]):
        second = damaged(office, office.lodge_again(incident_date="2027-06-01", at=later[1]), "Liquid damage")
        words = f"{reference(first)} (Paid) has an earlier loss of all that is insured, which was paid"
        assert (no_other(office, second).passed, no_other(office, second).detail) == (False, words)
        with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: No other claim for this loss"):
            approve(office, second, by="bola")
        with pytest.raises(NotAllowed, match=f"other than who approved {reference(first)}"):
            approve(office, second, by="sade")
        # Insured anew after the theft, by whatever insurer.
        anew = damaged(office, office.lodge(incident_date="2027-06-01", at=later[1]), "Accidental damage")
        assert no_other(office, anew).passed is True
        with office.store.writing(DESK) as session:
            session.execute(sa.update(Policy).values(plate_key="KJA482CD"))
        assert (no_other(office, anew).passed, words in no_other(office, anew).detail) == (False, True)
        with monkeypatch.context() as patched:
            # As a version without the rule approved it, in the term of another year.
            patched.setattr(related, "find_lost_whole", lambda *_: set())
            patched.setattr(claim_limits, "_load_others", lambda *_: [])
            approve(office, second, by="sade")
        (found,) = find_faults_of(office, "Nobody approves two losses of a policy near each other")
        assert f"approved by sade, who approved {reference(first)} for the loss of all that is insured" in found


def erase(office: Office, claim_id: UUID) -> None:
    """Erase the customer of a claim in two hands, as the person asked."""
    cora, dayo = (office.people[office.hire(name, "compliance")] for name in ("cora", "dayo"))
    reason = {"reason": "The person asked for it in writing", "is_early": True}
    with office.store.writing(Scope.system()) as session:
        customers = [office.claim(claim_id).customer_id]
        erasure = erasures._prepare(session, erasures.PERSON, customers, by=cora, **reason)
    with office.store.writing(Scope.system()) as session:
        erasures.carry_out(session, erasure, by=dayo)


@pytest.mark.parametrize("is_loan", [False, True], ids=["device", "loan"])
def test_an_erased_claim_is_not_approved_by_whom_nobody_knows_any_more_as_its_customer(
    office: Office, monkeypatch: pytest.MonkeyPatch, is_loan: bool
) -> None:
    """An own claim is declined, its customer asks to be erased, and takes up the appeal as a supervisor."""
    office.desk = Desk(office.store, office.partner, email="sade@x.example", phone_number="08039990000")
    own = office.lodge_again(incident_date="2026-11-10")
    if not is_loan:
        damaged(office, own, "Cracked screen")
    office.move(own, "Declined", by="bola", reason="exclusion", note="Excluded by the wording")
    with clock.freeze(NOON + timedelta(days=400)):
        erase(office, own)
        with pytest.raises(StateForbids, match="a claim that was not erased with its customer"):
            office.move(own, "Reviewing", by="sade", note="An appeal")
        with monkeypatch.context() as patched:
            # As a version without the rule took it up and approved it.
            patched.setitem(claim_transitions._UNMET, claim_states.KNOWN, lambda _: None)
            office.move(own, "Reviewing", by="sade", note="An appeal")
            assert no_other(office, own).passed, "the claim can be looked at"
            office.move(own, "Approved", by="sade", amount="60000")
        assert find_faults_of(office, "No claim was approved after it was erased with its customer") == [
            f"claim {reference(own)}, ₦60,000.00 approved after it was erased with its customer"
        ]
        office.move(own, "Reviewing", by="root")
        with pytest.raises(StateForbids, match="a claim that was not erased with its customer"):
            office.move(own, "Approved", by="root", amount="60000")


def test_a_loss_that_was_paid_and_erased_is_not_paid_again_unseen(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person asks to be erased, and the same loss is lodged once more: nothing would tell it from another."""
    first = damaged(office, office.lodge(incident_date="2026-09-10"), "Cracked screen")
    office.move(accepted(office, first, by="sade"), "Paid", by="ada", payment_reference="ONE")
    with clock.freeze(NOON + timedelta(days=400)):
        erase(office, first)
        again = {"incident_date": "2026-09-10", "at": clock.now()}
        second = damaged(office, office.lodge_again(**again), "Cracked screen")
        words = f"{reference(first)} (Paid) has a loss that was erased, and may be this one"
        assert (no_other(office, second).passed, no_other(office, second).detail) == (False, words)
        with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: No other claim for this loss"):
            approve(office, second, by="bola")
        with pytest.raises(NotAllowed, match=f"other than who approved {reference(first)}, or noted a return of it"):
            approve(office, second, by="sade")
        with monkeypatch.context() as patched:
            # As a version without the rule approved it.
            patched.setattr(related, "GONE", "")
            approve(office, second, by="sade")
        with office.store.reading(Scope.system()) as session:
            (found,) = find_faults(session, "Nobody approves two losses of a policy near each other")
    assert found.endswith(f"approved by sade, who approved {reference(first)} for a loss that was erased")


def test_a_paid_loss_that_another_policy_insures_is_erased_when_the_law_lets_go_of_it(office: Office) -> None:
    """Erased early, the number of the car would be gone, and the other policy would pay the same accident."""
    first = damaged(office, office.lodge(incident_date="2026-09-10"), "Collision")
    office.move(accepted(office, first, by="sade"), "Paid", by="ada", payment_reference="ONE")
    second = office.lodge(incident_date="2026-09-10")
    office.move(second, "Declined", by="bola", reason="exclusion", note="Excluded by the wording")
    with clock.freeze(NOON + timedelta(days=400)), office.store.writing(Scope.system()) as session:
        customers = [office.claim(first).customer_id]
        erasures._refuse_obstacles(session, customers, early=True)
        session.execute(sa.update(Policy).values(plate_key="KJA482CD"))
        # Nor is who has the other policy: a claim on it would be for a car that nobody can compare.
        for claim_id in (first, second):
            with pytest.raises(StateForbids, match="as another policy insures the same loan"):
                erasures._refuse_obstacles(session, [office.claim(claim_id).customer_id], early=True)
    with clock.freeze(NOON + timedelta(days=365 * 8)), office.store.reading(Scope.system()) as session:
        erasures._refuse_obstacles(session, customers, early=True)


def test_a_proof_of_purchase_comes_with_every_loss_of_a_thing(office: Office) -> None:
    bought = {"payment_receipt": "https://x.example/proof-of-purchase.pdf"}
    paid(office, **bought)
    with clock.freeze(LATER):
        second = office.lodge_again(incident_date="2026-11-12", at=LATER)
        approve(office, damaged(office, second, "Liquid damage", **bought), by="root")


def test_the_same_paper_on_another_policy_is_approved_by_somebody_else(office: Office) -> None:
    bill = {"repair_receipt": "https://x.example/bill-of-the-workshop.pdf"}
    first = paid(office, **bill)
    second = damaged(office, office.lodge(incident_date="2026-11-10"), "Cracked screen")
    send_one_paper(office, first, second)
    assert no_other(office, second).passed is False
    with pytest.raises(
        NotAllowed,
        match=f"other than who approved {reference(first)}, or noted a return of it, which has the same document",
    ):
        approve(office, second, by="sade")
    approve(office, second, by="root")


def send_one_paper(office: Office, *claims: UUID) -> None:
    """The paper of the first, sent anew with the others."""
    with office.store.writing(Scope.system()) as session:
        sent = sa.update(UploadedFile).where(col(UploadedFile.claim_id).in_(claims)).values(sent_sha256="0" * 64)
        session.execute(sent.execution_options(synchronize_session=False))


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "insured",
    [{"plate_key": "KJA482CD"}, {"risk_hash": "of a passport", "twin_key": None}],
    ids=["vehicle", "traveller"],
)
def test_a_loss_of_a_vehicle_or_traveller_that_two_policies_insure_is_approved_by_two_people(
    office: Office, insured: dict[str, Any]
) -> None:
    """Two insurers would each pay the whole of it, by one approver and with other photos."""
    first = damaged(office, office.lodge(incident_date="2026-11-10"), "Collision")
    second = damaged(office, office.lodge(incident_date="2026-11-11"), "Collision")
    other = damaged(office, office.lodge(incident_date="2026-11-11"), "Theft")
    long_ago = damaged(office, office.lodge(incident_date="2026-09-01", at=NOON - timedelta(days=40)), "Collision")
    assert no_other(office, second).passed is True
    with office.store.writing(DESK) as session:
        session.execute(sa.update(Policy).values(**insured))
    accepted(office, first, by="sade")
    on_another = "of this vehicle, traveller or place on another policy"
    words = f"{reference(first)} (Offer accepted) has the same kind of incident {on_another}"
    found = no_other(office, second)
    assert found.passed is False
    assert found.detail.startswith(words)
    with pytest.raises(NotAllowed, match=f"other than who approved {reference(first)}, or noted a return of it"):
        approve(office, second, by="sade")
    look = no_other(office, other)
    assert look.passed is None
    assert f"{reference(first)} (Offer accepted) has another incident {on_another}" in look.detail
    assert no_other(office, long_ago).passed is True
    # As a version without the rule approved it; the other days and kinds of the vehicle are other losses.
    for claim_id, day in (
        (first, "2026-11-10"),
        (second, "2026-11-10"),
        (other, "2026-11-10"),
        (long_ago, "2026-09-01"),
    ):
        kind = submitted.get_meta(office.claim(claim_id))["incident_type"]
        meta = {"incident_type": kind, "registration_number": "KJA-482 cd" if claim_id == second else "KJA482CD"}
        given = {"gadget_claim_meta": None, "vehicle_claim_meta": meta, "approved_by": office.people["sade"].id}
        office.put(claim_id, **given, incident_date=day)
    with office.store.reading(Scope.system()) as session:
        (found,) = find_faults(session, "Nobody approves one loss on two policies")
    assert found.endswith(f"approved by sade, who approved {reference(first)} on another policy for the same loss")


def test_one_person_does_not_approve_the_same_paper_of_two_policies_at_one_instant(office: Office) -> None:
    """Of two tabs neither sees the approval of the other before it is committed."""
    first, second = (damaged(office, office.lodge(incident_date="2026-11-10"), "Cracked screen") for _ in range(2))
    send_one_paper(office, first, second)
    reasons = dict.fromkeys(CHECK_KEYS, "Seen, and accepted")
    seen: dict[str, Any] = {"version": office.claim(first).version, "reasons": reasons}
    refusal = run_while_open(
        office.store,
        DESK,
        lambda session: claim_moves.move_claim(
            session, first, to="Approved", person=office.people["sade"], amount="60000", **seen
        ),
        lambda: approve(office, second, by="sade"),
    )
    assert (
        f"an approver other than who approved {reference(first)}, or noted a return of it, which has the same document"
        in str(refusal)
    )


@pytest.mark.both_databases
def test_two_losses_that_one_person_approved_are_found_with_their_sum(office: Office) -> None:
    first = paid(office)
    with clock.freeze(LATER):
        second = damaged(office, office.lodge_again(incident_date="2026-11-12", at=LATER), "Liquid damage")
        given: dict[str, Any] = {"claim_status": "Approved", "approved_amount_minor": 6_000_000}
        office.put(second, approved_by=office.people["sade"].id, **given)
        office.certify(second)
    assert session_paid(office) == 6_000_000
    fault = (
        f"claim {reference(second)}, ₦60,000.00 approved by sade, who approved {reference(first)} for a loss near it"
    )
    with office.store.reading(Scope.system()) as session:
        assert fault in find_faults(session, "Nobody approves two losses of a policy near each other")


def session_paid(office: Office) -> int:
    with office.store.reading(DESK) as session:
        return int(session.execute(sa.select(sa.func.sum(col(ClaimPayment.amount_minor)))).scalar_one())
