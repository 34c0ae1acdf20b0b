"""Paying an accepted offer in parts: the claim is Paid with the last one (contract C10)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from core import money
from core.covers import request
from core.covers.request import refuse_unless
from core.errors import StateForbids
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import guards as claim_guards
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import referrals as claim_referrals
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.inputs import PaymentInput, TransitionInput
from core.services.people.staff import Person
from core.states import claims as claim_states
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession


def pay_part(
    session: ScopedSession,
    claim_id: UUID,
    *,
    amount: Decimal | str,
    payment_reference: str,
    person: Person,
    version: int,
    payment: Mapping[str, Any] | None = None,
) -> ClaimChange:
    """Pay a part of an accepted offer in naira; the claim stays Offer accepted.

    What stands against paying the whole stands against a part, and authority is judged by the whole offer. Raises as
    a move to Paid does, and InvalidInput for an amount that is not less than what is left of the offer.
    """
    with claim_changes.refusals(claim_id, "pay a part", person=person):
        typed = {"amount": amount, "payment_reference": payment_reference}
        inputs: TransitionInput = request.validate(TransitionInput, typed)
        details: PaymentInput = request.validate(PaymentInput, dict(payment or {}))
        claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
        transition = claim_guards.require_transition(claim, ClaimStatus.PAID)
        judgement = claim_judgement.judge(session, claim, for_update=True)
        left = claim_payments.get_balance(claim, judgement.limits)
        minor = money.to_minor(inputs.amount or money.ZERO)
        refuse_unless(
            [(0 < minor < left, "amount", f"must be above 0 and below {money.format_naira(left)}, what is left")]
        )
        claim_guards.check_amount(transition, claim, person, inputs.model_copy(update={"amount": None}), judgement)
        before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
        reference = inputs.payment_reference or ""
        claim_payments.pay(
            session, claim, amount_minor=minor, reference=reference, details=details, person=person, at=at
        )
        claim.payment_reference = inputs.payment_reference
        # The amount that was handed to finance, if it was, is another one now.
        claim_referrals.close(session, claim, person=person, at=at)
        claim_reserves.reduce(session, claim, minor, reason="A part was paid", person=person, at=at)
        facts = {"paid": money.to_wire(minor)}
        return claim_changes.save_change(
            session, claim, before, person=person, action="claim paid in part", extra_facts=facts
        )


def take_back_part(
    session: ScopedSession, claim_id: UUID, *, payment_reference: str, note: str, person: Person, version: int
) -> ClaimChange:
    """Take the last part back that was paid of an accepted offer, as it came back; for supervisors, with a note.

    `payment_reference` is that of the return. StateForbids where no part of the offer stands.
    """
    with claim_changes.refusals(claim_id, "take a part back", person=person):
        typed = {"note": note, "payment_reference": payment_reference}
        inputs: TransitionInput = request.validate(TransitionInput, typed)
        claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
        if claim.claim_status != ClaimStatus.OFFER_ACCEPTED:
            raise StateForbids(f"A claim that is {claim.claim_status} has no part to take back: take its payment back")
        came_back = claim_states.TRANSITIONS.find(ClaimStatus.PAID, ClaimStatus.OFFER_ACCEPTED)
        assert came_back is not None  # noqa: S101 - the table has it
        judgement = claim_judgement.judge(session, claim, for_update=True)
        claim_guards.check_amount(came_back, claim, person, inputs, judgement)
        if not judgement.limits.offer_paid_minor:
            raise StateForbids("No part of this offer stands: there is nothing to take back")
        before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
        minor = claim_payments.reverse_last(
            session,
            claim,
            reference=inputs.payment_reference or "",
            reason=inputs.note,
            person=person,
            at=at,
        )
        claim_referrals.close(session, claim, person=person, at=at)
        claim_reserves.reduce(session, claim, -minor, reason="A part came back", person=person, at=at)
        facts = {"reversed": money.to_wire(minor), "note": inputs.note}
        return claim_changes.save_change(
            session, claim, before, person=person, action="claim part taken back", extra_facts=facts
        )
