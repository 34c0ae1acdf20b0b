"""The texts of e-mails: a subject and a plain body for each, with the values that they need by name.

An admin may change a text; the changed one is in the store and stands in place of the one here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Final

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import MailText

_DEAR: Final = "Dear $claimant,\n\n"
_END: Final = "\nYours faithfully,\nThe claims desk, for $insurer\n"

CLAIM_LETTERS: Final[Mapping[str, tuple[str, str]]] = {
    "claim acknowledgement": (
        "Claim $reference: we have received it",
        f"{_DEAR}"
        "We received your claim of $lodged for $incident under policy $policy_number, and have opened the file "
        "$reference for it. The law gives 60 days to settle or to decline it; they stand still while we wait for "
        "you.\n\n"
        f"Papers that we still need: $papers.\n{_END}",
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
        "You have the right to appeal: write to us with the reference $reference and whatever speaks against this "
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


@dataclass(frozen=True, slots=True)
class MailTemplate:
    """One e-mail, with `$name` where a value goes."""

    subject: str
    body: str

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the values that the text uses."""
        return frozenset(Template(f"{self.subject}\n{self.body}").get_identifiers())

    def render(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Return subject and body; KeyError names a value that is missing. A subject is one line."""
        plain = {name: str(value) for name, value in values.items()}
        one_line = {name: " ".join(value.split()) for name, value in plain.items()}
        return Template(self.subject).substitute(one_line), Template(self.body).substitute(plain)


TEMPLATES: Final[Mapping[str, MailTemplate]] = {
    "endpoint failing": MailTemplate(
        "A webhook endpoint is failing ($mode)",
        "Every delivery to one of your $mode endpoints has failed for an hour.\n\n"
        "Endpoint: $endpoint\nLast answer: $reason\n\n"
        "Deliveries are still tried. After five days of failures the endpoint is disabled; its events are then held\n"
        "until it is enabled again, and none is lost.\n",
    ),
    "endpoint disabled": MailTemplate(
        "A webhook endpoint was disabled ($mode)",
        "One of your $mode endpoints takes no deliveries any more.\n\n"
        "Endpoint: $endpoint\nReason: $reason\n\n"
        "Its events are held. Enable the endpoint to get those that were held meanwhile.\n",
    ),
    "policy certificate": MailTemplate(
        "Your policy $policy_number",
        "Dear $name,\n\n"
        "Thank you for buying $cover from $seller. Your cover with $insurer runs from $starts to $ends;\n"
        "the premium was $premium.\n\n"
        "Your certificate: $certificate\n\n"
        "Keep this message: the certificate opens from any device, and anybody can verify it by its code.\n",
    ),
    "renewal reminder": MailTemplate(
        "Your policy $policy_number ends on $ends",
        "Dear $name,\n\n"
        "Your cover $cover with $insurer, bought from $seller, ends on $ends.\n"
        "One more term costs $price. Call us or reply to this message, and we renew it for you.\n\n"
        "If you want no more reminders, reply with the word STOP.\n",
    ),
    "saved view": MailTemplate(
        "$view: $figures",
        "Dear $name,\n\n"
        "Your view $view of $list on $day: $figures.\n\n"
        "The list: $link\nThe file: $file\n\n"
        "Both open after signing in. Change or stop these messages under Views, above the list.\n",
    ),
    "saved view warning": MailTemplate(
        "Warning: $view has $figures",
        "Dear $name,\n\n"
        "Your view $view of $list has $warning: $figures on $day.\n\n"
        "The list: $link\n\n"
        "You are told once, and again when it has come back in between.\n",
    ),
    **{name: MailTemplate(*text) for name, text in CLAIM_LETTERS.items()},
}


def get_template(session: ScopedSession, name: str) -> MailTemplate:
    """Return the text of an e-mail, the changed one if an admin has changed it; KeyError for an unknown name."""
    usual = TEMPLATES[name]
    row = session.execute(
        sa.select(col(MailText.subject), col(MailText.body)).where(col(MailText.name) == name)
    ).one_or_none()
    return MailTemplate(row.subject, row.body) if row else usual
