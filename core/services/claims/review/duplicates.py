"""Claims that may ask for the same loss twice, judged from both sides and anew each time (contract C14)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.claims.intake import requirements, submitted
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimPayment, UploadedFile

SAME_INCIDENT: Final = "the same incident on this policy"
SAME_DOCUMENT: Final = "the same document"
SAME_ACCOUNT: Final = "the same payout account"
SAME_PHONE: Final = "the same phone, another customer"
VELOCITY_PERIOD: Final = timedelta(days=90)
VELOCITY_LIMIT: Final = 3
# Matches that say that it is the same loss; the others only call for a look.
_SAME_LOSS: Final = frozenset({SAME_INCIDENT, SAME_DOCUMENT})
_MOST: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Duplicate:
    """Another open or paid claim that matches, with what the two have in common."""

    id: UUID
    reference: str
    status: str
    matches: tuple[str, ...]

    @property
    def is_same_loss(self) -> bool:
        """True when the match shows the same loss rather than the same people."""
        return not _SAME_LOSS.isdisjoint(self.matches)

    @property
    def text(self) -> str:
        """The claim and its matches: "C-0a1b2c3d (Paid) has the same payout account"."""
        return f"{self.reference} ({self.status}) has {' and '.join(self.matches)}"


def find_duplicates(session: ScopedSession, claim: Claim) -> list[Duplicate]:
    """Find every other open or paid claim with the same incident, document, account or phone, newest first."""
    sharing_ids = _find_sharing_documents(session, claim)
    matches = [col(Claim.policy_id) == claim.policy_id, col(Claim.id).in_(sharing_ids)]
    if claim.account_key is not None:
        matches.append(col(Claim.account_key) == claim.account_key)
    if claim.claim_owner_phone_number:
        matches.append(col(Claim.claim_owner_phone_number) == claim.claim_owner_phone_number)
    was_paid = sa.exists().where(col(ClaimPayment.claim_id) == col(Claim.id))
    query = sa.select(Claim).where(
        sa.or_(*matches),
        col(Claim.id) != claim.id,
        col(Claim.is_live) == claim.is_live,
        col(Claim.deleted_at).is_(None),
        sa.or_(col(Claim.claim_status) != ClaimStatus.DECLINED, was_paid),
    )
    others = session.execute(query.order_by(col(Claim.created_at).desc(), col(Claim.id)).limit(_MOST)).scalars()
    found = ((other, _match(claim, other, shares_document=other.id in sharing_ids)) for other in others)
    return [
        Duplicate(
            id=other.id,
            reference=requirements.format_reference(other.id),
            status=other.claim_status,
            matches=matches_found,
        )
        for other, matches_found in found
        if matches_found
    ]


def count_recent(session: ScopedSession, claim: Claim) -> int:
    """Count the claims of the same phone, account or e-mail in the 90 days up to this one, itself included."""
    same = [col(Claim.claim_owner_email) == claim.claim_owner_email]
    if claim.claim_owner_phone_number:
        same.append(col(Claim.claim_owner_phone_number) == claim.claim_owner_phone_number)
    if claim.account_key is not None:
        same.append(col(Claim.account_key) == claim.account_key)
    query = sa.select(sa.func.count()).where(
        sa.or_(*same),
        col(Claim.is_live) == claim.is_live,
        col(Claim.deleted_at).is_(None),
        col(Claim.created_at) > claim.created_at - VELOCITY_PERIOD,
        col(Claim.created_at) <= claim.created_at,
    )
    return int(session.execute(query).scalar_one())


def _match(claim: Claim, other: Claim, *, shares_document: bool) -> tuple[str, ...]:
    is_same_policy = other.policy_id == claim.policy_id
    shares_document = shares_document or (is_same_policy and not _links(claim).isdisjoint(_links(other)))
    phone = claim.claim_owner_phone_number
    found = {
        SAME_INCIDENT: is_same_policy and _incident(claim) is not None and _incident(other) == _incident(claim),
        SAME_DOCUMENT: shares_document,
        SAME_ACCOUNT: claim.account_key is not None and other.account_key == claim.account_key,
        SAME_PHONE: bool(phone) and other.claim_owner_phone_number == phone and other.customer_id != claim.customer_id,
    }
    return tuple(match for match, holds in found.items() if holds)


def _incident(claim: Claim) -> str | None:
    incident: str | None = submitted.get_meta(claim).get("incident_type")
    return incident


def _links(claim: Claim) -> set[str]:
    return {link for name in submitted.list_document_names(claim) if (link := submitted.get_meta(claim).get(name))}


def _find_sharing_documents(session: ScopedSession, claim: Claim) -> Sequence[UUID]:
    """Return the ids of claims that were sent a file with the same content."""
    codes = {link.rpartition("/")[2] for link in _links(claim)}
    mine = sa.or_(col(UploadedFile.claim_id) == claim.id, col(UploadedFile.code).in_(codes))
    hashes = sa.select(col(UploadedFile.sent_sha256)).where(mine)
    others = sa.select(col(UploadedFile.claim_id)).where(
        col(UploadedFile.sent_sha256).in_(hashes),
        col(UploadedFile.claim_id).is_not(None),
        col(UploadedFile.claim_id) != claim.id,
    )
    return list(session.execute(others.distinct()).scalars())
