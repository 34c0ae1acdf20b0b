"""Claim status transitions: one frozen table, and the needs that each one still lacks (contract C5)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from core import money
from core.services.claims.intake import requirements
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow.offers import Limits
from core.services.people.staff import Person
from core.store.schema.tables import Claim

CLAIMS_ROLES: Final = ("claims", "supervisor")


@dataclass(frozen=True, slots=True)
class Need:
    """One need of a transition, in words; `field` is the form field that meets it, None when no input can."""

    words: str
    field: str | None = None


ESTIMATE: Final = Need("an estimate above 0", "amount")
DOCUMENTS: Final = Need("the required documents")
APPROVED_AMOUNT: Final = Need("an approved amount above 0 and not above what is owed or insured", "amount")
APPROVAL: Final = Need("an earlier approval")
OFFER: Final = Need("an offer above 0 and not above what the rule gives", "amount")
STILL_OWED: Final = Need("an offer that is not above what the rule still gives")
REASON: Final = Need("a reason code", "reason")
NOTE: Final = Need("a note", "note")
REFERENCE: Final = Need("a payment reference that no other payment of the insurer has", "payment_reference")
SECOND_PERSON: Final = Need("an approver other than the payer")
SUPERVISOR: Final = Need("a supervisor")
AUTHORITY: Final = Need("a supervisor, if the amount is above the officer's limit")
OWN_PASSWORD: Final = Need("a password that nobody else has reset within 24 hours")


@dataclass(frozen=True, slots=True)
class Transition:
    """One transition between two statuses: its needs, and in words what the claim or the person lacks."""

    start: str
    to: str
    needs: tuple[Need, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def inputs_needed(self) -> tuple[Need, ...]:
        """The needs that are met by an input; a note is always accepted."""
        return tuple(need for need in self.needs if need.field)


_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    "Pending": ("Viewed", "Reviewing", "Inspection submitted", "Approved", "Declined"),
    "Viewed": ("Reviewing", "Inspection submitted", "Repair estimate submitted", "Approved", "Declined"),
    "Reviewing": ("Inspection submitted", "Repair estimate submitted", "Approved", "Declined"),
    "Inspection submitted": ("Reviewing", "Repair estimate submitted", "Approved", "Declined"),
    "Repair estimate submitted": ("Reviewing", "Approved", "Offer sent", "Declined"),
    "Approved": ("Offer sent", "Repair estimate submitted", "Reviewing"),
    "Offer sent": ("Offer accepted", "Offer rejected", "Reviewing"),
    "Offer rejected": ("Offer sent", "Reviewing", "Declined"),
    "Offer accepted": ("Paid", "Reviewing"),
    "Paid": ("Settled",),
    "Declined": ("Reviewing",),
    "Settled": ("Reviewing",),
}
_NEEDS_BY_TARGET: Final[Mapping[str, tuple[Need, ...]]] = {
    "Repair estimate submitted": (ESTIMATE, AUTHORITY),
    "Approved": (DOCUMENTS, APPROVED_AMOUNT, AUTHORITY, OWN_PASSWORD),
    "Offer sent": (APPROVAL, OFFER, AUTHORITY),
    "Offer accepted": (STILL_OWED,),
    "Declined": (REASON, NOTE),
    "Paid": (STILL_OWED, REFERENCE, SECOND_PERSON, AUTHORITY, OWN_PASSWORD),
}
_NEEDS_BY_PAIR: Final[Mapping[tuple[str, str], tuple[Need, ...]]] = {
    ("Offer accepted", "Reviewing"): (SUPERVISOR, OWN_PASSWORD),
    ("Declined", "Reviewing"): (SUPERVISOR, OWN_PASSWORD),
    ("Settled", "Reviewing"): (SUPERVISOR, OWN_PASSWORD),
}
TRANSITIONS: Final = tuple(
    Transition(start, to, _NEEDS_BY_TARGET.get(to, ()) + _NEEDS_BY_PAIR.get((start, to), ()))
    for start, ways in _TARGETS.items()
    for to in ways
)
_TRANSITION_BY_PAIR: Final = {(move.start, move.to): move for move in TRANSITIONS}


def get_transition(start: str, to: str) -> Transition | None:
    """Return the transition between two statuses, None when there is none."""
    return _TRANSITION_BY_PAIR.get((start, to))


def list_targets(start: str) -> tuple[str, ...]:
    """Return the statuses that a status may change to."""
    return _TARGETS[start]


def list_allowed(claim: Claim, person: Person, limits: Limits | None = None) -> tuple[Transition, ...]:
    """Every move from where a claim stands, each with what is missing for this person; none for who works no claims.

    Without `limits` nothing is held against what the claim can come to.
    """
    if not person.has_role(*CLAIMS_ROLES):
        return ()
    transitions_from = (_TRANSITION_BY_PAIR[claim.claim_status, to] for to in _TARGETS[claim.claim_status])
    return tuple(replace(move, missing=list_unmet_needs(move, claim, person, limits)) for move in transitions_from)


def list_unmet_needs(transition: Transition, claim: Claim, person: Person, limits: Limits | None) -> tuple[str, ...]:
    """What a move needs and neither the claim nor the person has, in words; nothing that could be typed."""
    unmet = (describe_unmet_need(need, transition, claim, person, limits) for need in transition.needs)
    return tuple(words for words in unmet if words)


def describe_unmet_need(
    need: Need, transition: Transition, claim: Claim, person: Person, limits: Limits | None
) -> str | None:
    """One need that is not met, in words; none when it is, or when only typing can meet it."""
    if need is DOCUMENTS and (absent := list_missing_documents(claim)):
        return f"{need.words}: {', '.join(name.replace('_', ' ') for name in absent)}"
    if need is AUTHORITY and transition.to == "Paid":
        return describe_limit_exceeded(person, claim.offer_amount_minor)
    if need is STILL_OWED and limits and claim.offer_amount_minor > claim_offers.get_max_offer(claim, limits):
        return f"{need.words}, {claim_offers.describe_max_offer(claim, limits)}"
    is_unmet = (
        (need is APPROVAL and claim.approved_by is None)
        or (need is SUPERVISOR and not person.has_role("supervisor"))
        or (need is SECOND_PERSON and claim.approved_by in {None, person.id})
        or (need is OWN_PASSWORD and not person.may_approve)
    )
    return need.words if is_unmet else None


def list_required_documents(claim: Claim) -> tuple[str, ...]:
    """Return the documents that a credit life claim requires (contract C2)."""
    meta = claim.credit_life_claim_meta
    if meta is None:
        return ()
    return requirements.list_required_documents(meta["incident_type"], accidental=meta["accidental"] == "true")


def list_missing_documents(claim: Claim) -> tuple[str, ...]:
    """Return the required documents that a claim lacks."""
    meta = claim.credit_life_claim_meta or {}
    return tuple(name for name in list_required_documents(claim) if not meta.get(name))


def describe_limit_exceeded(person: Person, minor: int) -> str | None:
    """Describe why an amount in kobo exceeds this person's authority; None when it does not."""
    limit = person.claim_limit_minor
    if limit is None or minor <= limit or person.has_role("supervisor"):
        return None
    return f"a supervisor: {money.format_naira(minor)} is above the limit of {money.format_naira(limit)}"
