"""Coverage checks of a claim against the records, and against the terms that were paid for (contract C3, C13)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from sqlmodel import col

from core import clock, money
from core.covers.claims.line import DEATH, OWNER, POLICE_REPORT, ClaimLine, Endpoint
from core.covers.claims.lines import INCIDENTS
from core.covers.tariff import EXCLUSIONS, WAITING_DAYS
from core.services.claims.intake import submitted
from core.services.claims.review import fraud_flags, related
from core.services.claims.review.fraud_flags import format_day
from core.services.claims.review.related import Duplicate
from core.services.policies import refunds
from core.services.policies.refunds import PaidTerm
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, Policy, ProductVersion, Purchase, Refund

DUPLICATE, BOUGHT, DECLINED, IN_FORCE = "duplicate", "bought", "declined", "in_force"
# So many duplicates are named by their check; the review lists every related claim.
_NAMED: Final = 3
CHECK_KEYS: Final = (
    *(IN_FORCE, "premium", BOUGHT, "waiting", "exclusions", "benefit", "loan_dates", "insured_loan"),
    *("insured_thing", "police", "sum_insured", "reported", "claimant", "velocity", DECLINED, DUPLICATE),
)


@dataclass(frozen=True, slots=True)
class CoverageCheck:
    """One coverage check: key, question, result (None when the records cannot tell) and the evidence in words."""

    key: str
    question: str
    passed: bool | None
    detail: str


@dataclass(frozen=True, slots=True)
class DeskDates:
    """Days of a cover by the log: on which the desk put it in force by hand, and from which its premium went back.

    The latter is the day on which its loan was said to be over (contract B3); the policy itself ended later.
    """

    issued_on: date | None = None
    refunded_from: date | None = None


NO_DATES: Final = DeskDates()


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
    dates: DeskDates = NO_DATES,
) -> list[CoverageCheck]:
    """Run the checks that apply to this type of claim, the most decisive first.

    `endpoint` sold the policy, and `insured` is its data as endorsed before the loss.
    """
    happened = _get_incident_day(claim)
    checks = [check_in_force(policy, happened, dates)]
    # Nothing that was said of a loss and its loan is left to compare once it was erased.
    if (meta := claim.credit_life_claim_meta) is not None and not related.is_gone(claim):
        checks += [_check_benefit(policy, meta), _check_loan_dates(meta, happened), _check_loan_amount(policy, meta)]
    elif line := submitted.get_line(claim):
        checks += _check_line(line, claim, policy, insured, endpoint)
    if submitted.get_meta(claim).get("incident_type") == DEATH:
        checks.append(_check_claimant(claim))
    return [*checks, _check_reported_in_time(claim, happened), _check_duplicates(found), _check_velocity(recent_count)]


def _get_incident_day(claim: Claim) -> date | None:
    return date.fromisoformat(claim.incident_date[:10]) if claim.incident_date else None


def _check_claimant(claim: Claim) -> CoverageCheck:
    """Fails where the deceased claims."""
    is_other = claim.claim_owner != OWNER
    detail = f"The {claim.claim_owner.lower()} claims" if is_other else "The claimant is the insured, who has died"
    return CoverageCheck("claimant", "Claimed by another person", passed=is_other, detail=detail)


def _check_duplicates(found: Sequence[Duplicate]) -> CoverageCheck:
    """Fails for another claim for the same loss, or for one near it that was approved; else unknown where one is."""
    is_failed = any(each.fails for each in found)
    # Claims for the same loss before those of the same people.
    named = _name_first([each.text for each in sorted(found, key=lambda each: not each.fails)])
    passed = False if is_failed else None if found else True
    return CoverageCheck(DUPLICATE, "No other claim for this loss", passed, named or "None is open or was paid")


def _name_first(texts: Sequence[str]) -> str:
    """Return the first few, with how many more there are."""
    rest = [f"and {len(texts) - _NAMED} more"] if len(texts) > _NAMED else []
    return "; ".join([*texts[:_NAMED], *rest])


def check_declined(declined: Sequence[str]) -> CoverageCheck:
    """Fails where a claim of this policy, claimant or account was declined before (contract K13)."""
    detail = _name_first(declined) or "No claim of this policy, claimant or account"
    return CoverageCheck(DECLINED, "Nothing was declined before", passed=not declined, detail=detail)


def _check_velocity(count: int) -> CoverageCheck:
    question = f"Fewer than {related.VELOCITY_LIMIT} claims in {related.VELOCITY_PERIOD.days} days"
    passed = None if count >= related.VELOCITY_LIMIT else True
    return CoverageCheck("velocity", question, passed, f"{count} of this phone, account or e-mail up to this one")


def check_in_force(policy: Policy, happened: date | None, dates: DeskDates = NO_DATES) -> CoverageCheck:
    """Fails for a loss outside the days of cover, or those that were paid for; unknown without its day."""
    start, last = fraud_flags.get_cover_days(policy)
    detail = " · ".join(f"{label} {value}" for label, value in fraud_flags.describe_cover(policy))
    if happened is None or not policy.activated:
        passed = None if policy.activated else False
    else:
        ended = policy.cancelled_at or policy.declined_at
        over = ended is not None and clock.to_lagos_day(ended) <= happened
        passed = start is not None and not over and not fraud_flags.is_outside(happened, start, last)
        if dates.issued_on is not None and dates.issued_on > happened:
            passed, detail = False, f"{detail} · Put in force at the desk {format_day(dates.issued_on)}, after the loss"
        if dates.refunded_from is not None and dates.refunded_from <= happened:
            why = f"The loan was said to be over on {format_day(dates.refunded_from)}"
            passed, detail = False, f"{detail} · {why}, and the premium went back from then on"
    return CoverageCheck(IN_FORCE, "In force on the day of the incident", passed=passed, detail=detail)


def _check_benefit(policy: Policy, meta: Mapping[str, Any]) -> CoverageCheck:
    incident = meta["incident_type"]
    benefit = INCIDENTS[incident].benefit if incident in INCIDENTS else None
    bought = benefit is not None and benefit in policy.submitted.get("benefit_coverage", ())
    if benefit is None:
        detail = f"No benefit answers for {incident}"
    else:
        detail = f"{benefit.replace('_', ' ').capitalize()}{'' if bought else ' was not bought'}"
    return CoverageCheck("benefit", "Benefit bought", passed=bought, detail=detail)


def _check_loan_dates(meta: Mapping[str, Any], happened: date | None) -> CoverageCheck:
    first, last = (date.fromisoformat(meta[name]) for name in ("loan_offer_date", "loan_repayment_date"))
    passed = None if happened is None else not fraud_flags.is_outside(happened, first, last)
    return CoverageCheck("loan_dates", "Within the loan", passed, f"Loan {format_day(first)} to {format_day(last)}")


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
    return [*checks, _check_sum_insured(line, meta, related.insured_minor(policy))]


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
    passed = None if cost is None or insured_minor is None else _to_minor(cost) <= insured_minor
    what = "Repair" if line.amount == "cost_of_repair" else "Claimed"
    insured = "the policy names no sum" if insured_minor is None else f"insured {money.format_naira(insured_minor)}"
    detail = f"{what} {_naira(cost)}, {insured}"
    return CoverageCheck("sum_insured", "Within the sum insured", passed=passed, detail=detail)


def _check_reported_in_time(claim: Claim, happened: date | None) -> CoverageCheck:
    question = "Told after it happened"
    if happened is None:
        return CoverageCheck("reported", question, passed=None, detail=_NO_DAY)
    days = (clock.to_lagos_day(claim.created_at) - happened).days
    when = "before it happened" if days < 0 else f"{days} {'day' if days == 1 else 'days'} later"
    return CoverageCheck("reported", question, passed=days >= 0, detail=f"{format_day(happened)}, lodged {when}")


def _to_minor(amount: Any) -> int:
    return money.to_minor(money.round_half_up(Decimal(str(amount))))


def _naira(amount: Any) -> str:
    return "nothing" if amount is None else money.format_naira(_to_minor(amount))


_NO_DAY: Final = "The day of the incident is not known yet"


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverTerms:
    """The paid terms of a policy seen from the day of a loss.

    `term` is the one that holds the day, `refunded_minor` was given back of its premium, and `begins_on` is since when
    the cover has held without a gap, at the earliest the day of its sale. `sold_on` is when the cover of the loss was
    bought. `rules` are the rates of that term with its waiting periods and exclusions.
    """

    happened_on: date | None
    is_dated: bool
    term: PaidTerm | None
    refunded_minor: int
    begins_on: date | None
    rules: Mapping[str, Any]
    sold_on: date | None = None


def load(session: ScopedSession, claim: Claim, policy: Policy) -> CoverTerms:
    """Load the terms of a claim's policy; the rates are those of the sale where no term holds the loss."""
    happened_on = _get_incident_day(claim)
    terms = refunds.list_paid_terms(session, policy)
    term = refunds.find_term(terms, happened_on)
    sold = term or (terms[0] if terms else None)
    version_id = term.version_id if term else session.get_one(Purchase, policy.purchase_id).product_version_id
    return CoverTerms(
        happened_on=happened_on,
        is_dated=bool(terms),
        term=term,
        refunded_minor=_sum_refunded(session, policy, term.renewal_id) if term else 0,
        begins_on=find_beginning(terms, term),
        rules=session.get_one(ProductVersion, version_id).meta,
        sold_on=sold.sold_on if sold else clock.to_lagos_day(policy.created_at),
    )


