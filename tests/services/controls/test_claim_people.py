"""Own claims, appeals, claims lodged again, and papers saved anew (contract K12, K13, K14), on both stores."""

import io
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from fpdf import FPDF
from PIL import Image, ImageDraw

from core import clock
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed
from core.services.claims.intake import lodging
from core.services.claims.lists import totals
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import letters
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import transitions as claim_transitions
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.people import staff
from core.services.selling import endorsing
from core.store.access import Scope
from core.store.schema.tables import Policy, StaffDetail
from tests import papers
from tests.planting import find_faults
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)

KNOWN = {"incident_date": "2026-11-10"}
LETTER = "This is to confirm that Musa Bello was employed by us until 3 November 2026"


def review(office: Office, claim_id: UUID) -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people["sade"])


def check(office: Office, claim_id: UUID, key: str) -> tuple[bool | None, str]:
    return next((each.passed, each.detail) for each in review(office, claim_id).checks if each.key == key)


def attach(office: Office, claim_id: UUID, content: bytes, *, name: str = "loan_offer_letter") -> None:
    received = ReceivedFile(field=name, file_name="a.bin", content=content)
    with files.store_files([received]) as (kept,):
        seen = office.claim(claim_id).version
        office.do(lodging.attach_document, claim_id, by="sade", file=kept, version=seen)


def keep_letter(office: Office, claim_id: UUID, kind: str) -> None:
    written = office.do(letters.compose, claim_id, kind=kind)
    received = ReceivedFile(field=written.field, file_name="a.pdf", content=written.content)
    with files.store_files([received]) as (kept,):
        office.do(letters.keep_letter, claim_id, file=kept, kind=kind, version=office.claim(claim_id).version)


