"""Coverage checks of a claim, as far as the records can answer them (contract C3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from core import clock, money
from core.covers.claims.line import DEATH, OWNER, POLICE_REPORT, ClaimLine, Endpoint
from core.covers.claims.lines import INCIDENTS
from core.services.claims.intake import submitted
from core.services.claims.review import duplicates, fraud_flags
from core.services.claims.review.duplicates import Duplicate
from core.services.claims.review.fraud_flags import format_day
from core.services.claims.workflow import payments as claim_payments
from core.store.schema.tables import Claim, Policy

DUPLICATE, BOUGHT, DECLINED, IN_FORCE = "duplicate", "bought", "declined", "in_force"
# So many duplicates are named by their check; the review lists every related claim.
_NAMED: Final = 3
CHECK_KEYS: Final = (
    *(
        IN_FORCE,
        "premium",
        BOUGHT,
        "waiting",
        "exclusions",
        "benefit",
        "loan_dates",
        "insured_loan",
        "insured_thing",
        "police",
        "sum_insured",
        "reported",
    ),
    *("claimant", "velocity", DECLINED),
    DUPLICATE,
)


@dataclass(frozen=True, slots=True)
class CoverageCheck:
    """One coverage check: key, question, result (None when the records cannot tell) and the evidence in words."""

    key: str
    question: str
    passed: bool | None
    detail: str


def describe_unmet(check: CoverageCheck) -> str:
    """Return how a check stands that is not met."""
    return "not known" if check.passed is None else "not met"


def run_checks(
    claim: Claim,
    policy: Policy,
    endpoint: Endpoint,
    found: Sequence[Duplicate],
    recent_count: int,
    insured: Mapping[str, Any],
    issued_on: date | None = None,
) -> list[CoverageCheck]:
    """Run the checks that apply to this type of claim, the most decisive first.

    `endpoint` sold the policy, `insured` is its data as endorsed before the loss, and `issued_on` the day on which
    somebody at the desk put it in force by hand.
    """
    happened = date.fromisoformat(claim.incident_date[:10]) if claim.incident_date else None
    checks = [check_in_force(policy, happened, issued_on)]
    if claim.credit_life_claim_meta is not None:
        meta = claim.credit_life_claim_meta
        checks += [_check_benefit(policy, meta), _check_loan_dates(meta, happened), _check_loan_amount(policy, meta)]
    elif line := submitted.get_line(claim):
        checks += _check_line(line, claim, policy, insured, endpoint)
    if submitted.get_meta(claim).get("incident_type") == DEATH:
        checks.append(_check_claimant(claim))
    return [
        *checks,
        _check_reported_in_time(claim, happened),
        _check_duplicates(found),
        _check_velocity(recent_count),
    ]


def _check_claimant(claim: Claim) -> CoverageCheck:
    """Fails where the deceased claims."""
    is_other = claim.claim_owner != OWNER
    detail = f"The {claim.claim_owner.lower()} claims" if is_other else "The claimant is the insured, who has died"
    return CoverageCheck(key="claimant", question="Claimed by another person", passed=is_other, detail=detail)


def _check_duplicates(found: Sequence[Duplicate]) -> CoverageCheck:
    """Fails for another claim for the same loss, or for one near it that was approved; else unknown where one is."""
    is_failed = any(each.fails for each in found)
    return CoverageCheck(
        key=DUPLICATE,
        question="No other claim for this loss",
        passed=False if is_failed else None if found else True,
        detail=_name_duplicates(found) or "None is open or was paid",
    )


def _name_duplicates(found: Sequence[Duplicate]) -> str:
    """Name the first few, claims for the same loss before those of the same people."""
    first = sorted(found, key=lambda each: not each.fails)[:_NAMED]
    rest = len(found) - len(first)
    return "; ".join([*(each.text for each in first), *([f"and {rest} more"] if rest else [])])


def check_declined(declined: Sequence[str]) -> CoverageCheck:
    """Fails where a claim of this policy, claimant or account was declined before (contract K13)."""
    named = "; ".join(declined[:_NAMED])
    rest = f"; and {len(declined) - _NAMED} more" if len(declined) > _NAMED else ""
    return CoverageCheck(
        key=DECLINED,
        question="Nothing was declined before",
        passed=not declined,
        detail=f"{named}{rest}" or "No claim of this policy, claimant or account",
    )


def _check_velocity(count: int) -> CoverageCheck:
    days = duplicates.VELOCITY_PERIOD.days
    return CoverageCheck(
        key="velocity",
        question=f"Fewer than {duplicates.VELOCITY_LIMIT} claims in {days} days",
        passed=None if count >= duplicates.VELOCITY_LIMIT else True,
        detail=f"{count} of this phone, account or e-mail up to this one",
    )


def check_in_force(policy: Policy, happened: date | None, issued_on: date | None = None) -> CoverageCheck:
    """Fails for a loss outside the days of cover, or before the desk put it in force; unknown without its day."""
    start, last = fraud_flags.get_cover_days(policy)
    ended = policy.cancelled_at or policy.declined_at
    detail = " · ".join(f"{label} {value}" for label, value in fraud_flags.describe_cover(policy))
    if happened is None or not policy.activated:
        passed = None if policy.activated else False
        return CoverageCheck(key=IN_FORCE, question="In force on the day of the incident", passed=passed, detail=detail)
    over = ended is not None and clock.to_lagos_day(ended) <= happened
    passed = start is not None and not over and not fraud_flags.is_outside(happened, start, last)
    if issued_on is not None and issued_on > happened:
        passed, detail = False, f"{detail} · Put in force at the desk {format_day(issued_on)}, after the loss"
    return CoverageCheck(IN_FORCE, "In force on the day of the incident", passed=passed, detail=detail)


def _check_benefit(policy: Policy, meta: Mapping[str, Any]) -> CoverageCheck:
    incident = meta["incident_type"]
    benefit = INCIDENTS[incident].benefit if incident in INCIDENTS else None
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


def _check_line(
    line: ClaimLine, claim: Claim, policy: Policy, insured: Mapping[str, Any], endpoint: Endpoint
) -> list[CoverageCheck]:
    """Run the checks that a line of cover declares (contract C16)."""
    meta = submitted.get_meta(claim)
    same = line.same_thing(meta, insured)
    checks = [
        _check_insured_incident(line, meta, endpoint),
        CoverageCheck("insured_thing", same.question, passed=same.passed, detail=same.detail),
    ]
    if POLICE_REPORT in line.incidents.get(meta.get("incident_type", ""), ()):
        checks.append(_check_police(meta))
    return [*checks, _check_sum_insured(line, meta, claim_payments.insured_minor(policy))]


def _check_insured_incident(line: ClaimLine, meta: Mapping[str, Any], endpoint: Endpoint) -> CoverageCheck:
    incident, insured = meta.get("incident_type"), line.covers.get(endpoint)
    passed = None if insured is None or incident is None else incident in insured
    detail = f"{incident or 'The incident'} {'is insured' if passed else 'is not insured by this cover'}"
    return CoverageCheck("benefit", "Incident insured", passed=passed, detail=detail)


def _check_police(meta: Mapping[str, Any]) -> CoverageCheck:
    reason = meta.get("no_police_report")
    if meta.get(POLICE_REPORT):
        return CoverageCheck("police", "Reported to the police", passed=True, detail="The report is with the claim")
    detail = f"No report: {reason}" if reason else "The report is owed"
    return CoverageCheck("police", "Reported to the police", passed=None, detail=detail)


def _check_sum_insured(line: ClaimLine, meta: Mapping[str, Any], insured_minor: int | None) -> CoverageCheck:
    """Unknown where the records name no sum: how much the cover pays is then for the officer to say."""
    cost = meta.get(line.amount)
    passed = None
    if cost is not None and insured_minor is not None:
        passed = money.to_minor(money.round_half_up(Decimal(str(cost)))) <= insured_minor
    what = "Repair" if line.amount == "cost_of_repair" else "Claimed"
    insured = "the policy names no sum" if insured_minor is None else f"insured {money.format_naira(insured_minor)}"
    detail = f"{what} {_naira(cost)}, {insured}"
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
