"""Offers to claimants, with the calculation steps (contract C8)."""

from dataclasses import replace
from decimal import Decimal
from typing import Final

from core import money
from core.covers.cover import Price, Step
from core.services.claims.workflow.limits import Limits
from core.states.claims import DECIDED, ClaimStatus
from core.store.schema.tables import Claim

# Where what comes off an offer does not change any more: the claimant has agreed to it, or it is paid.
FIXED: Final = DECIDED | {ClaimStatus.OFFER_ACCEPTED}
_STANDING: Final = FIXED | {ClaimStatus.OFFER_SENT}
# Where an offer was made of the amount that is approved now.
_OFFERED: Final = _STANDING | {ClaimStatus.OFFER_REJECTED}


def compute_offer(
    *,
    approved: Decimal,
    owed: Decimal | None,
    insured: Decimal | None = None,
    excess: Decimal = money.ZERO,
    betterment: Decimal = money.ZERO,
    given_back: Decimal = money.ZERO,
    paid: Decimal = money.ZERO,
) -> Price:
    """The lowest of approved, owed and insured, less what comes off it, in naira and never below zero.

    Excess, betterment, premium that went back and what was paid come off. What is not known (None) does not bound it.
    """
    steps = [Step("Approved amount", "as approved", approved)]
    amount = approved
    if owed is not None:
        steps.append(Step("Owed", "what is still owed", owed))
    if insured is not None and insured < min(approved, approved if owed is None else owed):
        steps.append(Step("Insured", "what is insured", insured))
    if len(steps) > 1:
        amount = min(step.amount for step in steps)
        lower = " and ".join(f"{step.amount:,.2f}" for step in steps)
        steps.append(Step("Lower of both" if len(steps) == 2 else "Lowest of all", f"the lower of {lower}", amount))
    less = (excess, betterment, given_back, paid)
    for label, deduction in zip(("excess", "betterment", "premium that went back", "what was paid"), less, strict=True):
        if deduction:
            steps.append(Step(f"Less {label}", f"{amount:,.2f} - {deduction:,.2f}", amount - deduction))
            amount -= deduction
    total = max(amount, money.ZERO)
    steps.append(Step("Offer", "never below zero" if amount < 0 else "what remains", total))
    return Price(total=total, steps=steps)


def get_max_offer(claim: Claim, limits: Limits) -> int:
    """The most that may be offered on a claim as it stands, in kobo: what the rule gives."""
    return money.to_minor(compute_claim_offer(claim, limits).total)


def describe_max_offer(claim: Claim, limits: Limits) -> str:
    """The most that may be offered, with what makes it so: "₦12,499.75, what remains after excess and betterment"."""
    limit = get_max_offer(claim, limits)
    if limits.paid_minor:
        why = f"what remains after the {money.format_naira(limits.paid_minor)} that was paid"
    elif limits.given_back_minor:
        why = f"what remains after the {money.format_naira(limits.given_back_minor)} of premium that went back"
    elif claim.excess_deduction_amount_minor or claim.betterment_deduction_amount_minor:
        why = "what remains after excess and betterment"
    elif limit < claim.approved_amount_minor:
        why = limits.source
    else:
        return f"the approved amount, {money.format_naira(limit)}"
    return f"{money.format_naira(limit)}, {why}"


def compute_claim_offer(claim: Claim, limits: Limits) -> Price:
    """The offer on a claim as it stands."""
    return of_amounts(
        limits,
        approved=money.to_naira(claim.approved_amount_minor),
        excess_minor=claim.excess_deduction_amount_minor,
        betterment_minor=claim.betterment_deduction_amount_minor,
    )


def compute_standing_offer(claim: Claim, limits: Limits) -> Price:
    """Like `compute_claim_offer`, but what was paid of an offer that stands does not come off that offer."""
    if claim.claim_status in _STANDING:
        limits = replace(limits, paid_minor=limits.paid_minor - limits.offer_paid_minor)
    return compute_claim_offer(claim, limits)


def list_offer_steps(rule: Price, *, status: str, offer_minor: int, note: str | None) -> list[Step]:
    """The steps of the rule and, where the offer that was made is another amount, that offer with the note of why."""
    offer, last = money.to_naira(offer_minor), rule.steps[-1]
    if status not in _OFFERED or not offer_minor or offer == rule.total:
        return list(rule.steps)
    return [
        *rule.steps[:-1],
        replace(last, label="At most"),
        Step("Offer", " ".join((note or "as it was sent").split()), offer),
    ]


def of_amounts(limits: Limits, *, approved: Decimal, excess_minor: int, betterment_minor: int) -> Price:
    """The offer that an approved amount in naira leads to."""
    return compute_offer(
        approved=approved,
        owed=None if limits.owed_minor is None else money.to_naira(limits.owed_minor),
        insured=None if limits.insured_minor is None else money.to_naira(limits.insured_minor),
        excess=money.to_naira(excess_minor),
        betterment=money.to_naira(betterment_minor),
        given_back=money.to_naira(limits.given_back_minor),
        paid=money.to_naira(limits.paid_minor),
    )
