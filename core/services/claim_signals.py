"""What makes an officer look twice at a claim; nothing here refuses one (contract C3)."""

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services import claim_rules
from core.services.claim_request import CreditLifeClaimRequest
from core.store.scope import ScopedSession
from core.store.tables import Claim, Policy, UploadedFile


def flags_of(
    session: ScopedSession, policy: Policy, request: CreditLifeClaimRequest, hashes: Collection[str]
) -> list[str]:
    """The names of every signal of a claim that is about to be lodged, as in `claim_rules.FLAGS`.

    `hashes` are those of its documents as they were sent.
    """
    raised = {
        **_of_policy(policy, request),
        **_of_dates(policy, request),
        "duplicate": _was_claimed(session, policy, request),
        "same_file": _was_sent(session, hashes),
    }
    return [name for name in claim_rules.FLAGS if raised.get(name)]


def _of_policy(policy: Policy, request: CreditLifeClaimRequest) -> Mapping[str, bool]:
    bought: dict[str, Any] = policy.submitted
    benefit = claim_rules.INCIDENTS[request.incident_type].benefit
    return {
        "policy_expired": policy.expiration_at is not None and policy.expiration_at <= clock.now(),
        "policy_cancelled": bool(policy.cancelled_at or policy.declined_at),
        "benefit_not_bought": benefit not in bought.get("benefit_coverage", ()),
        "loan_differs": f"{request.loan_amount:.2f}" != bought.get("loan_amount"),
    }


def _of_dates(policy: Policy, request: CreditLifeClaimRequest) -> Mapping[str, bool]:
    happened = request.incident_date
    if happened is None:
        return {}
    start, end = (instant and clock.lagos_day(instant) for instant in (policy.start_at, policy.expiration_at))
    return {
        "outside_cover": _outside(happened, start, end and end - timedelta(days=1)),
        "outside_loan": _outside(happened, request.loan_offer_date, request.loan_repayment_date),
        "early_loss": start is not None and timedelta(0) <= happened - start < _EARLY,
        "future_incident": happened > clock.today(),
    }


_EARLY = timedelta(days=claim_rules.EARLY_LOSS_DAYS)


def _outside(day: date, first: date | None, last: date | None) -> bool:
    return (first is not None and day < first) or (last is not None and day > last)


def _was_claimed(session: ScopedSession, policy: Policy, request: CreditLifeClaimRequest) -> bool:
    same_day = sa.select(col(Claim.credit_life_claim_meta)).where(
        col(Claim.policy_id) == policy.id,
        col(Claim.incident_date) == (request.incident_date and request.incident_date.isoformat()),
        col(Claim.deleted_at).is_(None),
    )
    metas = session.execute(same_day).scalars()
    return any(meta and meta["incident_type"] == request.incident_type for meta in metas)


def _was_sent(session: ScopedSession, hashes: Collection[str]) -> bool:
    earlier = sa.select(col(UploadedFile.code)).where(
        col(UploadedFile.sent_sha256).in_(hashes), col(UploadedFile.claim_id).is_not(None)
    )
    return session.execute(earlier.limit(1)).first() is not None
