"""What a claim comes to: owed, approved, deducted and offered, as far as the claim has gone (contract C8)."""

from decimal import Decimal

from core import clock, money
from core.covers.refunds import months_left
from core.store.demo.claims import Loss

_EXCESS_BP, _BETTERMENT_BP = 1_000, 500
_NAIRA = 100


def owed_minor(loss: Loss) -> int:
    """What is at stake, in kobo: the balance of the loan on the day of the loss, or the cost of the repair."""
    body = loss.sale.variant.body
    if loss.kind == "device":
        return int(body["device_value"] * loss.share * 0.35) * _NAIRA
    loan, months = money.to_minor(Decimal(body["loan_amount"])), int(body["loan_tenure"])
    left = months_left(loss.happened_on, clock.lagos_day(loss.sale.life.stretches[0][1]), months)
    return loan * max(left, 1) // months // _NAIRA * _NAIRA


def amounts(loss: Loss) -> dict[str, int]:
    """The amount columns of a claim; each is 0 until the claim has come to where it is set (contract C4)."""
    owed, is_device = owed_minor(loss), loss.kind == "device"
    judged = is_device or any(map(loss.came_to, ("Reviewing", "Approved")))
    approved = owed if loss.came_to("Approved") else 0
    excess = money.share(approved, _EXCESS_BP) if is_device else 0
    betterment = money.share(approved, _BETTERMENT_BP) if is_device and loss.share > 0.8 else 0
    return {
        "claim_amount_minor": owed if judged else 0,
        "estimate_amount_minor": owed if is_device else 0,
        "repair_estimate_minor": owed if loss.came_to("Repair estimate submitted") else 0,
        "approved_amount_minor": approved,
        "excess_deduction_amount_minor": excess,
        "betterment_deduction_amount_minor": betterment,
        "offer_amount_minor": approved - excess - betterment if loss.came_to("Offer sent") else 0,
    }
