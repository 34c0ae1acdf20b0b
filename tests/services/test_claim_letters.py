"""Letters on a claim: what each needs, what it says, and where it is kept (contract C17)."""

import re
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core.desk import mail_texts
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.intake import lodging, submitted
from core.services.claims.workflow import letters
from core.services.claims.workflow.letters import KINDS, Composed, KeptLetter
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.mail import mail
from core.services.mail.mail import CLAIM_LETTERS
from core.store.access import Scope
from core.store.operations import blob_storage
from core.store.schema.tables import Claim, Policy, UploadedFile
from tests import papers
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)

LIVE = Scope.staff(is_live=True)


def compose(office: Office, claim_id: UUID, kind: str, *, by: str = "bola") -> Composed:
    with office.store.writing(DESK) as session:
        return letters.compose(session, claim_id, kind, person=office.people[by])


def keep(office: Office, claim_id: UUID, kind: str, **changed: Any) -> Composed:
    letter = compose(office, claim_id, kind)
    details = {"kind": kind, "version": office.claim(claim_id).version, **changed}
    with files.store_files([ReceivedFile(field=letter.field, file_name="a.pdf", content=letter.content)]) as (kept,):
        office.do(letters.keep_letter, claim_id, file=kept, **details)
    return letter


def test_every_kind_of_letter_has_a_text_and_can_be_edited() -> None:
    assert {f"claim {kind}" for kind in KINDS} == set(CLAIM_LETTERS) <= set(mail_texts.TITLES)
    # A sentence is broken where the page ends it, not where a line of the program does.
    assert not [kind for kind, (_, body) in CLAIM_LETTERS.items() if re.search(r"[a-z]\n[a-z$]", body)]


def test_a_letter_is_kept_in_the_file_and_in_the_history(office: Office) -> None:
    claim_id = office.lodge()
    letter = keep(office, claim_id, "acknowledgement")
    assert "Dear Ngozi Okafor" in letter.body
    assert "loss of job" in letter.body
    assert "Papers that we still need: none" in letter.body
    assert letter.content.startswith(b"%PDF")
    with office.store.reading(DESK) as session:
        (kept,) = letters.list_letters(session, claim_id)
    assert (kept.title, blob_storage.path_of(kept.code).is_file()) == ("Acknowledgement", True)
    assert office.log(claim_id)[-1].after["letter"] == "Acknowledgement"


def test_letters_wait_for_what_they_tell_of(office: Office) -> None:
    claim_id = office.lodge()
    for kind, words in (
        ("documents", "papers that are owed"),
        ("offer", "an offer that was sent"),
        ("decline", "a claim that is declined"),
        ("payment", "a payment"),
    ):
        with pytest.raises(StateForbids, match=f"needs {words}"):
            compose(office, claim_id, kind)
    with pytest.raises(InvalidInput, match="letter must be one of"):
        compose(office, claim_id, "poem")
    with pytest.raises(NotAllowed):
        compose(office, claim_id, "acknowledgement", by="funmi")
    with pytest.raises(StaleVersion):
        keep(office, claim_id, "acknowledgement", version=7)


def test_no_papers_are_asked_for_once_a_claim_is_decided(office: Office) -> None:
    claim_id = office.lodge()
    meta = office.claim(claim_id).credit_life_claim_meta or {}
    office.put(claim_id, credit_life_claim_meta={**meta, "employment_termination_letter": None})
    assert "employment termination letter" in compose(office, claim_id, "documents").body
    office.walk(claim_id, "Declined")
    with pytest.raises(StateForbids, match="papers that are owed"):
        compose(office, claim_id, "documents")