def photo(**options: Any) -> bytes:
    """A picture of a damaged car, as one camera took it."""
    picture = Image.new("RGB", (320, 240), "white")
    draw = ImageDraw.Draw(picture)
    for place in range(0, 320, 20):
        draw.rectangle((place, 240 - place * 3 // 5, place + 14, 240), fill=(place * 7 % 256, place % 200, 90))
    draw.ellipse((60, 40, 150, 120), fill="red")
    output = io.BytesIO()
    picture.resize(options.pop("size", (320, 240))).save(output, **options)
    return output.getvalue()


def letter(*, title: str = "A letter") -> bytes:
    """A page that says who was employed."""
    page = FPDF()
    page.set_title(title)
    page.add_page()
    page.set_font("Helvetica", size=12)
    page.multi_cell(w=0, text=LETTER)
    return bytes(page.output())


def details(office: Office, name: str, **given: str) -> None:
    with office.store.writing(Scope.system()) as session:
        wanted: dict[str, Any] = {"phone_number": None, "account_number": None, **given}
        staff.set_own_details(session, office.people[name].id, actor="tests", **wanted)
    office.people[name] = office.person(name)


@pytest.mark.both_databases
def test_nobody_decides_on_a_claim_that_has_their_own_mail_phone_or_account(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    claim = office.claim(claim_id)
    office.put(claim_id, claim_owner_email="Sade@x.example")
    details(office, "bola", phone_number=claim.claim_owner_phone_number or "")
    details(office, "root", account_number="0123456789")
    seen = office.claim(claim_id).version
    payee = {"name": "Root", "bank_name": "A Bank", "account_number": "0123456789", "reason": "By telephone"}
    office.do(claim_corrections.set_payee, claim_id, by="ada", version=seen, **payee)
    # What an admin in league sets in its place hides nothing: what was theirs counts as theirs.
    details(office, "bola", phone_number="08099999999")
    details(office, "root", account_number="0999999999")
    for by in ("sade", "bola", "root"):
        for to, inputs in (("Approved", {"amount": "75000"}), ("Declined", {"reason": "other", "note": "No"})):
            with pytest.raises(NotAllowed, match="has your e-mail, phone or account"):
                office.move(claim_id, to, by=by, **inputs)
    assert "claim move to Declined refused" in {entry.action for entry in office.log(claim_id)}
    assert (
        "The customer, claimant, payee or third party is of this desk: bola, root, sade"
        in review(office, claim_id).fraud_flags
    )
    for statement in (sa.update(StaffDetail).values(account_key=None, phone_number="1"), sa.delete(StaffDetail)):
        with pytest.raises(sa.exc.DBAPIError), office.store.writing(Scope.system()) as session:
            session.execute(statement)


def test_nobody_decides_on_a_claim_of_which_they_are_the_third_party(office: Office) -> None:
    """The insured pays nothing: the third party does get the money."""
    claim_id = office.lodge(**KNOWN)
    meta = {"incident_type": "Third party property damage", "third_party_phone_number": "+234 803 555 0199"}
    office.put(claim_id, credit_life_claim_meta=None, vehicle_claim_meta=meta, claim_type="Motor")
    office.move(claim_id, "Reviewing", by="bola")
    # It was not known then whose phone that is.
    details(office, "bola", phone_number="08035550199")
    with pytest.raises(NotAllowed, match=r"somebody else: .* of this claim has your e-mail, phone or account"):
        office.move(claim_id, "Declined", by="bola", reason="exclusion", note="Excluded by the wording")
    with office.store.reading(Scope.system()) as session:
        (found,) = find_faults(session, "Nobody decided on a claim of their own")
    assert found.endswith("0.00 paid, was decided on by bola, whose own it is")


@pytest.mark.parametrize("is_endorsed", [False, True], ids=["by the policy", "endorsed away"])
def test_a_claim_on_a_policy_with_ones_own_contact_is_ones_own(office: Office, *, is_endorsed: bool) -> None:
    """The customer's phone is that of the latest sale, or of an endorsement; the policy was bought with another."""
    details(office, "bola", phone_number="08035550199")
    with office.store.writing(DESK) as session:
        sold = session.get_one(Policy, office.desk.sale.policy_id)
        sold.phone, sold.submitted = "08035550199", {**sold.submitted, "phone_number": "08035550199"}
    if is_endorsed:
        how: dict[str, Any] = {"reason": "Another number", "requested_by": "The customer", "expected_version": 1}
        with office.store.writing(DESK) as session:
            policy = office.desk.sale.policy_id
            changed = {"phone_number": "08035550188"}
            endorsing.endorse(session, policy, changed, effective_on=clock.today(), by=office.people["funmi"], **how)
    claim_id = office.lodge_again(**KNOWN)
    with pytest.raises(NotAllowed, match="has your e-mail, phone or account"):
        office.move(claim_id, "Approved", by="bola", amount="75000")
    assert "The customer, claimant, payee or third party is of this desk: bola" in review(office, claim_id).fraud_flags
    office.move(claim_id, "Approved", by="sade", amount="75000")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "contact",
    [
        {"claim_owner_email": "bola@x.example", "claim_owner_phone_number": None},
        {"claim_owner_phone_number": "(080) 35-55.0199"},
    ],
    ids=["e-mail", "phone in odd marks"],
)
def test_the_queue_does_not_offer_ones_own_claim(office: Office, contact: dict[str, Any]) -> None:
    claim_id = office.lodge(**KNOWN)
    details(office, "bola", phone_number="08035550199")
    office.put(claim_id, **contact)
    with office.store.writing(DESK) as session:
        assert claim_assignment.assign_next(session, person=office.people["bola"]) is None
        assert claim_assignment.assign_next(session, person=office.people["ada"]) == claim_id


def test_own_claim_that_was_decided_all_the_same_is_reported_with_its_sum(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.walk(claim_id, "Approved", "Offer sent", "Offer accepted", "Paid")
    office.put(claim_id, claim_owner_email="sade@x.example")
    with office.store.reading(Scope.system()) as session:
        found = store_check.list_faults(session)
    assert any("₦70,000.00 paid, was decided on by sade, whose own it is" in each for each in found)


def test_an_appeal_goes_to_somebody_else_and_more_needs_a_new_paper(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim_id = office.lodge(**KNOWN)
    attach(office, claim_id, letter())
    office.move(claim_id, "Approved", by="bola", amount="40000")
    office.move(claim_id, "Reviewing", by="bola")
    office.move(claim_id, "Declined", by="sade", reason="misrepresentation", note="The letter is false")
    with pytest.raises(NotAllowed, match="somebody other than who declined it"):
        office.move(claim_id, "Reviewing", by="sade")
    with clock.freeze(NOON + timedelta(minutes=30)):
        # Our own letter is no paper, nor is one that was there before and is saved anew.
        keep_letter(office, claim_id, "decline")
    assert office.claim(claim_id).assigned_to == office.people["bola"].id
    office.move(claim_id, "Reviewing", by="root")
    assert office.claim(claim_id).assigned_to == office.people["root"].id
    with pytest.raises(NotAllowed, match="an approver other than who declined it"):
        office.move(claim_id, "Approved", by="sade", amount="40000")
    more = {"by": "bola", "amount": "75000"}
    with clock.freeze(NOON + timedelta(hours=1)):
        attach(office, claim_id, letter(title="Saved anew"))
        with pytest.raises(InvalidInput, match=r"amount must not be above ₦40,000.00, as before the decline"):
            office.move(claim_id, "Approved", **more)
        with monkeypatch.context() as patched:
            # As a version without the rule approved it.
            patched.setattr(claim_transitions, "_check_appeal", lambda *_: [])
            office.move(claim_id, "Approved", **more)
        with office.store.reading(Scope.system()) as session:
            (found,) = find_faults(session, "More than before a decline takes a new paper")
        assert "₦75,000.00 approved by bola@x.example: ₦40,000.00 was approved before it was declined" in found
        office.move(claim_id, "Reviewing", by="bola")
        attach(office, claim_id, papers.pdf(text="A new letter"))
        office.move(claim_id, "Approved", **more)


def test_a_claim_lodged_again_after_a_decline_shows_it(office: Office) -> None:
    first = office.lodge(**KNOWN)
    office.move(first, "Declined", by="sade", reason="misrepresentation", note="The letter is false")
    second = office.lodge_again(**KNOWN)
    passed, detail = check(office, second, "declined")
    assert (passed, detail.partition(": ")[2]) == (False, "misrepresentation")
    with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: Nothing was declined before"):
        office.move(second, "Approved", by="bola", amount="75000")


def test_a_picture_saved_anew_is_the_same_on_claims_of_two_distributors(office: Office, store: Any) -> None:
    first = office.lodge(**KNOWN)
    attach(office, first, photo(format="PNG"))
    second = office.lodge(incident_type="Permanent disability", **KNOWN)
    attach(office, second, photo(format="JPEG", quality=60, size=(300, 220)))
    for mine, other in ((first, second), (second, first)):
        (found,) = review(office, mine).duplicates
        assert (found.id, found.matches, found.is_same_loss) == (other, ("a picture that looks the same",), True)
        assert check(office, mine, "duplicate")[0] is False


def test_a_letter_saved_anew_is_known_by_its_text(office: Office) -> None:
    first, second = office.lodge(**KNOWN), office.lodge(**KNOWN)
    attach(office, first, letter())
    attach(office, second, letter(title="Saved anew"))
    (found,) = review(office, first).duplicates
    assert (found.id, found.matches) == (second, ("the same document",))


def test_a_plain_surface_and_a_few_words_are_like_nothing(office: Office) -> None:
    plain = io.BytesIO()
    Image.new("RGB", (64, 64), "grey").save(plain, "PNG")
    first, second = office.lodge(**KNOWN), office.lodge(**KNOWN)
    for claim_id, kept in ((first, "PNG"), (second, "JPEG")):
        output = io.BytesIO()
        Image.new("RGB", (64, 64), "grey").save(output, kept)
        attach(office, claim_id, output.getvalue())
    assert review(office, first).duplicates == []


@pytest.mark.both_databases
def test_a_second_submission_is_linked_and_the_first_is_paid(office: Office) -> None:
    first, second = office.lodge(**KNOWN), office.lodge_again(**KNOWN)
    assert check(office, first, "duplicate")[0] is False
    given: dict[str, Any] = {"version": office.claim(second).version}
    for wrong in ("C-00000000", review(office, second).reference, ""):
        with pytest.raises(InvalidInput, match="first must be another claim of this policy"):
            office.do(claim_moves.link_second_submission, second, first=wrong, **given)
    office.do(claim_moves.link_second_submission, second, first=review(office, first).reference, **given)
    linked = office.claim(second)
    assert (linked.claim_status, linked.decline_reason, linked.second_of) == ("Declined", "duplicate", first)
    assert review(office, first).duplicates == []
    assert check(office, first, "declined")[0] is True
    office.move(first, "Approved", by="bola", amount="75000", reasons={})
    office.walk(first, "Offer sent", "Offer accepted", "Paid")


def test_lapsed_approvals_are_a_view_of_the_queue(office: Office) -> None:
    claim_id = office.lodge(**KNOWN)
    office.move(claim_id, "Approved", by="bola", amount="75000")
    assert counted(office) == 0
    attach(office, claim_id, papers.pdf(text="Another letter"))
    assert counted(office) == 1
    office.do(claim_moves.approve_anew, claim_id, by="root", version=office.claim(claim_id).version, reasons={})
    assert counted(office) == 0


def counted(office: Office) -> int:
    with office.store.reading(DESK) as session:
        return totals.count_views(session, office.people["sade"]).views["lapsed"]
