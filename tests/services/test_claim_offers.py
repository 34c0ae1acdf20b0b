"""Offers: the lower of approved and owed, less excess and betterment, never below zero (contract C8)."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from core import money
from core.services.claims.workflow import limits as claim_limits
from core.store.schema.tables import Claim
from tests.every_case import every_case

amounts = st.integers(0, 10**12).map(money.to_naira)


def offer(approved: str, owed: str | None, excess: str = "0", betterment: str = "0") -> Decimal:
    return claim_limits.compute_offer(
        approved=Decimal(approved),
        owed=None if owed is None else Decimal(owed),
        excess=Decimal(excess),
        betterment=Decimal(betterment),
    ).total


@every_case(
    ("approved", "owed", "excess", "betterment", "expected"),
    [
        ("90000", "75000", "0", "0", "75000"),
        ("60000", "75000", "0", "0", "60000"),
        ("90000", "75000", "5000", "100.50", "69899.50"),
        ("60000", None, "6000", "3000", "51000"),
        ("60000", "75000", "70000", "0", "0"),
        ("60000", "0", "0", "0", "0"),
    ],
)
def test_worked_offers(approved: str, owed: str | None, excess: str, betterment: str, expected: str) -> None:
    assert offer(approved, owed, excess, betterment) == Decimal(expected)


@given(amounts, st.none() | amounts, amounts, amounts)
def test_offer_is_never_below_zero_nor_above_what_is_approved_or_owed(
    approved: Decimal, owed: Decimal | None, excess: Decimal, betterment: Decimal
) -> None:
    made = claim_limits.compute_offer(approved=approved, owed=owed, excess=excess, betterment=betterment)
    limit = approved if owed is None else min(approved, owed)
    assert 0 <= made.total <= limit
    assert made.total in {Decimal(0), limit - excess - betterment}
    assert money.to_naira(money.to_minor(made.total)) == made.total


@given(amounts, amounts, amounts, amounts)
def test_steps_lead_to_the_offer(approved: Decimal, owed: Decimal, excess: Decimal, betterment: Decimal) -> None:
    made = claim_limits.compute_offer(approved=approved, owed=owed, excess=excess, betterment=betterment)
    results = {step.label: step.amount for step in made.steps}
    assert results["Lower of both"] == min(approved, owed)
    assert ("Less excess" in results, "Less betterment" in results) == (bool(excess), bool(betterment))
    assert made.steps[-1].label == "Offer"
    assert made.steps[-1].amount == made.total == max(made.steps[-2].amount, Decimal(0))


@given(amounts, amounts, amounts, amounts, amounts)
def test_more_approved_never_offers_less_and_more_deducted_never_more(
    approved: Decimal, more: Decimal, owed: Decimal, excess: Decimal, betterment: Decimal
) -> None:
    def total(approved: Decimal, excess: Decimal) -> Decimal:
        return claim_limits.compute_offer(approved=approved, owed=owed, excess=excess, betterment=betterment).total

    assert total(approved + more, excess) >= total(approved, excess) >= total(approved, excess + more)


def test_steps_are_written_as_a_person_would() -> None:
    made = claim_limits.compute_offer(
        approved=Decimal("90000.00"), owed=Decimal("75000.00"), excess=Decimal("5000.00"), betterment=Decimal("100.50")
    )
    assert made.explain == [
        {"step": "Approved amount", "working": "as approved", "amount": "90000.00"},
        {"step": "Owed", "working": "what is still owed", "amount": "75000.00"},
        {"step": "Lower of both", "working": "the lower of 90,000.00 and 75,000.00", "amount": "75000.00"},
        {"step": "Less excess", "working": "75,000.00 - 5,000.00", "amount": "70000.00"},
        {"step": "Less betterment", "working": "70,000.00 - 100.50", "amount": "69899.50"},
        {"step": "Offer", "working": "what remains", "amount": "69899.50"},
    ]


@every_case(
    ("claim", "owed"),
    [
        (
            Claim(credit_life_claim_meta={"loan_amount": "100000.00", "pending_repayment_amount": "75000.50"}),
            "75000.50",
        ),
        (Claim(credit_life_claim_meta={"loan_amount": "50.00", "pending_repayment_amount": "75.00"}), "50.00"),
        (Claim(gadget_claim_meta={"cost_of_repair": "400.00"}, repair_estimate_minor=35_000), "350.00"),
        (Claim(gadget_claim_meta={"cost_of_repair": 400}, repair_estimate_minor=0), "400"),
        (Claim(gadget_claim_meta=None, repair_estimate_minor=0), None),
    ],
)
def test_what_is_owed_depends_on_what_was_insured(claim: Claim, owed: str | None) -> None:
    assert claim_limits.get_amount_owed(claim) == (owed and Decimal(owed))