def test_the_offer_fills_the_offer_form_and_a_payment_names_what_was_paid(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved", "Offer sent")
    letter = keep(office, claim_id, "offer")
    assert "DISCHARGE. I accept ₦70,000.00 in full settlement" in letter.body
    assert "/v1/files/" in (office.claim(claim_id).offer_form_url or "")
    office.walk(claim_id, "Offer accepted", "Paid")
    advice = compose(office, claim_id, "payment")
    assert "We have paid ₦70,000.00" in advice.body
    assert "reference TRF-0001, value date 20 Nov 2026" in advice.body


def test_a_decline_names_its_reason_its_wording_and_the_right_to_appeal(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Declined")
    body = compose(office, claim_id, "decline").body
    assert "Reason: the policy excludes this loss. Excluded by the wording." in body
    assert letters.DECLINED_BECAUSE.keys() == set(submitted.DECLINE_REASONS)
    assert "You have the right to appeal" in body


def test_a_text_that_an_admin_has_changed_stands_in_the_next_letter(office: Office) -> None:
    claim_id = office.lodge()
    with office.store.writing(Scope.system()) as session:
        texts = {"subject": "About $reference", "body": "Hello $claimant, we have your claim."}
        mail_texts.change_text(session, "claim acknowledgement", texts, version=0, by=office.people["root"])
    letter = compose(office, claim_id, "acknowledgement")
    assert letter.body == "Hello Ngozi Okafor, we have your claim.\n"


def kept(office: Office, claim_id: UUID, scope: Scope = DESK) -> list[KeptLetter]:
    with office.store.reading(scope) as session:
        return letters.list_letters(session, claim_id)


def test_a_letter_is_to_be_sent_until_somebody_says_how_it_was(office: Office) -> None:
    claim_id = office.lodge()
    keep(office, claim_id, "acknowledgement")
    (letter,) = kept(office, claim_id)
    assert not letter.is_sent
    for dispatch, kind in (
        ({"way": "Pigeon"}, InvalidInput),
        ({"way": "Post", "by": "funmi"}, NotAllowed),
        ({"way": "Post", "code": "0" * 32}, NotFound),
    ):
        with pytest.raises(kind):
            office.do(letters.mark_sent, claim_id, **{"code": letter.code, **dispatch})
    with pytest.raises(NotFound):
        office.do(letters.mark_sent, office.lodge(), code=letter.code, way="Post")
    office.do(letters.mark_sent, claim_id, code=letter.code, way="Post")
    (letter,) = kept(office, claim_id)
    assert (letter.way, letter.sent_by, letter.sent_at) == ("Post", "bola", NOON)
    assert office.log(claim_id)[-1].after == {"letter": "Acknowledgement", "way": "Post"}
    with pytest.raises(StateForbids, match="was sent already"):
        office.do(letters.mark_sent, claim_id, code=letter.code, way="E-mail")


def test_a_letter_goes_by_e_mail_as_long_as_it_says_what_stands(office: Office) -> None:
    claim_id = office.lodge()
    keep(office, claim_id, "acknowledgement")
    keep(office, claim_id, "acknowledgement")
    newest, older = kept(office, claim_id)
    with pytest.raises(StateForbids, match="test mode"):
        office.do(letters.send_by_mail, claim_id, code=newest.code)
    with office.store.writing(Scope.system()) as session:
        for table in (Claim, Policy, UploadedFile):
            session.execute(sa.update(table).values(is_live=True))
    with office.store.writing(LIVE) as session:
        claim = session.get_one(Claim, claim_id)
        kept_email, claim.claim_owner_email = claim.claim_owner_email, ""
        session.flush()
        with pytest.raises(StateForbids, match="gave no e-mail"):
            letters.send_by_mail(session, claim_id, newest.code, person=office.people["bola"])
        claim.claim_owner_email = kept_email
    with office.store.writing(LIVE) as session:
        letters.send_by_mail(session, claim_id, newest.code, person=office.people["bola"])
    with office.store.reading(Scope.system()) as session:
        (line,) = mail.list_about(session, f"claim:{claim_id}")
    assert (line.recipient, line.sent_by) == ("ngozi.okafor@example.com", "staff bola@x.example")
    for code, words in ((newest.code, "was sent already"), (older.code, "A newer letter")):
        with pytest.raises(StateForbids, match=words), office.store.writing(LIVE) as session:
            letters.send_by_mail(session, claim_id, code, person=office.people["bola"])


def test_an_offer_is_accepted_by_a_signed_form_or_by_a_note_of_the_call(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    with pytest.raises(InvalidInput, match="document"):
        attach(office, claim_id, "signed_discharge")
    office.walk(claim_id, "Approved", "Offer sent")
    with pytest.raises(InvalidInput, match="as no signed discharge form is among the documents"):
        office.move(claim_id, "Offer accepted", note=None)
    attach(office, claim_id, "signed_discharge")
    office.move(claim_id, "Offer accepted", note=None)
    with_note = office.lodge(incident_date="2026-11-18")
    office.walk(with_note, "Approved", "Offer sent")
    office.move(with_note, "Offer accepted", note="Accepted on the phone, 4 pm")


def attach(office: Office, claim_id: UUID, name: str) -> None:
    arriving = ReceivedFile(field=name, file_name="a.pdf", content=papers.pdf(text="I accept"))
    with files.store_files([arriving]) as (file,):
        version = office.claim(claim_id).version
        office.do(lodging.attach_document, claim_id, file=file, version=version)
