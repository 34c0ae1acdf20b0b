"""What a claimant is offered, with the sum that leads to it (contract C8)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from core import money
from core.covers import request
from core.covers.cover import Price, Step
from core.errors import InvalidInput
from core.services.claims.claim_inputs import MoveInput
from core.store.tables import Claim


def offer(
    *, approved: Decimal, owed: Decimal | None, excess: Decimal = money.ZERO, betterment: Decimal = money.ZERO
) -> Price:
    """The lower of what is approved and what is owed, less excess and betterment, never below zero; in naira.

    With nothing known to be owed (None) the approved amount stands alone.
    """
    steps = [Step("Approved amount", "as approved", approved)]
    amount = approved
    if owed is not None:
        amount = min(approved, owed)
        steps += [
            Step("Owed", "what is still owed", owed),
            Step("Lower of both", f"the lower of {approved:,.2f} and {owed:,.2f}", amount),
        ]
    for label, deduction in (("Excess", excess), ("Betterment", betterment)):
        if deduction:
            steps.append(Step(f"Less {label.lower()}", f"{amount:,.2f} - {deduction:,.2f}", amount - deduction))
            amount -= deduction
    total = max(amount, money.ZERO)
    steps.append(Step("Offer", "never below zero" if amount < 0 else "what remains", total))
    return Price(total=total, steps=steps)


def most(claim: Claim) -> int:
    """The most that may be offered on a claim as it stands, in kobo: what the rule gives."""
    return money.to_minor(of_claim(claim).total)


def ceiling(claim: Claim) -> str:
    """The most that may be offered, with what makes it so: "₦12,499.75, what remains after excess and betterment"."""
    limit = most(claim)
    if claim.excess_deduction_amount_minor or claim.betterment_deduction_amount_minor:
        return f"{money.shown(limit)}, what remains after excess and betterment"
    if limit < claim.approved_amount_minor:
        return f"{money.shown(limit)}, what is still owed"
    return f"the approved amount, {money.shown(limit)}"


def readable(typed: str) -> Decimal | None:
    """An amount that somebody is typing, in naira; none while it is no amount that could be approved."""
    try:
        given: MoveInput = request.read(MoveInput, {"amount": typed})
    except InvalidInput:
        return None
    return given.amount or None


def of_claim(claim: Claim, *, approved_minor: int | None = None) -> Price:
    """The offer on a claim as it stands, or as it would be with another approved amount."""
    return offer(
        approved=money.to_naira(claim.approved_amount_minor if approved_minor is None else approved_minor),
        owed=owed(claim),
        excess=money.to_naira(claim.excess_deduction_amount_minor),
        betterment=money.to_naira(claim.betterment_deduction_amount_minor),
    )


def owed(claim: Claim) -> Decimal | None:
    """What is at stake: the pending repayment, at most the loan; for a device the cost of its repair."""
    if claim.credit_life_claim_meta is not None:
        return _lowest(claim.credit_life_claim_meta, "pending_repayment_amount", "loan_amount")
    if claim.repair_estimate_minor:
        return money.to_naira(claim.repair_estimate_minor)
    return _lowest(claim.gadget_claim_meta or {}, "cost_of_repair")


def _lowest(meta: Mapping[str, Any], *names: str) -> Decimal | None:
    amounts = [Decimal(str(meta[name])) for name in names if meta.get(name) is not None]
    return min(amounts, default=None)
