"""Amounts of a claim: claimed, approved, deducted and offered, as far as the claim has gone (contract C8)."""

from core import money
from core.demo.claims.claims import LOAN, Loss
from core.states.claims import ClaimStatus

_EXCESS_BP, _BETTERMENT_BP = 1_000, 500


def amounts(loss: Loss) -> dict[str, int]:
    """The amount columns of a claim; each is 0 until the claim has come to where it is set (contract C4)."""
    owed, is_device = loss.owed_minor, loss.kind != LOAN
    judged = is_device or any(map(loss.came_to, (ClaimStatus.REVIEWING, ClaimStatus.APPROVED)))
    excess = money.share(owed, _EXCESS_BP) if is_device and loss.came_to(ClaimStatus.APPROVED) else 0
    betterment = money.share(owed, _BETTERMENT_BP) if excess and loss.is_worn else 0
    return {
        "claim_amount_minor": owed if judged else 0,
        "estimate_amount_minor": owed if is_device else 0,
        "repair_estimate_minor": owed if loss.came_to(ClaimStatus.ESTIMATE_SUBMITTED) else 0,
        "approved_amount_minor": owed if loss.is_approved else 0,
        "excess_deduction_amount_minor": excess,
        "betterment_deduction_amount_minor": betterment,
        "offer_amount_minor": owed - excess - betterment if loss.came_to(ClaimStatus.OFFER_SENT) else 0,
    }
