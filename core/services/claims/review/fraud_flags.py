"""Fraud flags that make an officer review a claim closely; none of them refuses it (contract C3)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.claims.intake import requirements
from core.services.claims.intake.request import CreditLifeClaimRequest
from core.states.policies import PolicyStage
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, Policy, UploadedFile

_DATE_FLAGS: Final = frozenset({"outside_cover", "outside_loan", "early_loss", "future_incident", "duplicate"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """The incident, its date, and the first and last day of the loan."""

    incident_type: str
    happened_on: date | None
    loan_start_on: date
    loan_end_on: date


def find_flags(
    session: ScopedSession, policy: Policy, request: CreditLifeClaimRequest, hashes: Collection[str]
) -> list[str]:
    """Return the names of all flags of a claim about to be lodged (keys of the flag descriptions in `requirements`).

    `hashes` are the hashes of its documents as uploaded.
    """
    loss = Loss(
        incident_type=request.incident_type,
        happened_on=request.incident_date,
        loan_start_on=request.loan_offer_date,
        loan_end_on=request.loan_repayment_date,
    )
    results = {
        **_check_policy(policy, request),
        **_check_dates(policy, loss),
        "duplicate": _is_duplicate_claim(session, policy.id, loss),
        "same_file": is_file_reused(session, hashes),
    }
    return [name for name in requirements.FLAG_DESCRIPTIONS if results.get(name)]


def recompute_flags(session: ScopedSession, claim: Claim, happened_on: date) -> list[str]:
    """Return the flags of a claim once the date of its incident is known."""
    meta = claim.credit_life_claim_meta
    if meta is None:
        return claim.flags
    loss = Loss(
        incident_type=meta["incident_type"],
        happened_on=happened_on,
        loan_start_on=date.fromisoformat(meta["loan_offer_date"]),
        loan_end_on=date.fromisoformat(meta["loan_repayment_date"]),
    )
    policy = session.get_one(Policy, claim.policy_id)
    results = {
        **_check_dates(policy, loss),
        "duplicate": _is_duplicate_claim(session, policy.id, loss, except_claim_id=claim.id),
    }
    lasting = set(claim.flags) - _DATE_FLAGS
    return [name for name in requirements.FLAG_DESCRIPTIONS if name in lasting or results.get(name)]


def _check_policy(policy: Policy, request: CreditLifeClaimRequest) -> Mapping[str, bool]:
    bought: dict[str, Any] = policy.submitted
    benefit = requirements.INCIDENTS[request.incident_type].benefit
    return {
        "policy_expired": policy.expiration_at is not None and policy.expiration_at <= clock.now(),
        "policy_cancelled": bool(policy.cancelled_at or policy.declined_at),
        "benefit_not_bought": benefit not in bought.get("benefit_coverage", ()),
        "loan_differs": f"{request.loan_amount:.2f}" != bought.get("loan_amount"),
    }


def _check_dates(policy: Policy, loss: Loss) -> Mapping[str, bool]:
    happened = loss.happened_on
    if happened is None:
        return {}
    start, last = get_cover_days(policy)
    return {
        "outside_cover": is_outside(happened, start, last),
        "outside_loan": is_outside(happened, loss.loan_start_on, loss.loan_end_on),
        "early_loss": start is not None and timedelta(0) <= happened - start < _EARLY_LOSS_PERIOD,
        "future_incident": happened > clock.today(),
    }


_EARLY_LOSS_PERIOD = timedelta(days=requirements.EARLY_LOSS_DAYS)


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
        return [
            term,
            (
                PolicyStage.CANCELLED if policy.cancelled_at else PolicyStage.DECLINED,
                format_day(clock.to_lagos_day(ended)),
            ),
        ]
    return [term] if end == last else [term, ("Last day of cover", format_day(last))]


def format_day(day: date | None) -> str:
    """Format a day for an officer: "20 Nov 2026", or "not set"."""
    return f"{day.day} {day:%b %Y}" if day else "not set"


def is_outside(day: date, first: date | None, last: date | None) -> bool:
    """Return True for a day before the first or after the last; an unknown end excludes nothing."""
    return (first is not None and day < first) or (last is not None and day > last)


def _is_duplicate_claim(
    session: ScopedSession, policy_id: UUID, loss: Loss, *, except_claim_id: UUID | None = None
) -> bool:
    same_day: AnySelect = sa.select(col(Claim.id), col(Claim.credit_life_claim_meta).label("meta")).where(
        col(Claim.policy_id) == policy_id,
        col(Claim.incident_date) == (loss.happened_on and loss.happened_on.isoformat()),
        col(Claim.deleted_at).is_(None),
    )
    others = (row.meta for row in session.execute(same_day) if row.id != except_claim_id)
    return any(meta and meta["incident_type"] == loss.incident_type for meta in others)


def is_file_reused(session: ScopedSession, hashes: Collection[str], *, except_claim_id: UUID | None = None) -> bool:
    """Return True when a file with one of these hashes belongs to another claim."""
    earlier = sa.select(col(UploadedFile.code)).where(
        col(UploadedFile.sent_sha256).in_(hashes), col(UploadedFile.claim_id).is_not(None)
    )
    if except_claim_id is not None:
        earlier = earlier.where(col(UploadedFile.claim_id) != except_claim_id)
    return session.execute(earlier.limit(1)).first() is not None
