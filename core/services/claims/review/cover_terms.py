"""Checks of a loss against the terms that were paid for: premium, waiting period, exclusions (contract C13)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers.tariff import EXCLUSIONS, WAITING_DAYS
from core.services.claims.intake import submitted
from core.services.claims.review.coverage_checks import BOUGHT, CoverageCheck
from core.services.claims.review.fraud_flags import format_day
from core.services.policies import refunds
from core.services.policies.refunds import PaidTerm
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, Policy, ProductVersion, Purchase, Refund

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
    happened_on = date.fromisoformat(claim.incident_date[:10]) if claim.incident_date else None
    terms = refunds.list_paid_terms(session, policy)
    term = find_term(terms, happened_on)
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


def find_term(terms: Sequence[PaidTerm], day: date | None) -> PaidTerm | None:
    """Return the term that holds a day, its expiration day left out as soon as the next one begins; else None."""
    holding = [term for term in terms if day is not None and term.start_on <= day <= _get_last_day(term)]
    return holding[-1] if holding else None


def _get_last_day(term: PaidTerm) -> date:
    """Return the last day of cover: the day before an expiration at midnight (contract S8)."""
    ends_at_midnight = term.expiration_at == clock.midnight(term.expiration_on)
    return clock.add_days(term.expiration_on, -1) if ends_at_midnight else term.expiration_on


def find_beginning(terms: Sequence[PaidTerm], term: PaidTerm | None) -> date | None:
    """Return the first day of the terms that follow one another without a gap, and not before it was bought."""
    if term is None:
        return None
    first = term
    for earlier in reversed(terms[: terms.index(term)]):
        if clock.add_days(_get_last_day(earlier), 1) < first.start_on:
            break
        first = earlier
    return max(first.start_on, first.sold_on)


def _sum_refunded(session: ScopedSession, policy: Policy, renewal_id: UUID | None) -> int:
    query = sa.select(sa.func.sum(col(Refund.total_minor))).where(
        col(Refund.policy_id) == policy.id, col(Refund.renewal_id) == renewal_id
    )
    return int(session.execute(query).scalar_one() or 0)


def run_checks(claim: Claim, terms: CoverTerms) -> list[CoverageCheck]:
    """Check that the premium of the loss was paid, the waiting period was over and nothing excluded is named."""
    meta = submitted.get_meta(claim)
    incident = meta.get("incident_type")
    texts = [claim.claim_description, *(value for value in meta.values() if isinstance(value, str))]
    return [
        _check_premium(terms),
        _check_bought(terms),
        _check_waiting(terms, incident),
        _check_exclusions(terms.rules.get(EXCLUSIONS) or (), incident, " \n".join(texts)),
    ]


def _check_premium(terms: CoverTerms) -> CoverageCheck:
    passed, detail = _judge_premium(terms)
    return CoverageCheck("premium", "Premium paid for the term of the loss", passed=passed, detail=detail)


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


def _check_waiting(terms: CoverTerms, incident: str | None) -> CoverageCheck:
    passed, detail = _judge_waiting(terms, incident)
    return CoverageCheck("waiting", "Waiting period over", passed=passed, detail=detail)


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
