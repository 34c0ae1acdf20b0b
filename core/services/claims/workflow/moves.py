"""Moves of a claim: from status to status with money, clock and history, and what changes none (contract C5-C13)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypedDict, Unpack
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money, reference
from core.covers import fields, request
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import demonstration
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import questions
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.judgement import Judgement
from core.services.claims.workflow.payments import PaymentInput, Source
from core.services.claims.workflow.transitions import Case, TransitionInput
from core.services.people import staff
from core.services.people.staff import Person
from core.states import claims as claim_states
from core.states.claims import CHECKS, CLAIMS_ROLES, DECIDED, ClaimStatus, ClaimTransition, Effect
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimEvent, ClaimPayment


class DeductionsInput(Request):
    """Deductions from an offer, in naira."""

    excess: fields.Naira
    betterment: fields.Naira


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
    _apply_effects(session, claim, transition, person, move.inputs)
    at = claim_changes.next_instant(claim)
    if Effect.SETS_APPROVER in transition.effects:
        claim_changes.record_approval(session, claim, person=person, at=at)
    questions.end_question(session, claim.id, closed_at=at)
    claim_clock.update(claim, at=at, previous_status=transition.start)
    done = {"note": move.inputs.note, "staff_id": person.id, "created_at": at}
    event = claim_changes.new_row(ClaimEvent, claim, status=claim.claim_status, **done)
    session.insert(event)
    facts: dict[str, Any] = {"note": move.inputs.note} if move.inputs.note else {}
    if Effect.SETS_APPROVER in transition.effects and move.judgement:
        facts |= _note_approval(move.judgement)
    if move.inputs.estimate_document:
        facts["document"] = move.inputs.estimate_document
    facts |= _record_overrides(session, claim, move, event.id, at)
    facts |= _reverse(session, claim, move, at)
    claim_tasks.close_referral(session, claim, person=person, at=at, begun=transition if transition.begins else None)
    claim_reserves.follow_transition(session, claim, transition, person=person, at=at)
    facts |= _pay(session, claim, move, at)
    return claim_changes.save_change(session, claim, before, person=person, action="claim moved", facts=facts)


_APPROVAL: Final = claim_states.TRANSITIONS.get(ClaimStatus.REVIEWING, ClaimStatus.APPROVED)


def _renew_approval(
    session: ScopedSession, claim: Claim, inputs: TransitionInput, *, person: Person, judgement: Judgement
) -> ClaimChange:
    """Approve a claim again as it is now; its status and its offer stay, and it needs what an approval needs."""
    claim_transitions.check_amount(Case(_APPROVAL, claim, person, judgement), inputs)
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    claim.approved_by = person.id
    claim_changes.record_approval(session, claim, person=person, at=at)
    approvals = sa.select(col(ClaimEvent.id)).where(
        col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status) == ClaimStatus.APPROVED
    )
    latest = approvals.order_by(col(ClaimEvent.id).desc()).limit(1)
    if judgement.unmet:
        event_id = session.execute(latest).scalar_one()
        given: dict[str, Any] = {"event_id": event_id, "person": person, "at": at}
        claim_judgement.record_overrides(session, claim, judgement, inputs.reasons, **given)
    facts = _note_approval(judgement)
    return claim_changes.save_change(session, claim, before, person=person, action="claim approved anew", facts=facts)


def _note_approval(judgement: Judgement) -> dict[str, Any]:
    """Return what the log of an approval has for `coverdesk check`: whose it is not, and the bound of an appeal."""
    named = {
        claim_judgement.PAYEE_NAMED_BY: {link.actor for link in claim_judgement.list_payee_setters(judgement.links)},
        claim_judgement.COVER_MADE_BY: judgement.cover_makers,
    }
    found: dict[str, Any] = {fact: sorted(actors) for fact, actors in named.items() if actors}
    if judgement.appeal_minor is not None:
        found[claim_judgement.BEFORE_DECLINE] = money.to_wire(judgement.appeal_minor)
    return found


def _apply_effects(
    session: ScopedSession, claim: Claim, transition: ClaimTransition, person: Person, inputs: TransitionInput
) -> None:
    claim.decline_reason = inputs.reason or submitted.NOT_DECLINED
    is_appealed = transition.start == ClaimStatus.DECLINED
    if is_appealed:
        claim.second_of = None
    if transition.to != ClaimStatus.VIEWED and person.has_role(*CLAIMS_ROLES):
        # Who decides on a claim that nobody has takes it, and who takes up an appeal, on which who declined approves
        # nothing; who looks at it does not.
        is_taken = claim.assigned_to is not None and claim.assigned_to in staff.list_active(session, *CLAIMS_ROLES)
        if is_appealed or not is_taken:
            claim.assigned_to = person.id
    if Effect.CLEARS_APPROVAL in transition.effects:
        claim.approved_by, claim.approved_amount_minor = None, 0
    if Effect.SETS_APPROVER in transition.effects:
        claim.approved_by = person.id
    if Effect.PAYS in transition.effects:
        claim.payment_reference = inputs.payment_reference
    if Effect.SETS_CLAIMED in transition.effects and not claim.claim_amount_minor:
        claim.claim_amount_minor = money.to_minor(claim_limits.get_amount_owed(claim) or money.ZERO)


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
    return dict(claim_changes.end_by_return(session, claim, reversed_minor, person=move.person, at=at))


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


class MoveInputs(TypedDict, total=False):
    """Inputs of a move by an officer, as `TransitionInput` takes it.

    `amount` in naira is the estimate, the approved amount or the offer; `reasons` are by the keys of the coverage
    checks that are not met (contract C13), and `estimate_document` is the paper of the claim that has an estimate.
    """

    note: str | None
    amount: Decimal | str | None
    reason: str | None
    payment_reference: str | None
    reasons: Mapping[str, str]
    estimate_document: str | None


def move_claim(
    session: ScopedSession,
    claim_id: UUID,
    *,
    to: str,
    person: Person,
    version: int,
    payment: Mapping[str, Any] | None = None,
    **given: Unpack[MoveInputs],
) -> ClaimChange:
    """Move a claim to a status; `payment` is the `method` and `value_on` of a payment (contract C10).

    Without an amount the claim's own is used, and an offer follows the rule of C8. Raises NotAllowed, NotFound,
    StaleVersion, StateForbids or InvalidInput, naming what is missing; the claim is then unchanged.
    """
    status = reference.find_option(submitted.CLAIM_STATUSES, to)
    if status is None:
        raise InvalidInput.for_field("to", f"must be one of {', '.join(submitted.CLAIM_STATUSES)}")
    if payment and status != ClaimStatus.PAID:
        raise InvalidInput.for_field("payment", f"is no part of the move to {status}")
    details: PaymentInput = request.validate(PaymentInput, dict(payment or {}))
    with claim_changes.refusals(claim_id, f"move to {status}", person=person):
        inputs: TransitionInput = request.validate(
            TransitionInput, {**given, "reasons": dict(given.get("reasons", {}))}
        )
        claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
        transition = claim_transitions.require_transition(claim, status)
        claim_transitions.wait_for_authority(session, transition, person)
        judgement = claim_judgement.judge(session, claim, for_update=True)
        move = Move(
            transition=transition,
            person=person,
            inputs=inputs,
            amount_minor=claim_transitions.check_amount(Case(transition, claim, person, judgement), inputs),
            judgement=judgement,
            details=details,
        )
        return apply(session, claim, move)


def approve_anew(
    session: ScopedSession,
    claim_id: UUID,
    *,
    person: Person,
    version: int,
    reasons: Mapping[str, str] | None = None,
) -> ClaimChange:
    """Approve a claim again whose approval has lapsed, as it is now and by the same amount; its status stays.

    Whatever an approval needs is needed again. StateForbids where the approval stands or there is none, and
    NotAllowed also for who made the change that ended it.
    """
    inputs: TransitionInput = request.validate(TransitionInput, {"reasons": dict(reasons or {})})
    with claim_changes.refusals(claim_id, "approve anew", person=person):
        claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
        approval = claim_changes.find_approval(session, claim)
        if approval is None or claim.claim_status in DECIDED:
            raise StateForbids("Only an approval of a claim that is not decided is given anew")
        claim_transitions.wait_for_authority(session, _APPROVAL, person)
        judgement = claim_judgement.judge(session, claim, for_update=True)
        if judgement.approval_fault is None:
            raise StateForbids("The approval stands: there is nothing to approve anew")
        if person.actor in {approval.lapse and approval.lapse.actor, *claim_judgement.list_changers(session, claim)}:
            raise NotAllowed("A new approval needs somebody other than who made the change")
        return _renew_approval(session, claim, inputs, person=person, judgement=judgement)


# What takes two people at the desk: one operator of the server could be both of them.
BY_COMMAND: Final = "claim moved by command"
NOT_BY_COMMAND: Final = frozenset({ClaimStatus.APPROVED, ClaimStatus.OFFER_SENT, ClaimStatus.PAID})


def move_by_command(
    session: ScopedSession, claim_id: UUID, *, to: str, person: Person, terminal: str, **inputs: Any
) -> ClaimChange:
    """Move a claim from the command line, which the log says with `terminal`, the machine's user and its host.

    NotAllowed for an approval, an offer or a payment outside a demonstration (contract K11).
    """
    subject = audit.subject_of("claim", claim_id)
    status = reference.find_option(submitted.CLAIM_STATUSES, to)
    facts = {"to": status or to[:30], "officer": person.email}
    with audit.keep_command_refusal(terminal=terminal, action=BY_COMMAND, subject=subject, **facts):
        is_demonstration = demonstration.is_demonstrating(session)
        if status in NOT_BY_COMMAND and not is_demonstration:
            raise NotAllowed(
                f"The command line makes no claim {status}: an officer does, signed in, on the claim's page"
            )
        acting = person if is_demonstration else _as_officer(person)
        change = move_claim(session, claim_id, to=to, person=acting, **inputs)
    audit.write(session, actor=terminal, action=BY_COMMAND, subject=subject, after=facts)
    return change


def _as_officer(person: Person) -> Person:
    """Return somebody who works claims with the authority of an officer: whoever types the name is no supervisor."""
    return replace(person, roles=("claims",)) if person.has_role(*CLAIMS_ROLES) else person


def open_claim(session: ScopedSession, claim_id: UUID, *, person: Person) -> ClaimChange:
    """Open a claim for review: a Pending one becomes Viewed, any other is unchanged (contract C5)."""
    claim_changes.require_claims_role(person)
    query = sa.select(Claim).where(col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None))
    claim = session.find_scalar(query, otherwise="Claim not found")
    if claim.claim_status != ClaimStatus.PENDING:
        return ClaimChange(claim_status=claim.claim_status, version=claim.version)
    claim = claim_changes.get_for_update(session, claim_id)
    transition = claim_states.TRANSITIONS.find(claim.claim_status, ClaimStatus.VIEWED)
    if transition is None:
        # Somebody else opened or moved it while this transaction waited for the row lock.
        return ClaimChange(claim_status=claim.claim_status, version=claim.version)
    return apply(session, claim, Move(transition=transition, person=person))


def link_second_submission(
    session: ScopedSession, claim_id: UUID, *, first: str, person: Person, version: int
) -> ClaimChange:
    """Close a claim as the second submission of another one of its policy, given by reference; that one is worked.

    It stands against the first no more. StateForbids for a decided claim, one that was approved, or one of which
    anything was ever paid; InvalidInput where there is no such other open claim on the policy.
    """
    claim = _get_undecided(session, claim_id, person, version)
    was_paid = session.count_rows(ClaimPayment, col(ClaimPayment.claim_id) == claim.id) > 0
    if was_paid or claim.approved_by is not None:
        raise StateForbids(f"This claim was {'paid' if was_paid else 'approved'}: link the other one to it")
    wanted = first.strip().upper()
    others = sa.select(Claim).where(
        col(Claim.policy_id) == claim.policy_id, col(Claim.id) != claim.id, col(Claim.deleted_at).is_(None)
    )
    found = [each for each in session.execute(others).scalars() if submitted.format_reference(each.id) == wanted]
    if not found or found[0].second_of is not None or found[0].claim_status == ClaimStatus.DECLINED:
        raise InvalidInput.for_field("first", "must be another claim of this policy that is worked or paid")
    claim.second_of = found[0].id
    note = f"Submitted a second time: it is handled as {wanted}"
    return move_claim(
        session, claim_id, to=ClaimStatus.DECLINED, person=person, version=version, reason="duplicate", note=note
    )


def assign_claim(
    session: ScopedSession, claim_id: UUID, *, to: UUID | None, person: Person, version: int
) -> ClaimChange:
    """Assign a claim to an officer or to nobody; InvalidInput for staff who are unknown, disabled or work no claims."""
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    if to is not None and to not in staff.list_active(session, *CLAIMS_ROLES):
        raise InvalidInput.for_field("assigned_to", "must be a claims officer or a supervisor")
    before = claim_changes.get_audited_facts(claim)
    claim.assigned_to = to
    return claim_changes.save_change(session, claim, before, person=person, action="claim assigned")


def set_deductions(
    session: ScopedSession, claim_id: UUID, *, excess: Decimal, betterment: Decimal, person: Person, version: int
) -> ClaimChange:
    """Set in naira what comes off before an offer (contract C8); not once an offer is accepted or the claim decided."""
    inputs: DeductionsInput = request.validate(DeductionsInput, {"excess": excess, "betterment": betterment})
    claim = _get_undecided(session, claim_id, person, version)
    if claim.claim_status in claim_limits.OFFER_FIXED:
        raise StateForbids("The deductions stand with the offer that was accepted: a supervisor can take it back first")
    _refuse_lowered(claim, money.to_minor(inputs.excess) + money.to_minor(inputs.betterment), person)
    before = claim_changes.get_audited_facts(claim)
    claim.excess_deduction_amount_minor = money.to_minor(inputs.excess)
    claim.betterment_deduction_amount_minor = money.to_minor(inputs.betterment)
    return claim_changes.save_change(session, claim, before, person=person, action="claim deductions set")


def _refuse_lowered(claim: Claim, wanted_minor: int, person: Person) -> None:
    """NotAllowed for an officer who takes off less than somebody else approved the claim with: more is paid by that."""
    stands_minor = claim.excess_deduction_amount_minor + claim.betterment_deduction_amount_minor
    if claim.approved_by not in (None, person.id) and wanted_minor < stands_minor:
        with claim_changes.refusals(claim.id, "deductions", person=person):
            claim_changes.require_supervisor(person, "Lowering what comes off an approved claim needs a supervisor")


def _get_undecided(session: ScopedSession, claim_id: UUID, person: Person, version: int) -> Claim:
    claim = claim_changes.get_own_refused(session, claim_id, person=person, version=version)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} keeps its facts")
    return claim