def find_beginning(terms: Sequence[PaidTerm], term: PaidTerm | None) -> date | None:
    """Return the first day of the terms that follow one another without a gap, and not before it was bought."""
    if term is None:
        return None
    first = term
    for earlier in reversed(terms[: terms.index(term)]):
        if clock.add_days(earlier.last_on, 1) < first.start_on:
            break
        first = earlier
    return max(first.start_on, first.sold_on)


def _sum_refunded(session: ScopedSession, policy: Policy, renewal_id: UUID | None) -> int:
    of_term = (col(Refund.policy_id) == policy.id, col(Refund.renewal_id) == renewal_id)
    return session.count_and_sum(col(Refund.total_minor), *of_term)[1]


def check_terms(claim: Claim, terms: CoverTerms) -> list[CoverageCheck]:
    """Check that the premium of the loss was paid, the waiting period was over and nothing excluded is named."""
    meta = submitted.get_meta(claim)
    incident = meta.get("incident_type")
    texts = [claim.claim_description, *(value for value in meta.values() if isinstance(value, str))]
    return [
        CoverageCheck("premium", "Premium paid for the term of the loss", *_judge_premium(terms)),
        _check_bought(terms),
        CoverageCheck("waiting", "Waiting period over", *_judge_waiting(terms, incident)),
        _check_exclusions(terms.rules.get(EXCLUSIONS) or (), incident, " \n".join(texts)),
    ]


