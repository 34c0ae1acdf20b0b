"""Related claims: on the same policy, of the same customer or to the same payout account (contract C3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.claims.intake import requirements
from core.store.access import ScopedSession
from core.store.schema.tables import Claim

POLICY: Final = "same policy"
CUSTOMER: Final = "same customer"
ACCOUNT: Final = "same payout account"
MAX_RELATED: Final = 50
_COLUMNS: Final = (
    "id",
    "policy_id",
    "customer_id",
    "account_key",
    "claim_type",
    "claim_status",
    "claim_description",
    "incident_date",
    "created_at",
    "claim_amount_minor",
    "offer_amount_minor",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimLine:
    """A claim in a short list, with its relations to the claim under review, in words."""

    id: UUID
    reference: str
    claim_type: str
    status: str
    description: str
    incident_on: str | None
    lodged_at: datetime
    claimed_minor: int
    offered_minor: int
    relations: tuple[str, ...] = ()


def list_related(session: ScopedSession, claim: Claim) -> list[ClaimLine]:
    """List the other claims on the same policy, customer or payout account, newest first, at most 50."""
    matches = [col(Claim.policy_id) == claim.policy_id, col(Claim.customer_id) == claim.customer_id]
    if claim.account_key is not None:
        matches.append(col(Claim.account_key) == claim.account_key)
    return [
        _line(row, _find_relations(row, claim)) for row in _rows(session, sa.or_(*matches), col(Claim.id) != claim.id)
    ]


def list_by_policy(session: ScopedSession, policy_id: UUID) -> list[ClaimLine]:
    """List the claims on a policy, newest first, at most 50."""
    return [_line(row) for row in _rows(session, col(Claim.policy_id) == policy_id)]


def describe_fraud_flags(claim: Claim, related_claims: Sequence[ClaimLine]) -> list[str]:
    """Describe the fraud flags of a claim: those stored at intake, and a payout account shared with a related claim."""
    flags = {*claim.flags, *(["same_account"] if any(ACCOUNT in line.relations for line in related_claims) else [])}
    return [explanation for name, explanation in requirements.FLAG_DESCRIPTIONS.items() if name in flags]


def _rows(session: ScopedSession, *conditions: sa.ColumnElement[bool]) -> Sequence[Any]:
    columns = (col(getattr(Claim, name)) for name in _COLUMNS)
    query = sa.select(*columns).where(col(Claim.deleted_at).is_(None), *conditions)
    return session.execute(query.order_by(col(Claim.created_at).desc(), col(Claim.id).desc()).limit(MAX_RELATED)).all()


def _find_relations(row: Any, claim: Claim) -> tuple[str, ...]:
    relations = {
        POLICY: row.policy_id == claim.policy_id,
        CUSTOMER: row.customer_id == claim.customer_id,
        ACCOUNT: claim.account_key is not None and row.account_key == claim.account_key,
    }
    return tuple(tie for tie, holds in relations.items() if holds)


def _line(row: Any, ties: tuple[str, ...] = ()) -> ClaimLine:
    return ClaimLine(
        id=row.id,
        reference=requirements.format_reference(row.id),
        claim_type=row.claim_type,
        status=row.claim_status,
        description=row.claim_description,
        incident_on=row.incident_date,
        lodged_at=row.created_at,
        claimed_minor=row.claim_amount_minor,
        offered_minor=row.offer_amount_minor,
        relations=ties,
    )
