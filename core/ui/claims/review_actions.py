"""The actions on a claim from its review: calls to the services, each carried out once (contract C5, C7)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType
from typing import Any
from uuid import UUID

from core import seal
from core.services.claims.intake import attaching as claim_attaching
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import actions as claim_actions
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow import referrals as claim_referrals
from core.services.claims.workflow import reserves as claim_reserves
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import Scope, ScopedSession, reading, transact
from core.ui.kit import attempts


@dataclass(frozen=True, kw_only=True, slots=True)
class Hand:
    """One attempt to change a claim: the claim, the person, and the version that they saw."""

    claim_id: UUID
    distributor_id: UUID
    is_live: bool
    person: Person
    version: int

    @property
    def scope(self) -> Scope:
        """Return the scope of the claim's distributor in its mode."""
        return Scope.of(self.distributor_id, is_live=self.is_live)


def hand(review: ClaimReview, person: Person) -> Hand:
    """Return an attempt by this person on the version on the screen."""
    return Hand(
        claim_id=review.id,
        distributor_id=review.distributor_id,
        is_live=review.is_live,
        person=person,
        version=review.version,
    )


def open_review(claim_id: UUID, *, person: Person, is_live: bool) -> ClaimReview:
    """Return the review of a claim and set a Pending one to Viewed; NotFound if it is unknown in this mode."""
    scope = Scope.staff(is_live=is_live)
    found = _review(scope, claim_id, person)
    if found.status != ClaimStatus.PENDING:
        return found
    transact(scope, lambda session: claim_actions.open_claim(session, claim_id, person=person))
    return _review(scope, claim_id, person)


def _review(scope: Scope, claim_id: UUID, person: Person) -> ClaimReview:
    with reading(scope) as session:
        return claim_review.get_review(session, claim_id, person=person)


def move(
    hand: Hand,
    *,
    to: str,
    reasons: Mapping[str, str] = MappingProxyType({}),
    payment: Mapping[str, Any] = MappingProxyType({}),
    **said: str | None,
) -> str:
    """Move the claim to a state with the typed `amount`, `reason`, `note`, `payment_reference`.

    `payment` is the method and value date of a payment.
    """

    def work(session: ScopedSession) -> str:
        given: dict[str, Any] = {name: text or None for name, text in said.items()}
        change = claim_actions.move_claim(
            session,
            hand.claim_id,
            to=to,
            person=hand.person,
            version=hand.version,
            reasons=reasons,
            payment=payment,
            **given,
        )
        return f"Status changed to {change.claim['claim_status']}."

    told = (*said.items(), *reasons.items(), *payment.items())
    return once(hand, work, "move", to, *(f"{name} {text}" for name, text in told))


def approve_anew(hand: Hand, *, reasons: Mapping[str, str]) -> str:
    """Approve the claim again, as it is now."""

    def work(session: ScopedSession) -> str:
        claim_actions.approve_anew(session, hand.claim_id, reasons=reasons, person=hand.person, version=hand.version)
        return "The claim is approved as it is now."

    return once(hand, work, "approve again", *(f"{name} {text}" for name, text in reasons.items()))


def link_second(hand: Hand, *, first: str) -> str:
    """Close the claim as the second submission of another one."""

    def work(session: ScopedSession) -> str:
        claim_actions.link_second_submission(
            session, hand.claim_id, first=first, person=hand.person, version=hand.version
        )
        return f"The claim is closed as the second submission of {first}."

    return once(hand, work, "second submission", first)


def assign(hand: Hand, *, to: UUID | None, name: str) -> str:
    """Assign the claim to an officer, or to nobody."""

    def work(session: ScopedSession) -> str:
        claim_actions.assign_claim(session, hand.claim_id, to=to, person=hand.person, version=hand.version)
        return f"Assigned to {name}." if to else "The claim is unassigned."

    return once(hand, work, "assign", str(to))


