"""Transitions of a claim that a person may make now, and the needs that each one still lacks (contract C5)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from core import money
from core.services.claims.intake import requirements, submitted
from core.services.claims.workflow import chain as claim_chain
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow.chain import Link
from core.services.claims.workflow.judgement import Judgement
from core.services.claims.workflow.payments import RelatedApprovals
from core.services.people.staff import Person
from core.states import claims as claim_states
from core.states.claims import CLAIMS_ROLES, ClaimTransition, Effect, Need
from core.store.schema.tables import Claim


def list_allowed(claim: Claim, person: Person, judgement: Judgement | None = None) -> tuple[ClaimTransition, ...]:
    """Every move from where a claim stands, each with what is missing for this person; none for who works no claims.

    Without `judgement` nothing is held against what the claim can come to.
    """
    if not person.has_role(*CLAIMS_ROLES):
        return ()
    return tuple(
        replace(move, missing=list_unmet_needs(move, claim, person, judgement))
        for move in claim_states.TRANSITIONS.list_from(claim.claim_status)
    )


def list_unmet_needs(
    transition: ClaimTransition, claim: Claim, person: Person, judgement: Judgement | None
) -> tuple[str, ...]:
    """List in words the needs of a transition that neither claim nor person meets and no input could."""
    unmet = (describe_unmet_need(need, transition, claim, person, judgement) for need in transition.needs)
    return tuple(words for words in unmet if words)


def describe_unmet_need(
    need: Need, transition: ClaimTransition, claim: Claim, person: Person, judgement: Judgement | None
) -> str | None:
    """One need that is not met, in words; none when it is, or when only typing can meet it."""
    if need is claim_states.DOCUMENTS and (absent := submitted.list_missing_documents(claim)):
        return f"{need.words}: {', '.join(name.replace('_', ' ') for name in absent)}"
    if need is claim_states.AUTHORITY and Effect.PAYS in transition.effects:
        return describe_limit_exceeded(person, claim.offer_amount_minor, judgement.related if judgement else None)
    return (
        _describe_against(need, claim, person, judgement)
        or _describe_part(need, person, judgement)
        or _describe_unmet(need, claim, person)
    )


def _describe_against(need: Need, claim: Claim, person: Person, judgement: Judgement | None) -> str | None:
    """Describe what the limits, checks and duplicates have against a need."""
    if judgement is None:
        return None
    limits = judgement.limits
    left = claim.offer_amount_minor - limits.offer_paid_minor
    if need is claim_states.STILL_OWED and not 0 < left <= claim_offers.get_max_offer(claim, limits):
        return f"{need.words}, {claim_offers.describe_max_offer(claim, limits)}"
    if need is claim_states.NOT_PAID_ELSEWHERE and judgement.new_duplicates:
        return f"{need.words}: {'; '.join(each.text for each in judgement.new_duplicates)}"
    if need is claim_states.APPROVAL and judgement.approval_fault:
        return f"a new approval: {judgement.approval_fault}"
    return _describe_checks(need, person, judgement)


def _describe_checks(need: Need, person: Person, judgement: Judgement) -> str | None:
    if need is claim_states.CHECKS_HOLD and judgement.broken_checks:
        return f"{need.words}; failed now: {', '.join(check.question for check in judgement.broken_checks)}"
    if need is claim_states.CHECK_AUTHORITY and judgement.failed_checks and not person.has_role("supervisor"):
        return f"a supervisor, as a check is failed: {', '.join(check.question for check in judgement.failed_checks)}"
    return None


def _describe_part(need: Need, person: Person, judgement: Judgement | None) -> str | None:
    """Describe which part of the claim forbids this person another one."""
    describe = _BY_CHAIN.get(need)
    if judgement is None:
        return None
    if need is claim_states.NOT_OWN and judgement.parties and judgement.parties.is_own(person):
        return "somebody else: the customer, claimant or payee of this claim has your e-mail, phone or account"
    return None if describe is None else describe(judgement.links, person)


_BY_CHAIN: Final[Mapping[Need, Callable[[Sequence[Link], Person], str | None]]] = {
    claim_states.OTHER_APPROVER: claim_chain.describe_approver,
    claim_states.OTHER_PAYER: claim_chain.describe_payer,
    claim_states.OTHER_THAN_DECLINER: claim_chain.describe_appeal,
}


def _describe_unmet(need: Need, claim: Claim, person: Person) -> str | None:
    is_unmet = (
        (need is claim_states.APPROVAL and claim.approved_by is None)
        or (need is claim_states.SUPERVISOR and not person.has_role("supervisor"))
        or (need is claim_states.SECOND_PERSON and claim.approved_by in {None, person.id})
        or (need is claim_states.OWN_PASSWORD and not person.may_approve)
    )
    return need.words if is_unmet else None


def is_met_by_documents(need: Need, claim: Claim) -> bool:
    """Return True where a document of the claim stands in for an input: the signed form for the note of a call."""
    return need is claim_states.EVIDENCE and bool(submitted.get_meta(claim).get(requirements.SIGNED_DISCHARGE))


def describe_limit_exceeded(person: Person, minor: int, related: RelatedApprovals | None = None) -> str | None:
    """Describe why an amount in kobo exceeds this person's authority, with what was approved besides; None if not."""
    limit, besides = person.claim_limit_minor, related.amount_minor if related else 0
    if limit is None or minor + besides <= limit or person.has_role("supervisor"):
        return None
    added = f" with the {money.format_naira(besides)} approved {related.text}" if related and besides else ""
    return f"a supervisor: {money.format_naira(minor)}{added} is above the limit of {money.format_naira(limit)}"


def describe_above_claimed(claim: Claim, person: Person, minor: int) -> str | None:
    """Describe why an estimate in kobo takes a supervisor: it corrects what was claimed (contract K6)."""
    claimed = claim_offers.get_amount_claimed(claim)
    if claimed is None or minor <= money.to_minor(claimed) or person.has_role("supervisor"):
        return None
    return (
        f"a supervisor: {money.format_naira(minor)} is above the {money.format_naira(money.to_minor(claimed))} claimed"
    )


def describe_backdated(person: Person, minor: int, most_minor: int | None) -> str | None:
    """Describe why an amount in kobo is too much for a loss from before the sale; an admin decides above the limit."""
    if most_minor is None or minor <= most_minor or "admin" in person.roles:
        return None
    most = money.format_naira(most_minor)
    return f"an admin: the cover was bought after the loss, of which a supervisor approves up to {most}"
