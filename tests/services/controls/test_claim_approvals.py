"""An approval is of something (contract K3, K7): what changes after it takes it away, on both stores."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock, ids
from core.covers.credit_life import CREDIT_LIFE
from core.desk import store_check
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.claims.intake import lodging
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import transitions as claim_transitions
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.people import approvals
from core.services.selling import buying
from core.states import claims as claim_states
from core.store.access import Scope
from core.store.schema import migrating
from core.store.schema.tables import Approval, Claim, PaymentPayee, Staff
from tests import papers
from tests.covers import shipped
from tests.planting import find_faults
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, INPUTS, Office

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}
OTHER: dict[str, Any] = {
    "name": "Puppet Ltd",
    "bank_name": "Access Bank",
    "account_number": "0123456789",
    "reason": "By telephone",
}


OWN_PARTS = "Nobody approved a claim of a payee whom they had named, or on a cover of theirs"


def approved(office: Office, *, to: str = "Approved") -> UUID:
    claim_id = office.lodge(**KNOWN)
    for status in ("Approved", "Offer sent", "Offer accepted"):
        office.move(claim_id, status, by="bola", **({"amount": "75000"} if status == "Approved" else {}))
        if status == to:
            return claim_id
    raise AssertionError(to)


def version(office: Office, claim_id: UUID) -> int:
    return office.claim(claim_id).version


def set_payee(office: Office, claim_id: UUID, *, by: str = "sade", **other: str) -> None:
    office.do(claim_corrections.set_payee, claim_id, by=by, version=version(office, claim_id), **{**OTHER, **other})


def fault(office: Office, claim_id: UUID) -> str | None:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people["sade"]).approval_fault


def replace_paper(office: Office, claim_id: UUID, name: str = "employment_termination_letter") -> None:
    received = ReceivedFile(field=name, file_name="b.pdf", content=papers.pdf(text="Another letter"))
    with files.store_files([received]) as (kept,):
        office.do(lodging.attach_document, claim_id, by="bola", file=kept, version=version(office, claim_id))


def date_anew(office: Office, claim_id: UUID, day: str = "2026-11-09") -> None:
    seen = version(office, claim_id)
    office.do(claim_corrections.set_incident_date, claim_id, by="sade", on=day, reason="By the letter", version=seen)


def name_claimant(office: Office, claim_id: UUID) -> None:
    who = {
        "claimant": "Representative",
        "claimant_first_name": "Puppet",
        "claimant_last_name": "Person",
        "claimant_phone_number": "08035550099",
    }
    seen = version(office, claim_id)
    office.do(claim_corrections.set_claimant, claim_id, by="bola", claimant=who, reason="By telephone", version=seen)


def test_payee_changed_after_the_approval_is_not_paid(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    with clock.freeze(NOON + timedelta(days=1)):
        set_payee(office, claim_id)
        seen = version(office, claim_id)
        with pytest.raises(
            StateForbids, match="a new approval: the payee and the account were changed by sade on 21 Nov"
        ):
            office.do(claim_paying.hand_over, claim_id, by="root", version=seen)
        with pytest.raises(StateForbids, match="a new approval"):
            office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")
    words = fault(office, claim_id)
    assert words == "the payee and the account were changed by sade on 21 Nov 2026"
    lapsed = (
        "The approval lapsed: the payee and the account were changed by sade on 21 Nov 2026. It needs a new approval."
    )
    assert approvals.describe_lapsed(words or "") == lapsed
    assert office.log(claim_id)[-1].action == "claim move to Paid refused"


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (replace_paper, "the employment termination letter was changed by bola on 20 Nov 2026"),
        (date_anew, "the incident was changed by sade on 20 Nov 2026"),
        (name_claimant, "the claimant was changed by bola on 20 Nov 2026"),
    ],
)
def test_what_is_changed_after_the_approval_takes_it_away(office: Office, change: Any, words: str) -> None:
    claim_id = approved(office)
    assert fault(office, claim_id) is None
    change(office, claim_id)
    assert fault(office, claim_id) == words
    with pytest.raises(StateForbids, match="Offer sent needs a new approval"):
        office.move(claim_id, "Offer sent", by="bola")
    assert office.log(claim_id)[-2].after == {
        **(office.log(claim_id)[-2].after or {}),
        "approval_lapsed": words.partition(" by ")[0],
    }


def test_an_estimate_after_the_approval_needs_a_new_one(office: Office) -> None:
    claim_id = approved(office)
    office.move(claim_id, "Repair estimate submitted", by="bola", **INPUTS["Repair estimate submitted"])
    with pytest.raises(StateForbids, match="the estimate was changed by bola"):
        office.move(claim_id, "Offer sent", by="bola")
    office.move(claim_id, "Approved", by="bola")
    assert fault(office, claim_id) is None


@pytest.mark.both_databases
def test_what_is_done_past_the_desk_takes_the_approval_away_too(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    with office.store.writing(DESK) as session:
        session.execute(sa.update(Claim).where(col(Claim.id) == claim_id).values(claim_owner_last_name="Puppet"))
    assert fault(office, claim_id) == "the claimant was changed past the desk"
    with pytest.raises(StateForbids, match="the claimant was changed past the desk"):
        office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")


def test_payee_written_past_the_desk_is_no_payee(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    claim = office.claim(claim_id)
    row = PaymentPayee(
        id=claim_id,
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim_id,
        name="Puppet Ltd",
        reason="As submitted with the claim",
        created_at=clock.now(),
    )
    with office.store.writing(DESK) as session:
        session.insert(row)
    with pytest.raises(StateForbids, match="the payee was changed past the desk"):
        office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")


def test_a_check_that_fails_after_the_approval_stops_offer_and_payment(office: Office) -> None:
    claim_id = approved(office)
    office.desk.change_policy(start_at=NOON - timedelta(days=5))
    with pytest.raises(StateForbids, match=r"every check to hold.*failed now: In force on the day of the incident"):
        office.move(claim_id, "Offer sent", by="bola")


def test_who_set_the_payee_does_not_approve_it(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor once a colleague who was asked to correct the name has set the same account again, unseen."""
    claim_id = office.lodge(**KNOWN)
    set_payee(office, claim_id, by="sade")
    refusal = "an approver other than who set the payee"
    for _ in range(2):
        with pytest.raises(NotAllowed, match=refusal):
            office.move(claim_id, "Approved", by="sade", amount="75000")
        set_payee(office, claim_id, by="root", name="Puppet and Sons Ltd")
    with monkeypatch.context() as patched:
        # As a version without the rule approved it.
        patched.setattr(claim_transitions, "list_payee_setters", lambda _: [])
        office.move(claim_id, "Approved", by="sade", amount="75000")
    with office.store.reading(Scope.system()) as session:
        (found,) = find_faults(session, OWN_PARTS)
    assert found.endswith(", ₦75,000.00 approved by sade@x.example, who had named its payee")
    set_payee(office, claim_id, by="root", account_number="0123456780")
    office.approve_anew(claim_id, by="bola")


