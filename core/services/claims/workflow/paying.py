"""Payments of accepted offers in parts, and those that finance makes, which pays and never approves (C10, C15)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money
from core.covers import fields, request
from core.covers.request import Request, refuse_unless
from core.errors import InvalidInput, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.judgement import Link
from core.services.claims.workflow.moves import Move
from core.services.claims.workflow.payments import BANK_TRANSFER, Payee, PaymentInput, Source
from core.services.claims.workflow.transitions import Case, TransitionInput
from core.services.people import transfers
from core.services.people.four_eyes import refuse_same
from core.services.people.staff import Person, join_names
from core.services.people.transfers import Reference, TypedReference
from core.states import claims as claim_states
from core.states.claims import AskedRole, ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Claim, ClaimReferral, Policy, Provider


class TransferInput(PaymentInput):
    """One transfer for several claims: its reference, and its total in naira."""

    payment_reference: Annotated[Reference, Field(min_length=2)]
    total: fields.PositiveNaira


class HandOverInput(Request):
    """Note on a payment that is handed to finance."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"hand_over_note"})

    hand_over_note: fields.LongText | None = None


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
        transition = claim_transitions.require_transition(claim, ClaimStatus.PAID)
        judgement = claim_judgement.judge(session, claim, for_update=True)
        left = claim_limits.get_balance(claim, judgement.limits)
        minor = money.to_minor(inputs.amount or money.ZERO)
        refuse_unless(
            [(0 < minor < left, "amount", f"must be above 0 and below {money.format_naira(left)}, what is left")]
        )
        whole = inputs.model_copy(update={"amount": None})
        claim_transitions.check_amount(Case(transition, claim, person, judgement), whole)
        before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
        reference = inputs.payment_reference or ""
        claim_payments.pay(
            session, claim, amount_minor=minor, reference=reference, details=details, person=person, at=at
        )
        claim.payment_reference = inputs.payment_reference
        # The amount that was handed to finance, if it was, is another one now.
        claim_tasks.close_referral(session, claim, person=person, at=at)
        claim_reserves.reduce(session, claim, minor, reason="A part was paid", person=person, at=at)
        facts = {"paid": money.to_wire(minor)}
        return claim_changes.save_change(
            session, claim, before, person=person, action="claim paid in part", facts=facts
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
        came_back = claim_states.TRANSITIONS.get(ClaimStatus.PAID, ClaimStatus.OFFER_ACCEPTED)
        judgement = claim_judgement.judge(session, claim, for_update=True)
        claim_transitions.check_amount(Case(came_back, claim, person, judgement), inputs)
        if not judgement.limits.offer_paid_minor:
            raise StateForbids("No part of this offer stands: there is nothing to take back")
        before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
        reference = inputs.payment_reference or ""
        minor = claim_payments.reverse_last(
            session, claim, reference=reference, reason=inputs.note, person=person, at=at
        )
        ended = claim_changes.end_by_return(session, claim, minor, person=person, at=at)
        claim_tasks.close_referral(session, claim, person=person, at=at)
        claim_reserves.reduce(session, claim, -minor, reason="A part came back", person=person, at=at)
        facts = {**ended, "note": inputs.note}
        return claim_changes.save_change(
            session, claim, before, person=person, action="claim part taken back", facts=facts
        )


PAYER_ROLE: Final = AskedRole.FINANCE
_NOT_THERE: Final = "This payment was not handed to finance, or was taken back"


@dataclass(frozen=True, kw_only=True, slots=True)
class HandOver:
    """A payment that waits for finance: what it needs of the claim, and nothing of its loss."""

    id: UUID
    distributor_id: UUID
    is_live: bool
    version: int
    reference: str
    provider: str
    claim_type: str
    payee: Payee
    amount_minor: int
    approved_name: str
    by: str
    at: datetime
    note: str
    links: Sequence[Link]


def hand_over(
    session: ScopedSession, claim_id: UUID, *, person: Person, version: int, note: str | None = None
) -> ClaimChange:
    """Hand the payment of an accepted offer to finance, for supervisors; in place of any other referral.

    StateForbids for a claim that is not Offer accepted and for one that could not be paid as it stands.
    """
    given: HandOverInput = request.validate(HandOverInput, {"hand_over_note": note})
    with claim_changes.refusals(claim_id, "hand to finance", person=person):
        claim = claim_changes.get_own_refused(session, claim_id, person=person, version=version)
        claim_changes.require_supervisor(person, "A supervisor hands a payment to finance")
        transition = claim_transitions.require_transition(claim, ClaimStatus.PAID)
        judgement = claim_judgement.judge(session, claim)
        of_claim = [need for need in transition.needs if not need.of_person]
        if missing := claim_transitions.list_unmet(of_claim, Case(transition, claim, person, judgement)):
            raise StateForbids(f"Paying needs {' and '.join(missing)}", detail={"missing": missing})
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    minor = claim_limits.get_balance(claim, judgement.limits)
    note, to = given.hand_over_note or "", transition.to
    claim_tasks.open_referral(
        session, claim, to=to, amount_minor=minor, note=note, person=person, at=at, asks_role=PAYER_ROLE
    )
    facts = {"to_pay": money.to_wire(minor)}
    return claim_changes.save_change(
        session, claim, before, person=person, action="claim handed to finance", facts=facts
    )


def take_back(session: ScopedSession, claim_id: UUID, *, person: Person, version: int) -> ClaimChange:
    """Take a payment back from finance before it is made, for supervisors; StateForbids where none is there."""
    claim = claim_changes.get_version_for_update(session, claim_id, person=person, version=version)
    claim_changes.require_supervisor(person, "A supervisor takes a payment back from finance")
    if _find_giver(session, claim) is None:
        raise StateForbids(_NOT_THERE)
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    claim_tasks.close_referral(session, claim, person=person, at=at)
    return claim_changes.save_change(session, claim, before, person=person, action="claim taken back from finance")


def get_account(session: ScopedSession, claim_id: UUID) -> str:
    """Return the whole number of the account that a payment which waits for finance goes to; for who may see it.

    StateForbids where the payment does not wait, NotFound where no account is named.
    """
    claim: Claim | None = session.get(Claim, claim_id)
    if claim is None or claim.deleted_at or _find_giver(session, claim) is None:
        raise StateForbids(_NOT_THERE)
    number = claim_payments.find_account(session, claim)
    if number is None:
        raise NotFound("No account is named")
    return number


def pay(
    session: ScopedSession,
    claim_id: UUID,
    *,
    person: Person,
    version: int,
    payment_reference: str | None = None,
    amount: Decimal | None = None,
    payment: Mapping[str, Any] | None = None,
    source: Source | None = None,
) -> ClaimChange:
    """Pay a claim that was handed to finance, with what is left of its offer; it is Paid by that.

    What stands against a payment by the desk stands against this one: the approver, who set the payee and who handed
    it over do not pay. Authority was that of the supervisor. An `amount` in naira has to be what is left, and
    `source` names the file or the transfer that the payment is one of several of.
    """
    require_payer(person)
    with claim_changes.refusals(claim_id, "pay", person=person):
        inputs, details = _read_inputs(payment_reference, amount, payment)
        claim = claim_changes.get_seen_for_update(session, claim_id, version=version)
        move = _judge(session, claim, person, inputs, details, for_update=True)
        return claim_moves.apply(session, claim, replace(move, source=source))


def pay_together(session: ScopedSession, seen: Mapping[UUID, int], typed: Mapping[str, Any], *, person: Person) -> UUID:
    """Pay several claims of one insurer by one transfer, each as `pay` does, and return the id of the transfer.

    `seen` has the version of each claim that was shown, `typed` the fields of `TransferInput`. All are paid or none:
    whatever stands against one of them stands against all, and a total that is not what they come to is refused.
    """
    require_payer(person)
    subject = audit.subject_of("claim", min(seen)) if seen else "claim"
    named = [submitted.format_reference(claim_id) for claim_id in sorted(seen)]
    with audit.keep_refusal(actor=person.actor, action="claim transfer", subject=subject, claims=named):
        given: TransferInput = request.validate(TransferInput, dict(typed))
        if len(seen) < 2:
            raise InvalidInput.for_field("claims", "must be two or more: one claim is paid by itself")
        lock_claims(session, seen)
        waiting = [each for each in list_open(session) if each.id in seen]
        _refuse_transfer(waiting, seen, given)
        transfer_id = transfers.register(
            session,
            TypedReference(given.payment_reference, "payment_reference"),
            is_live=waiting[0].is_live,
            amount_minor=sum(each.amount_minor for each in waiting),
            lines=len(waiting),
            by=person.id,
            at=clock.now(),
        )
        how: dict[str, Any] = {"payment_reference": given.payment_reference, "source": Source(transfer_id=transfer_id)}
        how["payment"] = {"method": given.method, "value_on": str(given.value_on)}
        for each in waiting:
            amount = money.to_naira(each.amount_minor)
            pay(session, each.id, person=person, version=seen[each.id], amount=amount, **how)
    amount_paid = money.to_wire(money.to_minor(given.total))
    after = {"reference": given.payment_reference, "claims": named, "amount": amount_paid}
    subject = audit.subject_of("transfer", transfer_id)
    audit.write(session, actor=person.actor, action="claims paid by one transfer", subject=subject, after=after)
    return transfer_id


def _refuse_transfer(waiting: Sequence[HandOver], seen: Mapping[UUID, int], given: TransferInput) -> None:
    if len(waiting) != len(seen):
        raise StateForbids(f"{_NOT_THERE}: look at the payments as they are now")
    if len({(each.provider, each.is_live) for each in waiting}) > 1:
        raise InvalidInput.for_field("claims", "must be of one insurer: each has transfers of its own")
    total = sum(each.amount_minor for each in waiting)
    wanted = f"must be what the {len(waiting)} claims come to, {money.format_naira(total)}"
    refuse_unless([(money.to_minor(given.total) == total, "total", wanted)])


def check_payment(
    session: ScopedSession,
    claim_id: UUID,
    *,
    person: Person,
    payment_reference: str | None = None,
    amount: Decimal | None = None,
    payment: Mapping[str, Any] | None = None,
) -> None:
    """Raise what `pay` would raise for the claim as it is now; nothing is locked and nothing changes."""
    require_payer(person)
    inputs, details = _read_inputs(payment_reference, amount, payment)
    claim: Claim | None = session.get(Claim, claim_id)
    if claim is None:
        raise NotFound("Claim not found")
    _judge(session, claim, person, inputs, details, for_update=False)
    reference = inputs.payment_reference or ""
    claim_payments.check_free(session, claim, reference=reference, details=details, person=person)


def require_payer(person: Person) -> None:
    """Raise NotAllowed unless the person is of finance."""
    person.require_role(PAYER_ROLE, otherwise="Only finance pays what was handed to finance")


def lock_claims(session: ScopedSession, claim_ids: Iterable[UUID]) -> None:
    """Lock several claims and their policies before they are paid together.

    Claims first and then policies, each in the order of their ids, as each payment alone does.
    """
    claims = sa.select(col(Claim.policy_id)).where(col(Claim.id).in_(list(claim_ids))).order_by(col(Claim.id))
    policy_ids = session.execute(claims.with_for_update()).scalars().all()
    policies = sa.select(col(Policy.id)).where(col(Policy.id).in_(policy_ids)).order_by(col(Policy.id))
    session.execute(policies.with_for_update()).all()


def _read_inputs(
    payment_reference: str | None, amount: Decimal | None, payment: Mapping[str, Any] | None
) -> tuple[TransitionInput, PaymentInput]:
    typed = {"payment_reference": payment_reference, "amount": None if amount is None else str(amount)}
    return request.validate(TransitionInput, typed), request.validate(PaymentInput, dict(payment or {}))


def _judge(
    session: ScopedSession,
    claim: Claim,
    person: Person,
    inputs: TransitionInput,
    details: PaymentInput,
    *,
    for_update: bool,
) -> Move:
    """Return the move that pays a claim that was handed over, once nothing stands against it."""
    giver = _find_giver(session, claim)
    if giver is None:
        raise StateForbids(_NOT_THERE)
    refuse_same(giver, person, "Whoever handed the payment to finance cannot pay it")
    transition = claim_transitions.require_transition(claim, ClaimStatus.PAID)
    judgement = claim_judgement.judge(session, claim, for_update=for_update)
    payer = replace(person, claim_limit_minor=None)
    minor = claim_transitions.check_amount(Case(transition, claim, payer, judgement), inputs)
    _refuse_without_account(session, claim, details)
    return Move(
        transition=transition, person=person, inputs=inputs, amount_minor=minor, judgement=judgement, details=details
    )


def _refuse_without_account(session: ScopedSession, claim: Claim, details: PaymentInput) -> None:
    """StateForbids for a bank transfer to a payee of whom no account is known."""
    payee = claim_payments.list_payees(session, claim)[-1]
    if details.method == BANK_TRANSFER and not payee.hint:
        raise StateForbids(
            f"No account of {payee.name} is named for {submitted.format_reference(claim.id)}: a supervisor sets the"
            " payee with an account before a bank transfer"
        )


_IS_HANDED_OVER: Final = (col(ClaimReferral.closed_at).is_(None), col(ClaimReferral.asks_role) == PAYER_ROLE)
_JOINED: Final = sa.and_(col(ClaimReferral.claim_id) == col(Claim.id), *_IS_HANDED_OVER)


def _find_giver(session: ScopedSession, claim: Claim) -> UUID | None:
    query = sa.select(col(ClaimReferral.staff_id)).where(col(ClaimReferral.claim_id) == claim.id, *_IS_HANDED_OVER)
    giver: UUID | None = session.execute(query.limit(1)).scalar_one_or_none()
    return giver


def count_open(session: ScopedSession) -> int:
    """Return the number of payments that wait for finance."""
    query = sa.select(sa.func.count()).select_from(Claim).join(ClaimReferral, _JOINED)
    return int(session.execute(query.where(col(Claim.deleted_at).is_(None))).scalar_one())


def list_open(session: ScopedSession) -> Sequence[HandOver]:
    """List the payments that wait for finance, the oldest first."""
    return [_build(session, row) for row in session.execute(_build_query()).all()]


def _build_query() -> AnySelect:
    query = (
        sa.select(Claim, ClaimReferral, col(Provider.company_name))
        .join(ClaimReferral, _JOINED)
        .join(Provider, col(Provider.id) == col(Claim.provider_id))
        .where(col(Claim.deleted_at).is_(None))
        .order_by(col(ClaimReferral.created_at), col(Claim.id))
    )
    return join_names(query, by=ClaimReferral.staff_id, approved_name=Claim.approved_by)


def _build(session: ScopedSession, row: Any) -> HandOver:
    claim, referral = row.Claim, row.ClaimReferral
    return build_row(
        HandOver,
        claim,
        referral,
        reference=submitted.format_reference(claim.id),
        provider=row.company_name,
        payee=claim_payments.list_payees(session, claim)[-1],
        approved_name=row.approved_name or "",
        by=row.by,
        at=referral.created_at,
        links=claim_judgement.list_shown_links(claim_judgement.list_links(session, claim)),
    )