def date_incident(hand: Hand, *, on: date | None, reason: str) -> str:
    """Set the date of the incident, with a reason where another one is known."""

    def work(session: ScopedSession) -> str:
        day: Any = on
        claim_corrections.set_incident_date(
            session, hand.claim_id, on=day, person=hand.person, version=hand.version, reason=reason or None
        )
        return "The day of the incident is kept, and the checks are made with it."

    return once(hand, work, "incident date", str(on), reason)


def deduct(hand: Hand, *, excess: str, betterment: str) -> str:
    """Set the deductions made before an offer: excess and betterment."""

    def work(session: ScopedSession) -> str:
        given: dict[str, Any] = {"excess": excess, "betterment": betterment}
        claim_actions.set_deductions(session, hand.claim_id, person=hand.person, version=hand.version, **given)
        return "The deductions are kept."

    return once(hand, work, "deductions", excess, betterment)


def reserve(hand: Hand, *, amount: str, reason: str) -> str:
    """Set the reserve: what is expected to be paid still."""

    def work(session: ScopedSession) -> str:
        claim_reserves.set_reserve(
            session, hand.claim_id, amount=amount, reason=reason, person=hand.person, version=hand.version
        )
        return "The reserve is changed."

    return once(hand, work, "reserve", amount, reason)


def refer(hand: Hand, *, to: str, amount: str, note: str) -> str:
    """Refer a prepared decision to the supervisors."""

    def work(session: ScopedSession) -> str:
        claim_referrals.refer_claim(
            session, hand.claim_id, to=to, amount=amount or None, note=note, person=hand.person, version=hand.version
        )
        return "The claim is referred: supervisors find it under Referred."

    return once(hand, work, "refer", to, amount, note)


def attach(hand: Hand, *, name: str, file_name: str, content: bytes) -> str:
    """Add a document that arrived later; it is validated before the transaction that stores it."""
    arriving = ReceivedFile(field=name, file_name=file_name, content=content)
    with files.store_files([arriving]) as (kept,):

        def work(session: ScopedSession) -> str:
            claim_attaching.attach_document(session, hand.claim_id, kept, person=hand.person, version=hand.version)
            return "The document is kept with the claim."

        return once(hand, work, "document", name, arriving.sha256)


def comment(hand: Hand, *, text: str, for_claimant: bool, token: str) -> str:
    """Add a comment to the claim at any version; once per token of the typed text."""

    def work(session: ScopedSession) -> str:
        claim_actions.add_comment(session, hand.claim_id, text=text, person=hand.person, for_claimant=for_claimant)
        return "The comment can be read by the claimant." if for_claimant else "The note is kept, for the desk alone."

    return attempts.run_once(hand.scope, token, work, str(hand.claim_id), text, str(for_claimant))


def ask_question(hand: Hand, *, text: str, token: str) -> str:
    """Ask the claimant a question, which stops the clock."""

    def work(session: ScopedSession) -> str:
        claim_questions.ask_claimant(session, hand.claim_id, text=text, person=hand.person)
        return "The claimant is asked; the clock stands still until the answer is in."

    return attempts.run_once(hand.scope, token, work, str(hand.claim_id), text)


def note_answer(hand: Hand, *, question_id: UUID, text: str = "") -> str:
    """Record that the requested answer has arrived, and what it says."""

    def work(session: ScopedSession) -> str:
        claim_questions.record_answer(session, hand.claim_id, person=hand.person, text=text or None)
        return "The answer is in; the clock runs again."

    return attempts.run_once(hand.scope, f"answer {question_id}", work, str(question_id))


def once(hand: Hand, work: Callable[[ScopedSession], str], *given: str) -> str:
    """Run the work once per person and claim version: a version changes only once, so no other token is needed."""
    what = seal.keyed_hash("claim change", "\n".join((str(hand.person.id), str(hand.claim_id), *given)))
    # The desk sees every distributor: a duplicate may have come through another one.
    return attempts.run_once(
        hand.scope, f"claim {hand.version} {what}", work, *given, within=Scope.staff(is_live=hand.is_live)
    )
