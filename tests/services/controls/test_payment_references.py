"""A payment reference has characters that can be told apart, at every door where one is typed (contract K9)."""

from datetime import date
from uuid import UUID

import pytest

from core.covers import request
from core.errors import InvalidInput
from core.services.claims.workflow.transitions import TransitionInput
from core.services.finance import claim_payment_files as payment_files
from core.services.finance.credit_notes.deciding import PaidInput
from core.services.finance.payments.settlement import BankAnswer, ReceiptInput
from core.services.people import transfers
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import Office

pytestmark = pytest.mark.frozen_at(NOON)

# Seven spellings that a person cannot tell from R-1.
LOOKS_ALIKE = {
    "R\u20111": "non-breaking hyphen (U+2011)",
    "R\u20131": "en dash (U+2013)",
    "R\u22121": "minus sign (U+2212)",
    "R\u034f-1": "combining grapheme joiner (U+034F)",
    "R\ufe0f-1": "variation selector-16 (U+FE0F)",
    "R\u3164-1": "hangul filler (U+3164)",
    "\u0420-1": "cyrillic capital letter er (U+0420)",
}


def accepted(office: Office) -> UUID:
    claim_id = office.lodge()
    for status in ("Approved", "Offer sent", "Offer accepted"):
        office.walk(claim_id, status)
    return claim_id


def test_seven_spellings_of_one_reference_pay_no_claim_and_each_refusal_names_the_character(office: Office) -> None:
    claim_id = accepted(office)
    for typed, named in LOOKS_ALIKE.items():
        with pytest.raises(InvalidInput) as refused:
            office.move(claim_id, "Paid", by="ada", payment_reference=typed)
        (fault,) = refused.value.faults
        assert fault.field == "payment_reference"
        assert named in fault.message
        assert "use only letters A to Z, digits, blanks and - / . _ #" in fault.message
    office.move(claim_id, "Paid", by="ada", payment_reference="Nip/0042-A_1.b #3")
    assert office.claim(claim_id).payment_reference == "Nip/0042-A_1.b #3"


@every_case("typed", LOOKS_ALIKE)
def test_every_door_refuses_it(typed: str) -> None:
    day = str(date(2026, 11, 20))
    for model, given in (
        (TransitionInput, {"payment_reference": typed}),
        (BankAnswer, {"bank_reference": typed, "value_on": day}),
        (ReceiptInput, {"bank_reference": typed, "value_on": day, "amount": "1"}),
        (PaidInput, {"bank_reference": typed, "value_on": day, "payee": "Ngozi Okafor"}),
    ):
        with pytest.raises(InvalidInput, match="a character that a reference cannot have"):
            request.validate(model, given)
    content = f"Claim,Amount,Reference\nC-1,10,{typed}\n".encode()
    columns = {"claim": "Claim", "amount": "Amount", "reference": "Reference"}
    (line,) = payment_files.match(payment_files.read("pay.csv", content), columns, ())
    assert LOOKS_ALIKE[typed] in (line.refusal or "")


def test_references_are_compared_without_blanks_and_case() -> None:
    assert transfers.reference_key(" Trf 0 0/1") == transfers.reference_key("TRF00/1") == "trf00/1"
    assert transfers.reference_key("TRF-1") != transfers.reference_key("TRF1")
