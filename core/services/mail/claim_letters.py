"""Texts of the letters on a claim: subject and body, with `$name` where a value goes (contract C17)."""

from collections.abc import Mapping
from typing import Final

_DEAR: Final = "Dear $claimant,\n\n"
_END: Final = "\nYours faithfully,\nThe claims desk, for $insurer\n"

CLAIM_LETTERS: Final[Mapping[str, tuple[str, str]]] = {
    "claim acknowledgement": (
        "Claim $reference: we have received it",
        f"{_DEAR}"
        "We received your claim of $lodged for $incident under policy $policy_number, and have opened the file\n"
        "$reference for it. The law gives 60 days to settle or to decline it; they stand still while we wait for\n"
        "you.\n\n"
        f"Papers that we need still: $papers.\n{_END}",
    ),
    "claim documents": (
        "Claim $reference: papers that we need",
        f"{_DEAR}"
        "To go on with your claim for $incident under policy $policy_number we need these papers:\n\n"
        "$papers.\n\n"
        f"Please send them with the reference $reference.\n{_END}",
    ),
    "claim offer": (
        "Claim $reference: our offer and discharge form",
        f"{_DEAR}"
        "In settlement of your claim for $incident under policy $policy_number we offer $offer.\n\n"
        "If you accept it, please sign below and send this letter back. The amount will be paid to $payee.\n\n"
        "DISCHARGE. I accept $offer in full settlement of the claim $reference.\n\n"
        f"Name: ______________________  Signature: ______________________  Date: ______________\n{_END}",
    ),
    "claim decline": (
        "Claim $reference: our decision",
        f"{_DEAR}"
        "We have judged your claim for $incident under policy $policy_number with care, and cannot pay it.\n\n"
        "Reason: $reason. $note\n\n"
        "You have the right to appeal: write to us with the reference $reference and whatever speaks against this\n"
        "decision, and a supervisor will take it up. You may also complain to the National Insurance Commission.\n"
        f"{_END}",
    ),
    "claim payment": (
        "Claim $reference: payment advice",
        f"{_DEAR}"
        "We have paid $paid on your claim for $incident under policy $policy_number.\n\n"
        f"To $payee, reference $payment_reference, value date $value_date.\n{_END}",
    ),
}
