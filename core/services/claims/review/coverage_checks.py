"""Coverage checks of a claim, as far as the records can answer them (contract C3)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from core import clock, money
from core.services.claims.intake import requirements
from core.services.claims.review import fraud_flags
from core.services.claims.review.fraud_flags import in_words
from core.store.schema.tables import Claim, Policy


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One coverage check: the question, its result (None when the records cannot tell) and the evidence in words."""

    question: str
    holds: bool | None
    said: str


def of(claim: Claim, policy: Policy) -> list[Check]:
    """Run the checks that apply to this type of claim, the most decisive first."""
    happened = date.fromisoformat(claim.incident_date[:10]) if claim.incident_date else None
    checks = [_in_force(policy, happened)]
    if claim.credit_life_claim_meta is not None:
        meta = claim.credit_life_claim_meta
        checks += [_benefit(policy, meta), _within_loan(meta, happened), _loan(policy, meta)]
    elif policy.sum_insured_minor is not None:
        checks.append(_within_sum(claim, policy.sum_insured_minor))
    return [*checks, _told_in_time(claim, happened)]


def _in_force(policy: Policy, happened: date | None) -> Check:
    start, last = fraud_flags.cover_days(policy)
    ended = policy.cancelled_at or policy.declined_at
    said = " · ".join(f"{label} {value}" for label, value in fraud_flags.cover_facts(policy))
    if happened is None or not policy.activated:
        holds = None if policy.activated else False
        return Check(question="In force on the day of the incident", holds=holds, said=said)
    over = ended is not None and clock.lagos_day(ended) <= happened
    holds = start is not None and not over and not fraud_flags.outside(happened, start, last)
    return Check(question="In force on the day of the incident", holds=holds, said=said)


def _benefit(policy: Policy, meta: Mapping[str, Any]) -> Check:
    incident = meta["incident_type"]
    benefit = requirements.INCIDENTS[incident].benefit if incident in requirements.INCIDENTS else None
    if benefit is None:
        return Check(question="Benefit bought", holds=False, said=f"No benefit answers for {incident}")
    bought = benefit in policy.submitted.get("benefit_coverage", ())
    said = benefit.replace("_", " ").capitalize()
    return Check(question="Benefit bought", holds=bought, said=said if bought else f"{said} was not bought")


def _within_loan(meta: Mapping[str, Any], happened: date | None) -> Check:
    first, last = (date.fromisoformat(meta[name]) for name in ("loan_offer_date", "loan_repayment_date"))
    holds = None if happened is None else not fraud_flags.outside(happened, first, last)
    return Check(
        question="Within the loan",
        holds=holds,
        said=f"Loan {in_words(first)} to {in_words(last)}",
    )


def _loan(policy: Policy, meta: Mapping[str, Any]) -> Check:
    claimed, insured = meta["loan_amount"], policy.submitted.get("loan_amount")
    holds = None if insured is None else Decimal(str(insured)) == Decimal(claimed)
    said = _naira(claimed) if holds else f"{_naira(claimed)}, insured {_naira(insured)}"
    return Check(question="The insured loan", holds=holds, said=said)


def _within_sum(claim: Claim, insured_minor: int) -> Check:
    cost = (claim.gadget_claim_meta or {}).get("cost_of_repair")
    holds = None if cost is None else money.to_minor(money.half_up(Decimal(str(cost)))) <= insured_minor
    said = f"Repair {_naira(cost)}, insured {money.shown(insured_minor)}"
    return Check(question="Within the sum insured", holds=holds, said=said)


def _told_in_time(claim: Claim, happened: date | None) -> Check:
    question = "Told after it happened"
    if happened is None:
        return Check(question=question, holds=None, said="The day of the incident is not known yet")
    days = (clock.lagos_day(claim.created_at) - happened).days
    said = "before it happened" if days < 0 else f"{days} {'day' if days == 1 else 'days'} later"
    return Check(question=question, holds=days >= 0, said=f"{in_words(happened)}, lodged {said}")


def _naira(amount: Any) -> str:
    return "nothing" if amount is None else money.shown(money.to_minor(money.half_up(Decimal(str(amount)))))
