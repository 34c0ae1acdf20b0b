"""Letters on a claim: what each needs, what it says, and where it is kept (contract C17)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from core import clock
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.admin import mail_texts
from core.services.claims.letters import letters
from core.services.claims.letters.letters import KINDS, Composed
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.mail.claim_letters import CLAIM_LETTERS
from core.store.access import Scope, Store
from core.store.operations import blob_storage
from tests.conftest import Partner
from tests.services.claim_office import DESK, Office
from tests.services.test_lodging import NOON


@pytest.fixture(autouse=True)
def still() -> Iterator[None]:
    with clock.freeze(NOON):
        yield


@pytest.fixture
def office(store: Store, partner: Partner) -> Office:
    return Office(store, partner)


def compose(office: Office, claim_id: UUID, kind: str, *, by: str = "bola") -> Composed:
    with office.store.writing(DESK) as session:
        return letters.compose(session, claim_id, kind, person=office.people[by])


def keep(office: Office, claim_id: UUID, kind: str, **changed: Any) -> Composed:
    letter = compose(office, claim_id, kind)
    told = {"kind": kind, "version": office.claim(claim_id).version, **changed}
    with files.store_files([ReceivedFile(field=letter.field, file_name="a.pdf", content=letter.content)]) as (kept,):
        office.do(letters.keep_letter, claim_id, file=kept, **told)
    return letter


def test_every_kind_of_letter_has_a_text_and_can_be_edited() -> None:
    assert {f"claim {kind}" for kind in KINDS} == set(CLAIM_LETTERS) <= set(mail_texts.TITLES)


def test_a_letter_is_kept_in_the_file_and_in_the_history(office: Office) -> None:
    claim_id = office.lodge()
    letter = keep(office, claim_id, "acknowledgement")
    assert "Dear Ngozi Okafor" in letter.body
    assert "loss of job" in letter.body
    assert "Papers that we need still: none" in letter.body
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
    assert "Reason: exclusion. Excluded by the wording" in body
    assert "You have the right to appeal" in body


def test_a_text_that_an_admin_has_changed_stands_in_the_next_letter(office: Office) -> None:
    claim_id = office.lodge()
    with office.store.writing(Scope.system()) as session:
        told = {"subject": "About $reference", "body": "Hello $claimant, we have your claim."}
        mail_texts.change_text(session, "claim acknowledgement", told, version=0, by=office.people["root"])
    letter = compose(office, claim_id, "acknowledgement")
    assert letter.body == "Hello Ngozi Okafor, we have your claim.\n"