def _judge_premium(terms: CoverTerms) -> tuple[bool | None, str]:
    if terms.happened_on is None:
        return None, _NO_DAY
    if not terms.is_dated:
        return None, "The insurer has not set the term yet"
    term = terms.term
    if term is None:
        return False, f"No term that was paid for holds {format_day(terms.happened_on)}"
    span = f"{format_day(term.start_on)} to {format_day(term.expiration_on)}"
    paid = f"{money.format_naira(term.total_minor)} for {span}"
    back = f", {money.format_naira(terms.refunded_minor)} given back" if terms.refunded_minor else ""
    return terms.refunded_minor < term.total_minor or not term.total_minor, f"{paid}{back}"


def _check_bought(terms: CoverTerms) -> CoverageCheck:
    """Fails for a loss on a day before the sale of its cover, whenever that was made to begin (contract K1)."""
    sold_on, happened_on = terms.sold_on, terms.happened_on
    if happened_on is None or sold_on is None:
        passed, detail = None, _NO_DAY
    else:
        passed = None if happened_on == sold_on else sold_on < happened_on
        day = "on the day of the loss" if passed is None else "before the loss" if passed else "after the loss"
        detail = f"Bought on {format_day(sold_on)}, {day}"
    return CoverageCheck(BOUGHT, "Bought before the loss", passed=passed, detail=detail)


def _judge_waiting(terms: CoverTerms, incident: str | None) -> tuple[bool | None, str]:
    days = int((terms.rules.get(WAITING_DAYS) or {}).get(incident, 0))
    if not days:
        return True, f"The product has none for {(incident or 'this').lower()}"
    if terms.happened_on is None:
        return None, _NO_DAY
    if terms.begins_on is None:
        return None, f"{days} days, and no paid term to count them from"
    over_on = clock.add_days(terms.begins_on, days)
    explanation = f"{days} days from {format_day(terms.begins_on)}, over on {format_day(over_on)}"
    return terms.happened_on >= over_on, explanation


def _check_exclusions(exclusions: Sequence[str], incident: str | None, text: str) -> CoverageCheck:
    """Failed where the incident itself is excluded, unknown where what was said names an exclusion."""
    named = [words for words in exclusions if re.search(rf"\b{re.escape(words)}\b", text, re.IGNORECASE)]
    is_excluded = (incident or "").casefold() in {words.casefold() for words in exclusions}
    if named:
        detail = f"{'Excluded' if is_excluded else 'Said with the claim'}: {', '.join(named)}"
    else:
        detail = f"Not named: {', '.join(exclusions)}" if exclusions else "The product names none"
    passed = False if is_excluded else None if named else True
    return CoverageCheck("exclusions", "No exclusion of the product", passed=passed, detail=detail)
