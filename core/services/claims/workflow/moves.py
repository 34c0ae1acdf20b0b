"""A transition that nothing stands against, carried out: status, clock, history, money (contract C5, C9-C13)."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import ids, money
from core.services.claims.intake import requirements
from core.services.claims.workflow import approvals as claim_approvals
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import guards as claim_guards
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow import referrals as claim_referrals
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.inputs import PaymentInput, TransitionInput
from core.services.claims.workflow.judgement import Judgement
from core.services.claims.workflow.payments import Source
from core.services.people.staff import Person
from core.states import claims as claim_states
from core.states.claims import CHECKS, CLAIMS_ROLES, ClaimStatus, ClaimTransition, Effect
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimEvent


@dataclass(frozen=True, kw_only=True, slots=True)
class Move:
    """One transition with its inputs, judged before; `amount_minor` is what it is about, `details` how it is paid.

    `source` is the file or the transfer that a payment is one of several of, if it is.
    """

    transition: ClaimTransition
    person: Person
    inputs: TransitionInput = field(default_factory=TransitionInput)
    amount_minor: int = 0
    judgement: Judgement | None = None
    details: PaymentInput = field(default_factory=PaymentInput)
    source: Source | None = None


def apply(session: ScopedSession, claim: Claim, move: Move) -> ClaimChange:
    """Carry a transition out on a claim whose row is locked; whatever it needs was checked before."""
    transition, person = move.transition, move.person
    before = claim_changes.get_audited_facts(claim)
    claim.claim_status = transition.to
    if transition.column:
        setattr(claim, transition.column, move.amount_minor)
    _apply_effects(claim, transition, person, move.inputs)
    at = claim_changes.next_instant(claim)
    if Effect.SETS_APPROVER in transition.effects:
        claim_approvals.record(session, claim, person=person, at=at)
    claim_questions.close_question(session, claim.id, at=at)
    claim_questions.update_clock(claim, at=at, previous_status=transition.start)
    event = _build_event(claim, person, move.inputs.note, at=at)
    session.insert(event)
    facts: dict[str, Any] = {"note": move.inputs.note} if move.inputs.note else {}
    if move.inputs.estimate_document:
        facts["document"] = move.inputs.estimate_document
    facts |= _record_overrides(session, claim, move, event.id, at)
    facts |= _reverse(session, claim, move, at)
    claim_referrals.close(session, claim, person=person, at=at)
    claim_reserves.follow_transition(session, claim, transition, person=person, at=at)
    facts |= _pay(session, claim, move, at)
    return claim_changes.save_change(session, claim, before, person=person, action="claim moved", extra_facts=facts)


def renew_approval(
    session: ScopedSession, claim: Claim, inputs: TransitionInput, *, person: Person, judgement: Judgement
) -> ClaimChange:
    """Approve a claim again as it is now; its status and its offer stay, and it needs what an approval needs."""
    transition = claim_states.TRANSITIONS.find(ClaimStatus.REVIEWING, ClaimStatus.APPROVED)
    assert transition is not None  # noqa: S101 - the table has it
    claim_guards.check_amount(transition, claim, person, inputs, judgement)
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    claim.approved_by = person.id
    claim_approvals.record(session, claim, person=person, at=at)
    approvals = sa.select(col(ClaimEvent.id)).where(
        col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status) == ClaimStatus.APPROVED
    )
    latest = approvals.order_by(col(ClaimEvent.id).desc()).limit(1)
    if judgement.unmet:
        event_id = session.execute(latest).scalar_one()
        given: dict[str, Any] = {"event_id": event_id, "person": person, "at": at}
        claim_judgement.record_overrides(session, claim, judgement, inputs.reasons, **given)
    facts: dict[str, Any] = {"note": inputs.note} if inputs.note else {}
    return claim_changes.save_change(
        session, claim, before, person=person, action="claim approved anew", extra_facts=facts
    )


def _apply_effects(claim: Claim, transition: ClaimTransition, person: Person, inputs: TransitionInput) -> None:
    """Apply what a transition changes beside the status and its amount."""
    claim.decline_reason = inputs.reason or requirements.NOT_DECLINED
    if transition.start == ClaimStatus.DECLINED:
        claim.second_of = None
    if claim.assigned_to is None and transition.to != ClaimStatus.VIEWED and person.has_role(*CLAIMS_ROLES):
        # Who decides on a claim that nobody has takes it; who looks at it does not.
        claim.assigned_to = person.id
    if Effect.CLEARS_APPROVAL in transition.effects:
        claim.approved_by, claim.approved_amount_minor = None, 0
    if Effect.SETS_APPROVER in transition.effects:
        claim.approved_by = person.id
    if Effect.PAYS in transition.effects:
        claim.payment_reference = inputs.payment_reference
    if Effect.SETS_CLAIMED in transition.effects and not claim.claim_amount_minor:
        claim.claim_amount_minor = money.to_minor(claim_offers.get_amount_owed(claim) or money.ZERO)


def _record_overrides(
    session: ScopedSession, claim: Claim, move: Move, event_id: UUID, at: datetime
) -> dict[str, list[str]]:
    if CHECKS not in move.transition.needs or move.judgement is None or not move.judgement.unmet:
        return {}
    claim_judgement.record_overrides(
        session, claim, move.judgement, move.inputs.reasons, event_id=event_id, person=move.person, at=at
    )
    return {"against": [check.question for check in move.judgement.unmet]}


def _reverse(session: ScopedSession, claim: Claim, move: Move, at: datetime) -> dict[str, str]:
    if Effect.REVERSES not in move.transition.effects:
        return {}
    reference = move.inputs.payment_reference or ""
    reversed_minor = claim_payments.reverse_last(
        session, claim, reference=reference, reason=move.inputs.note, person=move.person, at=at
    )
    return {"reversed": money.to_wire(reversed_minor)}


def _pay(session: ScopedSession, claim: Claim, move: Move, at: datetime) -> dict[str, str]:
    if Effect.PAYS not in move.transition.effects:
        return {}
    claim_payments.pay(
        session,
        claim,
        amount_minor=move.amount_minor,
        reference=move.inputs.payment_reference or "",
        details=move.details,
        source=move.source,
        person=move.person,
        at=at,
    )
    return {"paid": money.to_wire(move.amount_minor)}


def _build_event(claim: Claim, person: Person, note: str | None, *, at: datetime) -> ClaimEvent:
    return ClaimEvent(
        id=ids.new(),
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim.id,
        status=claim.claim_status,
        note=note,
        staff_id=person.id,
        created_at=at,
    )
