"""Letters on a claim, made of texts that an admin edits and kept in its file (contract C17)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import InvalidInput, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.review.fraud_flags import format_day
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow.changes import ClaimChange
from core.services.files import files, printing
from core.services.files.files import StoredFile
from core.services.mail import mail
from core.services.people.staff import Person, join_names
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.schema.claims import LETTER_WAYS
from core.store.schema.tables import Claim, ClaimEvent, ClaimLetterSent, Policy, Provider, UploadedFile

WAYS: Final = LETTER_WAYS


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of letter: its title, and what a claim lacks for it, None when it can be written."""

    title: str
    find_missing: Callable[[Claim], str | None]


def _need(status: ClaimStatus, words: str) -> Callable[[Claim], str | None]:
    return lambda claim: None if claim.claim_status == status else words


def _need_papers(claim: Claim) -> str | None:
    is_owed = claim.claim_status not in DECIDED and submitted.list_missing_documents(claim)
    return None if is_owed else "papers that are owed"


def _need_payment(claim: Claim) -> str | None:
    return None if claim.payment_reference else "a payment"


KINDS: Final[Mapping[str, Kind]] = {
    "acknowledgement": Kind("Acknowledgement", lambda _: None),
    "documents": Kind("Request for documents", _need_papers),
    "offer": Kind("Offer with discharge form", _need(ClaimStatus.OFFER_SENT, "an offer that was sent")),
    "decline": Kind("Decline", _need(ClaimStatus.DECLINED, "a claim that is declined")),
    "payment": Kind("Payment advice", _need_payment),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Composed:
    """A letter that is written and not kept yet."""

    kind: str
    subject: str
    body: str
    content: bytes

    @property
    def field(self) -> str:
        """The field under which the file is kept."""
        return f"{submitted.LETTER}{self.kind}"


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptLetter:
    """A letter in the file of a claim."""

    field: str
    code: str
    at: datetime
    way: str | None = None
    sent_at: datetime | None = None
    sent_by: str | None = None

    @property
    def kind(self) -> str:
        """The kind of letter, a key of `KINDS`."""
        return self.field.removeprefix(submitted.LETTER)

    @property
    def title(self) -> str:
        """The title of its kind."""
        return KINDS[self.kind].title

    @property
    def is_sent(self) -> bool:
        """False while it is to be sent."""
        return self.sent_at is not None


def list_possible(claim: Claim) -> Mapping[str, str | None]:
    """Return every kind of letter with what the claim lacks for it, None where it can be written."""
    return {name: kind.find_missing(claim) for name, kind in KINDS.items()}


def list_letters(session: ScopedSession, claim_id: UUID) -> list[KeptLetter]:
    """List the letters of a claim, newest first."""
    query: AnySelect = (
        sa.select(
            *(col(UploadedFile.field), col(UploadedFile.code), col(UploadedFile.created_at).label("at")),
            *(col(ClaimLetterSent.way), col(ClaimLetterSent.created_at).label("sent_at")),
        )
        .outerjoin(ClaimLetterSent, col(ClaimLetterSent.code) == col(UploadedFile.code))
        .where(col(UploadedFile.claim_id) == claim_id, col(UploadedFile.field).like(f"{submitted.LETTER}%"))
        .order_by(col(UploadedFile.created_at).desc(), col(UploadedFile.code))
    )
    return [KeptLetter(**row._mapping) for row in session.execute(join_names(query, sent_by=ClaimLetterSent.staff_id))]


def compose(session: ScopedSession, claim_id: UUID, kind: str, *, person: Person) -> Composed:
    """Write a letter of a claim as it stands; StateForbids says what it lacks, InvalidInput names an unknown kind."""
    claim_changes.require_claims_role(person)
    if kind not in KINDS:
        raise InvalidInput.for_field("letter", f"must be one of {', '.join(KINDS)}")
    claim = claim_changes.get_for_update(session, claim_id)
    _require(claim, kind)
    subject, body = mail.get_template(session, f"claim {kind}").render(_build_values(session, claim))
    owner = f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}"
    content = printing.render_letter(subject=subject, body=body, addressee=owner, at=clock.now(), is_live=claim.is_live)
    return Composed(kind=kind, subject=subject, body=body, content=content)


def keep_letter(
    session: ScopedSession, claim_id: UUID, file: StoredFile, *, kind: str, person: Person, version: int
) -> ClaimChange:
    """Keep a composed letter with its claim; that of an offer is its offer form from then on.

    StaleVersion when the claim was changed since it was composed.
    """
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    _require(claim, kind)
    before = claim_changes.get_audited_facts(claim)
    address = files.record(session, file, Owner.of(claim), actor=person.actor, claim_id=claim.id)["file_url"]
    if kind == "offer":
        claim.offer_form_url = address
    facts = {"letter": KINDS[kind].title}
    return claim_changes.save_change(session, claim, before, person=person, action="claim letter written", facts=facts)


def mark_sent(session: ScopedSession, claim_id: UUID, code: str, *, way: str, person: Person) -> None:
    """Note that a letter was sent, and how; InvalidInput for another way, StateForbids for one that was sent."""
    claim_changes.require_claims_role(person)
    if way not in LETTER_WAYS:
        raise InvalidInput.for_field("way", f"must be one of {', '.join(LETTER_WAYS)}")
    claim = claim_changes.get_for_update(session, claim_id)
    _note_sent(session, claim, _get_unsent(session, claim, code), way=way, person=person)


