"""Fraud flags that make an officer review a claim closely; none of them refuses it (contract C3)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.claims.line import Endpoint
from core.covers.tariff import EARLY_CLAIM_DAYS, get_claim_rule
from core.services.claims.intake import submitted
from core.services.claims.intake.new_claims import NewClaim
from core.states.policies import PolicyStage
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, Policy, ProductVersion, Purchase, UploadedFile

_DATE_FLAGS: Final = frozenset({"outside_cover", "outside_loan", "early_loss", "future_incident", "duplicate"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """The incident, its date, and the first and last day of the loan, where there is one."""

    incident_type: str | None
    happened_on: date | None
    loan_days: tuple[date, date] | None


def find_flags(
    session: ScopedSession, policy: Policy, endpoint: Endpoint, new: NewClaim, hashes: Collection[str]
) -> list[str]:
    """Return the names of all flags of a claim about to be lodged (keys of the flag descriptions in `requirements`).

    `endpoint` sold the policy; `hashes` are the hashes of its documents as uploaded.
    """
    loss = Loss(incident_type=new.incident_type, happened_on=new.happened_on, loan_days=new.loan_days)
    results = {
        **_check_policy(policy, endpoint, new),
        **_check_dates(policy, loss),
        "early_claim": _is_soon_after_sale(session, policy),
        "duplicate": _is_duplicate_claim(session, policy.id, loss),
        "same_file": is_file_reused(session, hashes),
    }
    return [name for name in submitted.FLAG_DESCRIPTIONS if results.get(name)]


def recompute_flags(session: ScopedSession, claim: Claim, happened_on: date) -> list[str]:
    """Return the flags of a claim once the date of its incident is known."""
    meta = submitted.get_meta(claim)
    loan_days = _get_loan_days(claim.credit_life_claim_meta)
    loss = Loss(incident_type=meta.get("incident_type"), happened_on=happened_on, loan_days=loan_days)
    policy = session.get_one(Policy, claim.policy_id)
    results = {
        **_check_dates(policy, loss),
        "duplicate": _is_duplicate_claim(session, policy.id, loss, except_claim_id=claim.id),
    }
    lasting = set(claim.flags) - _DATE_FLAGS
    return [name for name in submitted.FLAG_DESCRIPTIONS if name in lasting or results.get(name)]


def _get_loan_days(loan: Mapping[str, Any] | None) -> tuple[date, date] | None:
    if not loan:
        return None
    return date.fromisoformat(loan["loan_offer_date"]), date.fromisoformat(loan["loan_repayment_date"])


def _check_policy(policy: Policy, endpoint: Endpoint, new: NewClaim) -> Mapping[str, bool]:
    return {
        "policy_expired": policy.expiration_at is not None and policy.expiration_at <= clock.now(),
        "policy_cancelled": bool(policy.cancelled_at or policy.declined_at),
        "benefit_not_bought": not new.is_insured(endpoint, policy.submitted),
        "loan_differs": new.loan_amount is not None and new.loan_amount != policy.submitted.get("loan_amount"),
    }


def _check_dates(policy: Policy, loss: Loss) -> Mapping[str, bool]:
    happened = loss.happened_on
    if happened is None:
        return {}
    start, last = get_cover_days(policy)
    return {
        "outside_cover": is_outside(happened, start, last),
        "outside_loan": loss.loan_days is not None and is_outside(happened, *loss.loan_days),
        "early_loss": start is not None and 0 <= (happened - start).days < submitted.EARLY_LOSS_DAYS,
        "future_incident": happened > clock.today(),
    }


def _is_soon_after_sale(session: ScopedSession, policy: Policy) -> bool:
    sale = session.get_one(Purchase, policy.purchase_id)
    rules = session.get_one(ProductVersion, sale.product_version_id).meta
    return clock.now() - sale.created_at < timedelta(days=int(get_claim_rule(rules, EARLY_CLAIM_DAYS)))


def get_cover_days(policy: Policy) -> tuple[date | None, date | None]:
    """Return the first and last day of the cover, None for an end that is not set.

    The last day is the day before the expiration, or the day itself when the cover does not end at midnight UTC
    (contract S8).
    """
    start, end = (instant and clock.to_lagos_day(instant) for instant in (policy.start_at, policy.expiration_at))
    ends_at_midnight = end is not None and policy.expiration_at == clock.midnight(end)
    return start, end - timedelta(days=1) if end and ends_at_midnight else end


def describe_cover(policy: Policy) -> list[tuple[str, str]]:
    """Return (label, value) pairs of the cover's dates.

    The term as on the policy and its certificate, then the day it was cancelled or declined, or the last day of
    cover when that differs from the expiration date.
    """
    start, last = get_cover_days(policy)
    end = policy.expiration_at and clock.to_lagos_day(policy.expiration_at)
    term = ("Cover", f"{format_day(start)} to {format_day(end)}")
    if ended := policy.cancelled_at or policy.declined_at:
        stage = PolicyStage.CANCELLED if policy.cancelled_at else PolicyStage.DECLINED
        return [term, (stage, format_day(clock.to_lagos_day(ended)))]
    return [term] if end == last else [term, ("Last day of cover", format_day(last))]


def format_day(day: date | None) -> str:
    """Format a day for an officer: "20 Nov 2026", or "not set"."""
    return clock.format_day(day) if day else "not set"


def is_outside(day: date, first: date | None, last: date | None) -> bool:
    """Return True for a day before the first or after the last; an unknown end excludes nothing."""
    return (first is not None and day < first) or (last is not None and day > last)


def _is_duplicate_claim(
    session: ScopedSession, policy_id: UUID, loss: Loss, *, except_claim_id: UUID | None = None
) -> bool:
    same_day: AnySelect = sa.select(Claim).where(
        col(Claim.policy_id) == policy_id,
        col(Claim.incident_date) == (loss.happened_on and loss.happened_on.isoformat()),
        col(Claim.deleted_at).is_(None),
    )
    others = (claim for claim in session.execute(same_day).scalars() if claim.id != except_claim_id)
    return any(submitted.get_meta(other).get("incident_type") == loss.incident_type for other in others)


def is_file_reused(session: ScopedSession, hashes: Collection[str], *, except_claim_id: UUID | None = None) -> bool:
    """Return True when a file with one of these hashes belongs to another claim."""
    earlier = sa.select(col(UploadedFile.code)).where(
        col(UploadedFile.sent_sha256).in_(hashes), col(UploadedFile.claim_id).is_not(None)
    )
    if except_claim_id is not None:
        earlier = earlier.where(col(UploadedFile.claim_id) != except_claim_id)
    return session.execute(earlier.limit(1)).first() is not None