def test_who_made_a_cover_does_not_approve_a_claim_on_it(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody paid the premium of what one sells at the desk to a friend, and its loss is money."""
    started, key = NOON - timedelta(days=60), f"key {ids.new()}"
    loan: dict[str, Any] = {"loan_start_date": str(started.date()), "loan_tenure": 12, "email": "friend@x.example"}
    desk = replace(office.partner.seller(), actor=office.people["bola"].actor, source="desk")
    with clock.freeze(started), office.store.writing(DESK) as session:
        request = shipped.request(CREDIT_LIFE, **loan)
        office.desk.sale = buying.sell(session, CREDIT_LIFE, request, desk)
        policy_id = office.desk.sale.policy_id
        audit.note(session, "policy", policy_id, "policy issued by hand", actor=office.people["root"].actor)
        for by, fields in ((office.people["funmi"], ["registration_number"]), (office.people["sade"], ["email"])):
            audit.note(session, "policy", policy_id, "policy endorsed", actor=by.actor, fields=fields)
        audit.note(session, "policy", policy_id, "policy renewed", actor=key)
        audit.write(session, actor=office.people["ada"].actor, action=audit.KEY_ISSUED, subject=key)
    claim_id = office.lodge_again(**KNOWN)
    for by in ("bola", "root", "ada"):
        with pytest.raises(
            NotAllowed, match="an approver other than who sold, renewed or endorsed its cover, or put it in force"
        ):
            office.move(claim_id, "Approved", by=by, amount="75000")
    with monkeypatch.context() as patched:
        # As a version without the rule approved it.
        patched.setitem(claim_transitions._UNMET, claim_states.OTHER_APPROVER, lambda _: None)
        office.move(claim_id, "Approved", by="bola", amount="75000")
    with office.store.reading(Scope.system()) as session:
        (found,) = find_faults(session, OWN_PARTS)
    assert found.endswith("approved by bola@x.example, who had sold, renewed or endorsed its cover, or put it in force")
    office.move(claim_id, "Reviewing", by="sade")
    office.move(claim_id, "Approved", by="sade", amount="75000")


def test_who_set_a_figure_or_the_payee_once_does_not_pay(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    set_payee(office, claim_id, by="sade")
    office.do(claim_corrections.set_payee, claim_id, by="root", version=version(office, claim_id), **OTHER)
    for status in ("Approved", "Offer sent", "Offer accepted"):
        office.move(claim_id, status, by="bola", **({"amount": "75000"} if status == "Approved" else {}))
    with pytest.raises(NotAllowed, match=r"a payer who has not set its payee"):
        office.move(claim_id, "Paid", by="sade", payment_reference="TRF-1")
    office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")


@pytest.mark.both_databases
def test_approver_who_left_lost_the_role_or_the_limit_has_approved_nothing(office: Office) -> None:
    for by, values, words in (
        ("ada", {"disabled_at": NOON}, "the account of ada, who approved, is disabled"),
        ("ada", {"roles": ["operations"]}, "ada, who approved, does not have the role claims any more"),
        ("ada", {"claim_limit_minor": 100}, "the limit of ada, who approved, is ₦1.00 now, below ₦75,000.00"),
        ("bola", {"claim_limit_minor": 100}, "the limit of bola, who approved, is ₦1.00 now, below ₦75,000.00"),
    ):
        claim_id, email = office.lodge(**KNOWN), f"{by}@x.example"
        for status in ("Approved", "Offer sent", "Offer accepted"):
            office.move(claim_id, status, by=by, **({"amount": "75000"} if status == "Approved" else {}))
        with office.store.writing(Scope.system()) as session:
            before = session.execute(sa.select(Staff).where(col(Staff.email) == email)).scalar_one()
            kept = {name: getattr(before, name) for name in values}
            for name, value in values.items():
                setattr(before, name, value)
        assert fault(office, claim_id) == words
        with pytest.raises(StateForbids, match="a new approval"):
            office.move(claim_id, "Paid", by="root", payment_reference="TRF-1")
        with office.store.writing(Scope.system()) as session:
            session.execute(sa.update(Staff).where(col(Staff.email) == email).values(**kept))


def test_a_lapsed_approval_is_given_anew_without_taking_the_offer_back(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    set_payee(office, claim_id, by="sade")
    anew: dict[str, Any] = {"version": version(office, claim_id), "reasons": {}}
    with pytest.raises(NotAllowed, match="somebody other than who made the change"):
        office.do(claim_moves.approve_anew, claim_id, by="sade", **anew)
    office.do(claim_moves.approve_anew, claim_id, by="root", **anew)
    claim = office.claim(claim_id)
    assert (claim.claim_status, claim.approved_by, fault(office, claim_id)) == (
        "Offer accepted",
        office.people["root"].id,
        None,
    )
    with pytest.raises(StateForbids, match="The approval stands"):
        office.do(claim_moves.approve_anew, claim_id, by="root", version=version(office, claim_id), reasons={})
    office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")


def test_approval_from_before_is_frozen_when_its_claim_is_first_touched(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    with office.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0067")
        command.upgrade(migrating._config(connection), "head")
    with office.store.reading(DESK) as session:
        before = approvals.find_latest(session, claim_changes.KIND, claim_id)
    assert before is not None
    assert (before.is_genuine, before.parts, before.amount_minor, before.by) == (True, {}, 7_500_000, "bola")
    assert fault(office, claim_id) is None
    set_payee(office, claim_id)
    assert fault(office, claim_id) == "the payee and the account were changed by sade on 20 Nov 2026"


@pytest.mark.both_databases
def test_approval_that_was_forged_in_the_database_stands_for_nothing_and_is_found(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.put(claim_id, claim_status="Offer accepted", approved_by=office.people["sade"].id)
    office.put(claim_id, approved_amount_minor=7_500_000, offer_amount_minor=7_500_000)
    given: dict[str, Any] = {
        "subject_kind": claim_changes.KIND,
        "subject_id": claim_id,
        "amount_minor": 7_500_000,
        "role": "supervisor",
    }
    with office.store.writing(Scope.system()) as session:
        by = {"staff_id": office.people["sade"].id, "approved_at": NOON, "parts": {}, "fingerprint": "0" * 64}
        session.insert(Approval(id=ids.new(), **given, **by))
    with pytest.raises(StateForbids, match="it was not given on this desk"):
        office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")
    with office.store.reading(Scope.system()) as session:
        found = store_check.list_faults(session)
    assert any("₦75,000.00, was not written by the desk" in each for each in found)


def test_a_payment_that_came_back_is_noted_by_somebody_else_than_who_paid(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    back = {"payment_reference": "RET-1", "note": "The bank returned it"}
    part = {"amount": "20000", "payment_reference": "TRF-1"}
    office.do(claim_paying.pay_part, claim_id, by="sade", version=version(office, claim_id), **part)
    with pytest.raises(NotAllowed, match="You noted this payment: somebody else notes that it came back"):
        office.do(claim_paying.take_back_part, claim_id, by="sade", version=version(office, claim_id), **back)
    assert office.log(claim_id)[-1].action == "claim take a part back refused"
    office.do(claim_paying.take_back_part, claim_id, by="root", version=version(office, claim_id), **back)
    office.approve_anew(claim_id, by="ada")
    office.move(claim_id, "Paid", by="sade", payment_reference="TRF-2")
    with pytest.raises(NotAllowed, match="You noted this payment"):
        office.move(claim_id, "Offer accepted", by="sade", **{**back, "payment_reference": "RET-2"})
    office.move(claim_id, "Offer accepted", by="root", **{**back, "payment_reference": "RET-2"})


def test_who_approved_a_claim_does_not_note_that_its_payment_came_back(office: Office) -> None:
    """By a return that there was not, one person had an honest payer pay twice by one approval."""
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted")
    back = {"payment_reference": "RET-1", "note": "The bank returned it"}
    part = {"amount": "20000", "payment_reference": "TRF-1"}
    office.do(claim_paying.pay_part, claim_id, by="ada", version=version(office, claim_id), **part)
    with pytest.raises(NotAllowed, match="somebody who has not approved it"):
        office.do(claim_paying.take_back_part, claim_id, by="sade", version=version(office, claim_id), **back)
    office.move(claim_id, "Paid", by="ada", payment_reference="TRF-2")
    with pytest.raises(NotAllowed, match="somebody who has not approved it"):
        office.move(claim_id, "Offer accepted", by="sade", **back)
    office.move(claim_id, "Offer accepted", by="root", **back)


def test_who_gave_an_approval_that_was_taken_back_does_not_pay_by_the_next_one(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.move(claim_id, "Approved", by="sade", amount="75000")
    office.move(claim_id, "Reviewing", by="bola")
    for status in ("Approved", "Offer sent", "Offer accepted"):
        office.move(claim_id, status, by="bola", **({"amount": "75000"} if status == "Approved" else {}))
    with pytest.raises(NotAllowed, match=r"a payer who has not approved it before"):
        office.move(claim_id, "Paid", by="sade", payment_reference="TRF-1")
    office.move(claim_id, "Paid", by="ada", payment_reference="TRF-1")


def test_who_declined_a_claim_once_never_approves_it(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    for decliner, appealed in (("sade", "root"), ("bola", "root")):
        office.move(claim_id, "Declined", by=decliner, reason="exclusion", note="By the wording")
        office.move(claim_id, "Reviewing", by=appealed)
    with pytest.raises(NotAllowed, match="an approver other than who declined it"):
        office.move(claim_id, "Approved", by="sade", amount="75000")
    office.move(claim_id, "Approved", by="root", amount="75000")


def test_who_paid_a_claim_never_approves_it_again(office: Office) -> None:
    claim_id = approved(office, to="Offer accepted")
    part = {"amount": "20000", "payment_reference": "TRF-1"}
    office.do(claim_paying.pay_part, claim_id, by="sade", version=version(office, claim_id), **part)
    office.move(claim_id, "Reviewing", by="root")
    with pytest.raises(NotAllowed, match="an approver other than who paid it before"):
        office.move(claim_id, "Approved", by="sade", amount="75000")
    office.move(claim_id, "Approved", by="root", amount="75000")


def test_a_paper_that_came_after_the_approval_ends_it(office: Office) -> None:
    claim_id = approved(office, to="Approved")
    received = ReceivedFile(field="police_report", file_name="b.pdf", content=papers.pdf(text="It was not stolen"))
    with files.store_files([received]) as (kept,):
        office.do(lodging.attach_document, claim_id, by="ada", file=kept, version=version(office, claim_id))
    assert fault(office, claim_id) == "the police report was changed by ada on 20 Nov 2026"