def send_by_mail(session: ScopedSession, claim_id: UUID, code: str, *, person: Person) -> None:
    """Queue the text of a letter as an e-mail to the claimant and note it as sent.

    The text is made of the claim as it is now: StateForbids where it does not stand as the letter says any more, where
    a newer letter of its kind was written, where the claimant gave no e-mail, and in test mode.
    """
    claim_changes.require_claims_role(person)
    claim = claim_changes.get_for_update(session, claim_id)
    letter = _get_unsent(session, claim, code)
    if not claim.is_live:
        raise StateForbids("A letter of test mode goes to nobody")
    if not claim.claim_owner_email:
        raise StateForbids("The claimant gave no e-mail: print the letter, and mark how it was sent")
    _require(claim, letter.kind)
    newest = next(each for each in list_letters(session, claim.id) if each.kind == letter.kind)
    if newest.code != code:
        raise StateForbids("A newer letter of this kind was written: send that one")
    values, about = _build_values(session, claim), f"claim:{claim.id}"
    mail.send(session, claim.claim_owner_email, f"claim {letter.kind}", values, about=about, by=person.actor)
    _note_sent(session, claim, letter, way=LETTER_WAYS[0], person=person)


def _get_unsent(session: ScopedSession, claim: Claim, code: str) -> KeptLetter:
    letter = next((each for each in list_letters(session, claim.id) if each.code == code), None)
    if letter is None:
        raise NotFound("Letter not found")
    if letter.is_sent:
        raise StateForbids("This letter was sent already")
    return letter


def _note_sent(session: ScopedSession, claim: Claim, letter: KeptLetter, *, way: str, person: Person) -> None:
    session.insert(
        ClaimLetterSent(
            distributor_id=claim.distributor_id,
            is_live=claim.is_live,
            code=letter.code,
            claim_id=claim.id,
            way=way,
            staff_id=person.id,
            created_at=clock.now(),
        )
    )
    audit.note(session, "claim", claim.id, "claim letter sent", actor=person.actor, letter=letter.title, way=way)


def _require(claim: Claim, kind: str) -> None:
    if missing := KINDS[kind].find_missing(claim):
        raise StateForbids(f"{KINDS[kind].title} needs {missing}")


def _build_values(session: ScopedSession, claim: Claim) -> dict[str, str]:
    """Return every value that a letter may use, in words."""
    policy, provider = session.get_one(Policy, claim.policy_id), session.get_one(Provider, claim.provider_id)
    payee = claim_payments.list_payees(session, claim)[-1]
    paid = [each for each in claim_payments.of_claim(session, claim) if each.amount_minor > 0]
    papers = ", ".join(name.replace("_", " ") for name in submitted.list_missing_documents(claim))
    return {
        "claimant": f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}",
        "insurer": provider.company_name,
        "reference": submitted.format_reference(claim.id),
        "lodged": format_day(clock.to_lagos_day(claim.created_at)),
        "incident": str(submitted.get_meta(claim).get("incident_type") or "the loss").lower(),
        "policy_number": policy.policy_number or "that is being issued",
        "papers": papers or "none",
        "offer": money.format_naira(claim.offer_amount_minor),
        "payee": f"{payee.name}, account ending in {payee.hint}" if payee.hint else payee.name,
        "reason": DECLINED_BECAUSE.get(claim.decline_reason, claim.decline_reason),
        "note": _close(_get_note(session, claim)),
        "paid": money.format_naira(paid[-1].amount_minor if paid else 0),
        "payment_reference": claim.payment_reference or "",
        "value_date": format_day(paid[-1].value_on) if paid and paid[-1].value_on else "the day of this letter",
    }


# The reasons of a decline (contract C6) as they are said to the claimant.
DECLINED_BECAUSE: Final[Mapping[str, str]] = {
    "not covered": "the policy does not cover this loss",
    "outside period": "the loss lies outside the period of the cover",
    "premium unpaid": "the premium was not paid",
    "waiting period": "the loss lies within the waiting period",
    "exclusion": "the policy excludes this loss",
    "documents missing": "papers that we asked for are missing",
    "duplicate": "the loss is claimed for already",
    "misrepresentation": "what was declared to us was not so",
    "below excess": "the loss is not larger than the excess",
    "limit exhausted": "the limit of the policy is used up",
    "claimant withdrew": "the claim was withdrawn",
    "other": "as follows",
}


def _close(note: str) -> str:
    """Return a note as a sentence that ends."""
    return note if not note or note.rstrip()[-1:] in ".!?" else f"{note.rstrip()}."


def _get_note(session: ScopedSession, claim: Claim) -> str:
    """Return what was written at the last move; of a decline it is the wording."""
    query = sa.select(col(ClaimEvent.note)).where(col(ClaimEvent.claim_id) == claim.id)
    latest = query.order_by(col(ClaimEvent.created_at).desc(), col(ClaimEvent.id).desc()).limit(1)
    return session.execute(latest).scalar_one_or_none() or ""
