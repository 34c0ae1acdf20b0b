"""Claims that stand against a refund: open ones hold it back, paid ones use the premium up (contract S19)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import StateForbids
from core.services import records
from core.services.policies.paid_terms import PaidTerm
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimEvent

_NAMED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyClaim:
    """A claim on a policy as far as a refund depends on it; the day is that of the loss, or of the lodging."""

    id: UUID
    status: str
    happened_on: date
    is_open: bool
    was_paid: bool

    @property
    def reference(self) -> str:
        """The claim as people name it."""
        return records.claim_reference(self.id)

    def falls_in(self, term: PaidTerm) -> bool:
        """True for a loss on a day of the term."""
        return term.start_on <= self.happened_on < term.expiration_on


def of(session: ScopedSession, policy_id: UUID) -> list[PolicyClaim]:
    """The claims on a policy, oldest first. One that was paid stays paid, whatever was decided after."""
    paid = sa.exists().where(col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status) == ClaimStatus.PAID)
    columns = (Claim.id, Claim.claim_status, Claim.incident_date, Claim.created_at)
    query = sa.select(*(col(column) for column in columns), paid.label("was_paid"))
    rows = session.execute(
        query.where(col(Claim.policy_id) == policy_id, col(Claim.deleted_at).is_(None)).order_by(
            col(Claim.created_at), col(Claim.id)
        )
    )
    return [
        PolicyClaim(
            id=row.id,
            status=row.claim_status,
            happened_on=_day(row.incident_date) or clock.to_lagos_day(row.created_at),
            is_open=row.claim_status not in DECIDED,
            was_paid=row.was_paid,
        )
        for row in rows
    ]


def _day(written: str | None) -> date | None:
    return date.fromisoformat(written[:10]) if written else None


def refuse_while_open(claims: Sequence[PolicyClaim]) -> None:
    """StateForbids, with the claims that have to be decided first."""
    if waiting := [claim for claim in claims if claim.is_open]:
        verb = "is" if len(waiting) == 1 else "are"
        _refuse(f"{_named(waiting)} {verb} still open: what goes back is known once that is decided", waiting)


def refuse_paid(claims: Sequence[PolicyClaim]) -> None:
    """StateForbids, with the claims that were paid: such a policy cannot be undone as if it had never been."""
    if paid := [claim for claim in claims if claim.was_paid]:
        _refuse(f"{_named(paid)} was paid: the premium cannot go back whole. Cancel the policy instead", paid)


def paid_on(term: PaidTerm, terms: Sequence[PaidTerm], claims: Sequence[PolicyClaim]) -> str | None:
    """The claims that were paid out of a term, in words; one whose day lies in no term counts for every term."""
    found = [
        claim
        for claim in claims
        if claim.was_paid and (claim.falls_in(term) or not any(claim.falls_in(each) for each in terms))
    ]
    return _named(found) if found else None


def _refuse(text: str, claims: Sequence[PolicyClaim]) -> None:
    detail = [{"claim_id": str(claim.id), "reference": claim.reference, "status": claim.status} for claim in claims]
    raise StateForbids(text, detail={"claims": detail})


def _named(claims: Sequence[PolicyClaim]) -> str:
    named = ", ".join(f"{claim.reference} ({claim.status})" for claim in claims[:_NAMED])
    more = f" and {len(claims) - _NAMED} more" if len(claims) > _NAMED else ""
    return f"{'Claim' if len(claims) == 1 else 'Claims'} {named}{more}"
