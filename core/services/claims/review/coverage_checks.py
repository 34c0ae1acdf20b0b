"""Coverage checks of a claim, as far as the records can answer them (contract C3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from core import clock, money
from core.services.claims.intake import requirements
from core.services.claims.review import duplicates, fraud_flags
from core.services.claims.review.duplicates import Duplicate
from core.services.claims.review.fraud_flags import format_day
from core.store.schema.tables import Claim, Policy

DUPLICATE: Final = "duplicate"
CHECK_KEYS: Final = (
    *("in_force", "benefit", "loan_dates", "insured_loan", "sum_insured", "reported", "velocity"),
    DUPLICATE,
)


@dataclass(frozen=True, slots=True)
class CoverageCheck:
    """One coverage check: key, question, result (None when the records cannot tell) and the evidence in words."""

    key: str
    question: str
    passed: bool | None
    detail: str


def run_checks(claim: Claim, policy: Policy, found: Sequence[Duplicate], recent_count: int) -> list[CoverageCheck]:
    """Run the checks that apply to this type of claim, the most decisive first."""
    happened = date.fromisoformat(claim.incident_date[:10]) if claim.incident_date else None
    checks = [_check_in_force(policy, happened)]
    if claim.credit_life_claim_meta is not None:
        meta = claim.credit_life_claim_meta
        checks += [_check_benefit(policy, meta), _check_loan_dates(meta, happened), _check_loan_amount(policy, meta)]
    elif policy.sum_insured_minor is not None:
        checks.append(_check_sum_insured(claim, policy.sum_insured_minor))
    return [
        *checks,
        _check_reported_in_time(claim, happened),
        _check_duplicates(found),
        _check_velocity(recent_count),
    ]


def _check_duplicates(found: Sequence[Duplicate]) -> CoverageCheck:
    """Fails for another claim for the same loss; unknown when only people or accounts are the same."""
    is_same_loss = any(each.is_same_loss for each in found)
    return CoverageCheck(
        key=DUPLICATE,
        question="No other claim for this loss",
        passed=None if found and not is_same_loss else not is_same_loss,
        detail="; ".join(each.text for each in found) or "None is open or was paid",
    )


def _check_velocity(count: int) -> CoverageCheck:
    days = duplicates.VELOCITY_PERIOD.days
    return CoverageCheck(
        key="velocity",
        question=f"Fewer than {duplicates.VELOCITY_LIMIT} claims in {days} days",
        passed=None if count >= duplicates.VELOCITY_LIMIT else True,
        detail=f"{count} of this phone, account or e-mail up to this one",
    )


def _check_in_force(policy: Policy, happened: date | None) -> CoverageCheck:
    start, last = fraud_flags.get_cover_days(policy)
    ended = policy.cancelled_at or policy.declined_at
    detail = " · ".join(f"{label} {value}" for label, value in fraud_flags.describe_cover(policy))
    if happened is None or not policy.activated:
        passed = None if policy.activated else False
        return CoverageCheck(
            key="in_force", question="In force on the day of the incident", passed=passed, detail=detail
        )
    over = ended is not None and clock.to_lagos_day(ended) <= happened
    passed = start is not None and not over and not fraud_flags.is_outside(happened, start, last)
    return CoverageCheck("in_force", "In force on the day of the incident", passed=passed, detail=detail)


def _check_benefit(policy: Policy, meta: Mapping[str, Any]) -> CoverageCheck:
    incident = meta["incident_type"]
    benefit = requirements.INCIDENTS[incident].benefit if incident in requirements.INCIDENTS else None
    if benefit is None:
        return CoverageCheck(
            key="benefit", question="Benefit bought", passed=False, detail=f"No benefit answers for {incident}"
        )
    bought = benefit in policy.submitted.get("benefit_coverage", ())
    detail = benefit.replace("_", " ").capitalize()
    return CoverageCheck(
        key="benefit", question="Benefit bought", passed=bought, detail=detail if bought else f"{detail} was not bought"
    )


def _check_loan_dates(meta: Mapping[str, Any], happened: date | None) -> CoverageCheck:
    first, last = (date.fromisoformat(meta[name]) for name in ("loan_offer_date", "loan_repayment_date"))
    passed = None if happened is None else not fraud_flags.is_outside(happened, first, last)
    return CoverageCheck(
        key="loan_dates",
        question="Within the loan",
        passed=passed,
        detail=f"Loan {format_day(first)} to {format_day(last)}",
    )


def _check_loan_amount(policy: Policy, meta: Mapping[str, Any]) -> CoverageCheck:
    claimed, insured = meta["loan_amount"], policy.submitted.get("loan_amount")
    passed = None if insured is None else Decimal(str(insured)) == Decimal(claimed)
    detail = _naira(claimed) if passed else f"{_naira(claimed)}, insured {_naira(insured)}"
    return CoverageCheck("insured_loan", "The insured loan", passed=passed, detail=detail)


def _check_sum_insured(claim: Claim, insured_minor: int) -> CoverageCheck:
    cost = (claim.gadget_claim_meta or {}).get("cost_of_repair")
    passed = None if cost is None else money.to_minor(money.round_half_up(Decimal(str(cost)))) <= insured_minor
    detail = f"Repair {_naira(cost)}, insured {money.format_naira(insured_minor)}"
    return CoverageCheck("sum_insured", "Within the sum insured", passed=passed, detail=detail)


def _check_reported_in_time(claim: Claim, happened: date | None) -> CoverageCheck:
    question = "Told after it happened"
    if happened is None:
        return CoverageCheck(
            key="reported", question=question, passed=None, detail="The day of the incident is not known yet"
        )
    days = (clock.to_lagos_day(claim.created_at) - happened).days
    detail = "before it happened" if days < 0 else f"{days} {'day' if days == 1 else 'days'} later"
    return CoverageCheck(
        key="reported", question=question, passed=days >= 0, detail=f"{format_day(happened)}, lodged {detail}"
    )


def _naira(amount: Any) -> str:
    return (
        "nothing" if amount is None else money.format_naira(money.to_minor(money.round_half_up(Decimal(str(amount)))))
    )
