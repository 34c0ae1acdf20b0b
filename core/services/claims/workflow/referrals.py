"""Referral of a prepared decision to a supervisor, of a payment to finance; any move closes it (contract C15)."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import ids, money
from core.covers import request
from core.covers.request import refuse_unless
from core.errors import StateForbids
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import guards as claim_guards
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.inputs import ReferralInput
from core.services.people.staff import Person
from core.states.claims import AskedRole, ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, ClaimReferral, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class Referral:
    """An open referral: whom it asks for which decision, the amount in kobo if it has one, and why."""

    asks_role: str
    to: str
    amount_minor: int | None
    note: str
    by: str
    by_id: UUID
    at: datetime

    @property
    def is_for_finance(self) -> bool:
        """True where a payment was handed to finance."""
        return self.asks_role == AskedRole.FINANCE


def find_open(session: ScopedSession, claim_id: UUID) -> Referral | None:
    """Return the open referral of a claim, None when there is none."""
    query: AnySelect = (
        sa.select(ClaimReferral, col(Staff.name).label("by"))
        .join(Staff, col(Staff.id) == col(ClaimReferral.staff_id))
        .where(col(ClaimReferral.claim_id) == claim_id, col(ClaimReferral.closed_at).is_(None))
        .order_by(col(ClaimReferral.created_at).desc())
        .limit(1)
    )
    row = session.execute(query).one_or_none()
    if row is None:
        return None
    found = row.ClaimReferral
    return Referral(
        asks_role=found.asks_role,
        to=found.to_status,
        amount_minor=found.amount_minor,
        note=found.note,
        by=row.by,
        by_id=found.staff_id,
        at=found.created_at,
    )


def refer_claim(
    session: ScopedSession,
    claim_id: UUID,
    *,
    to: str,
    note: str,
    person: Person,
    version: int,
    amount: Decimal | str | None = None,
) -> ClaimChange:
    """Refer a decision with its amount in naira and a note to the supervisors, in place of an earlier referral.

    StateForbids for a transition that does not exist and for a supervisor, who decides; InvalidInput for an amount of
    a decision that has none.
    """
    inputs: ReferralInput = request.validate(ReferralInput, {"referral_amount": amount, "referral_note": note})
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    transition = claim_guards.require_transition(claim, ClaimStatus(to) if to in set(ClaimStatus) else to)
    if person.has_role("supervisor"):
        raise StateForbids("A supervisor decides: there is nobody to refer it to")
    if (standing := find_open(session, claim.id)) and standing.is_for_finance:
        raise StateForbids("The payment is with finance: a supervisor can take it back first")
    given = inputs.referral_amount is not None
    refuse_unless([(not given or transition.column is not None, "referral_amount", f"is no part of the move to {to}")])
    before = claim_changes.get_audited_facts(claim)
    at = claim_changes.next_instant(claim)
    amount_minor = None if inputs.referral_amount is None else money.to_minor(inputs.referral_amount)
    open_referral(
        session, claim, to=transition.to, amount_minor=amount_minor, note=inputs.referral_note, person=person, at=at
    )
    facts: dict[str, Any] = {"referred_for": str(transition.to), "note": inputs.referral_note}
    if amount_minor is not None:
        facts["referred_amount"] = money.to_wire(amount_minor)
    return claim_changes.save_change(session, claim, before, person=person, action="claim referred", extra_facts=facts)


def open_referral(
    session: ScopedSession,
    claim: Claim,
    *,
    to: str,
    amount_minor: int | None,
    note: str,
    person: Person,
    at: datetime,
    asks_role: AskedRole = AskedRole.SUPERVISOR,
) -> None:
    """Write a referral in place of the one that is open."""
    close(session, claim, person=person, at=at)
    session.insert(
        ClaimReferral(
            id=ids.new(),
            distributor_id=claim.distributor_id,
            is_live=claim.is_live,
            claim_id=claim.id,
            asks_role=asks_role,
            to_status=to,
            amount_minor=amount_minor,
            note=note,
            staff_id=person.id,
            created_at=at,
        )
    )


def close(session: ScopedSession, claim: Claim, *, person: Person, at: datetime) -> None:
    """Close the open referral of a claim, if there is one."""
    session.execute(
        sa.update(ClaimReferral)
        .where(col(ClaimReferral.claim_id) == claim.id, col(ClaimReferral.closed_at).is_(None))
        .values(closed_at=at, closed_by=person.id)
        .execution_options(synchronize_session=False)
    )
