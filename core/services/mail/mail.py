"""Sending e-mail: `send` writes a row in the caller's transaction; a worker delivers it later (contract W1).

An admin may change a text; the changed one is in the store and stands in place of the one here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from string import Template
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput
from core.store import outbox
from core.store.access import ScopedSession
from core.store.expressions import NO_DOMAIN
from core.store.outbox import Backoff
from core.store.rows import build_row
from core.store.schema.tables import Mail, MailText

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

_REGULATOR: Final = (
    "the National Insurance Commission (NAICOM), Complaints Bureau, Plot 1239 Ladoke Akintola Boulevard, Garki II, "
    "Abuja, www.naicom.gov.ng"
)
_COMPLAINT: Final = "Your complaint: $about, received on $received\nPolicy: $policy_number\n\n"
COMPLAINT_LETTERS: Final[Mapping[str, tuple[str, str]]] = {
    "complaint acknowledgement": (
        "Complaint $number: we have received it",
        "Dear $name,\n\n"
        "We have received your complaint and registered it under the number $number. Please give this number whenever "
        "you write or call about it.\n\n"
        f"{_COMPLAINT}"
        "You have our answer by $due. It costs you nothing. If you have no answer by then, you may take your complaint "
        f"to {_REGULATOR}.\n\n"
        "Yours faithfully,\nThe complaints desk\n",
    ),
    "complaint answer": (
        "Complaint $number: our answer",
        "Dear $name,\n\n"
        f"We have looked into your complaint.\n\n{_COMPLAINT}"
        "$answer\n\n"
        "This is our final answer. If you are not satisfied with it, you may take your complaint, with this letter, to "
        f"{_REGULATOR}.\n\n"
        "Yours faithfully,\nThe complaints desk\n",
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
        "One more term costs $price today. Call us or reply to this message, and we renew it for you.\n\n"
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
    **{name: MailTemplate(*text) for name, text in {**CLAIM_LETTERS, **COMPLAINT_LETTERS}.items()},
}


def get_template(session: ScopedSession, name: str) -> MailTemplate:
    """Return the text of an e-mail, the changed one if an admin has changed it; KeyError for an unknown name."""
    usual = TEMPLATES[name]
    row = session.execute(
        sa.select(col(MailText.subject), col(MailText.body)).where(col(MailText.name) == name)
    ).one_or_none()
    return MailTemplate(row.subject, row.body) if row else usual


BACKOFF: Final = Backoff(seconds=outbox.doubling(30, 3_600), spread=0.25, most=12)
MAX_LENGTH: Final = 254


def takes_mail(address: str) -> bool:
    """Return False for an address that stands where nobody has given one."""
    return not address.lower().endswith(NO_DOMAIN)


@dataclass(frozen=True, kw_only=True, slots=True)
class MailJob:
    """One leased e-mail."""

    id: UUID
    attempt: int
    recipient: str
    subject: str
    body: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MailLine:
    """One e-mail as the desk sees it, without its text."""

    id: UUID
    recipient: str
    subject: str
    state: str
    attempts: int
    last_error: str | None
    created_at: datetime
    sent_by: str | None


_COLUMNS: Final = [col(getattr(Mail, name)) for name in MailLine.__dataclass_fields__]


def send(
    session: ScopedSession,
    to: str,
    template: str,
    values: Mapping[str, str],
    *,
    about: str | None = None,
    by: str | None = None,
) -> UUID:
    """Queue an e-mail; it is sent if, and only if, the caller's transaction commits. Returns its id.

    `about` is the record whose page lists it, `by` the actor who asked for it. InvalidInput for an address that cannot
    be one; KeyError for an unknown template or a missing value.
    """
    if not 3 <= len(to) <= MAX_LENGTH or "@" not in to or any(each in to for each in "\r\n\0 ,;<>"):
        raise InvalidInput.for_field("to", "must be one e-mail address")
    if not takes_mail(to):
        raise InvalidInput.for_field("to", "must be an address that takes e-mail: nobody has given one")
    subject, body = get_template(session, template).render(values)
    row = Mail(id=ids.new(), recipient=to, template=template, subject=subject[:200], body=body, about=about, sent_by=by)
    session.insert(row)
    return row.id


def has_due(session: ScopedSession) -> bool:
    """Return True if an e-mail is due now; takes no locks."""
    return (
        session.execute(sa.select(sa.literal(1)).select_from(Mail).where(*outbox.is_due(Mail)).limit(1)).first()
        is not None
    )


def lease_due(session: ScopedSession, limit: int) -> list[MailJob]:
    """Lease due e-mails, the longest due first."""
    query = sa.select(Mail).where(*outbox.is_due(Mail)).order_by(col(Mail.next_try_at)).limit(limit)
    rows = list(session.execute(query.with_for_update(skip_locked=True)).scalars())
    for row in rows:
        outbox.lease(row)
    session.flush()
    return [build_row(MailJob, row, attempt=row.attempts) for row in rows]


def record_result(session: ScopedSession, job: MailJob, error: str | None, *, is_final: bool = False) -> None:
    """Record that an e-mail was sent, or why not; with `is_final` it is not tried again."""
    row: Mail = session.execute(sa.select(Mail).where(col(Mail.id) == job.id).with_for_update()).scalar_one()
    if not outbox.holds(row, job.attempt):
        return
    if error is None:
        outbox.end(row, "sent")
    elif is_final:
        outbox.end(row, "dead", error)
    else:
        outbox.fail(row, BACKOFF, error)
    session.flush()


def find_recent(session: ScopedSession, to: str, template: str, about: str, within: timedelta) -> UUID | None:
    """Return the same e-mail about the same record if it was queued a moment ago: a second click sends no second."""
    query = sa.select(col(Mail.id)).where(
        col(Mail.about) == about,
        col(Mail.template) == template,
        col(Mail.recipient) == to,
        col(Mail.created_at) >= clock.now() - within,
    )
    return session.execute(query.limit(1)).scalar_one_or_none()


def list_about(session: ScopedSession, about: str) -> Sequence[MailLine]:
    """Return every e-mail about a record, the newest first."""
    query = sa.select(*_COLUMNS).where(col(Mail.about) == about).order_by(col(Mail.created_at).desc(), col(Mail.id))
    return [MailLine(**row._mapping) for row in session.execute(query)]


def list_latest(session: ScopedSession, limit: int = 20) -> Sequence[MailLine]:
    """Return the newest e-mails."""
    rows = session.execute(sa.select(*_COLUMNS).order_by(col(Mail.created_at).desc()).limit(limit))
    return [MailLine(**row._mapping) for row in rows]
