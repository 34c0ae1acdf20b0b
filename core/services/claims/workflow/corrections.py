"""Corrections with a reason, before and after in the history: amounts, days, claimants, and the payee."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlmodel import col

from core import clock, money, seal
from core.covers import fields, request
from core.covers.claims.line import Claimant
from core.covers.fields import AccountNumber
from core.covers.request import Request, refuse_unless
from core.errors import StateForbids
from core.services.claims.intake import submitted
from core.services.claims.intake.new_claims import build_claimant_columns
from core.services.claims.review import fraud_flags
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow.changes import ClaimChange, Reason
from core.services.claims.workflow.payments import Payee
from core.services.people import transfers
from core.services.people.staff import Person
from core.services.policies import refunds
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, ClaimPayment, Policy


class PayeeInput(Request):
    """A payee with their account, and the reason for setting it."""

    payee: fields.Text
    payee_bank: fields.Text
    payee_account: AccountNumber
    payee_reason: Reason


class ReasonInput(Request):
    """Reason for a correction."""

    correction_reason: Reason


class IncidentDateInput(Request):
    """The date of an incident, and why it is another one than what is known."""

    incident_date: fields.TodayOrEarlier
    correction_reason: Reason | None = None


class AmountsInput(ReasonInput):
    """Submitted amounts as they should have been, in naira."""

    loan_amount: fields.PositiveNaira | None = None
    pending_repayment_amount: fields.Naira | None = None
    cost_of_repair: fields.PositiveNaira | None = None
    amount_claimed: fields.PositiveNaira | None = None


def correct_amounts(
    session: ScopedSession, claim_id: UUID, *, amounts: Mapping[str, Any], reason: str, person: Person, version: int
) -> ClaimChange:
    """Correct submitted amounts in naira; only a supervisor raises what is owed or was claimed by it.

    StateForbids once an offer was accepted; InvalidInput names an amount that the claim does not have or that is not
    one, and a pending repayment above the loan.
    """
    given: AmountsInput = request.validate(AmountsInput, {**amounts, "correction_reason": reason})
    claim = _get_open(session, claim_id, person, version)
    known, typed = submitted.list_amounts(claim), given.model_dump(exclude_none=True, exclude={"correction_reason"})
    wanted = {name: f"{value:.2f}" for name, value in typed.items()}
    merged = {**known, **wanted}
    over = known.keys() == set(submitted.LOAN_AMOUNTS) and Decimal(merged["pending_repayment_amount"] or 0) > Decimal(
        merged["loan_amount"] or 0
    )
    refuse_unless(
        [
            *((name in known, name, "is no part of this kind of claim") for name in wanted),
            (merged != dict(known), next(iter(known)), "is what it was: give another amount"),
            (not over, "pending_repayment_amount", "must not be more than loan_amount"),
        ]
    )
    before, figures = claim_changes.get_audited_facts(claim), _list_figures(claim)
    submitted.set_meta(claim, wanted)
    if claim.claim_amount_minor and (claimed := claim_limits.get_amount_claimed(claim)):
        claim.claim_amount_minor = money.to_minor(claimed)
    raised = [name for name, amount in _list_figures(claim).items() if amount > figures[name]]
    if raised:
        with claim_changes.refusals(claim_id, "correction", person=person):
            claim_changes.require_supervisor(person, f"Raising what {raised[0]} needs a supervisor")
    _flag_loan(session, claim)
    changed = {name: value for name, value in wanted.items() if value != known[name]}
    facts = {**changed, **{f"{name}_before": known[name] for name in changed}, "reason": given.correction_reason}
    return claim_changes.save_change(session, claim, before, person=person, action="claim corrected", facts=facts)


def _list_figures(claim: Claim) -> dict[str, Decimal]:
    """Return what bounds an approval, and what bounds the next estimate of an officer where one stands already."""
    return {
        "is owed": claim_limits.get_amount_owed(claim) or money.ZERO,
        "was claimed": claim_limits.get_amount_claimed(claim) or money.ZERO,
    }


def set_incident_date(
    session: ScopedSession, claim_id: UUID, *, on: date | str, person: Person, version: int, reason: str | None = None
) -> ClaimChange:
    """Set the day of the incident, with a reason where another one is known, and recompute the fraud flags.

    StateForbids once an offer was accepted, where a check that held would fail and a payment stands, and for a day of
    another term once it was paid; NotAllowed for an officer where a failed check would be met by it.
    """
    typed = {"incident_date": on, "correction_reason": reason}
    inputs: IncidentDateInput = request.validate(IncidentDateInput, typed)
    claim = _get_open(session, claim_id, person, version)
    before, day = claim_changes.get_audited_facts(claim), inputs.incident_date.isoformat()
    is_explained = claim.incident_date is None or inputs.correction_reason is not None
    refuse_unless([(is_explained, "correction_reason", "must be given: the day is known, and this is another one")])
    _refuse_other_term(session, claim, inputs.incident_date, person)
    failed = _list_failed_checks(session, claim)
    claim.flags = fraud_flags.recompute_flags(session, claim, inputs.incident_date)
    submitted.set_incident_date(claim, day)
    remaining = _list_failed_checks(session, claim)
    if mended := [check for check in failed if check not in remaining]:
        why = f"A day by which a failed check is met needs a supervisor: {', '.join(mended)}"
        with claim_changes.refusals(claim_id, "correction", person=person):
            claim_changes.require_supervisor(person, why)
    _refuse_paid(session, claim, [check for check in remaining if check not in failed], person)
    facts = {"reason": inputs.correction_reason} if inputs.correction_reason else {}
    return claim_changes.save_change(session, claim, before, person=person, action="claim incident dated", facts=facts)


def _refuse_paid(session: ScopedSession, claim: Claim, lost: Sequence[str], person: Person) -> None:
    """StateForbids where money stands that was paid for the loss as it was, and would not be owed for this one (K7)."""
    paid_minor = transfers.sum_paid(session, ClaimPayment, col(ClaimPayment.claim_id) == claim.id)
    if lost and paid_minor:
        with claim_changes.refusals(claim.id, "correction", person=person):
            paid = money.format_naira(paid_minor)
            raise StateForbids(
                f"{paid} was paid for the loss as it is known, and this day does not meet: {', '.join(lost)}."
                " Note that the payment came back first"
            )


def _refuse_other_term(session: ScopedSession, claim: Claim, day: date, person: Person) -> None:
    """StateForbids for a day of another term once the claim was paid: it used up the premium of the one that it has.

    A payment counts though one person has noted that it came back.
    """
    policy = session.get_one(Policy, claim.policy_id)
    terms = refunds.list_paid_terms(session, policy)
    term = refunds.find_term(terms, submitted.get_loss_day(claim))
    if term is None or refunds.find_term(terms, day) in (None, term):
        return
    if any(each.was_paid for each in refunds.list_policy_claims(session, policy.id) if each.id == claim.id):
        with claim_changes.refusals(claim.id, "correction", person=person):
            raise StateForbids(
                f"It was paid for a loss of the term from {clock.format_day(term.start_on)} on, whose premium it used"
                " up: a day of another term is of another claim"
            )


def _list_failed_checks(session: ScopedSession, claim: Claim) -> list[str]:
    return [check.question for check in claim_judgement.judge(session, claim).failed_checks]


def set_claimant(
    session: ScopedSession, claim_id: UUID, *, claimant: Mapping[str, Any], reason: str, person: Person, version: int
) -> ClaimChange:
    """Set who claims, with a reason; after a death it is not the owner (contract C16).

    StateForbids once an offer was accepted; InvalidInput names what is missing or wrong.
    """
    given: ReasonInput = request.validate(ReasonInput, {"correction_reason": reason})
    claim = _get_open(session, claim_id, person, version)
    typed = {**claimant, "incident_type": submitted.get_meta(claim).get("incident_type")}
    named: Claimant = request.validate(_ClaimantOf, typed)
    before = claim_changes.get_audited_facts(claim)
    previous = claim.claim_owner
    for column, value in build_claimant_columns(named, session.get_one(Policy, claim.policy_id)).items():
        setattr(claim, column, value)
    submitted.set_meta(claim, {"claimant_relation": named.claimant_relation})
    # Names stay out of the log, which cannot be erased.
    facts = {"claimant": named.claimant, "claimant_before": previous, "reason": given.correction_reason}
    return claim_changes.save_change(session, claim, before, person=person, action="claimant set", facts=facts)


class _IncidentOf(request.Request):
    incident_type: str | None = None


class _ClaimantOf(Claimant, _IncidentOf):
    """A claimant, judged by the incident."""


def _get_open(session: ScopedSession, claim_id: UUID, person: Person, version: int) -> Claim:
    claim = claim_changes.get_own_refused(session, claim_id, person=person, version=version)
    if claim.claim_status in claim_limits.OFFER_FIXED:
        raise StateForbids(f"A claim that is {claim.claim_status} keeps what was submitted")
    return claim


def _flag_loan(session: ScopedSession, claim: Claim) -> None:
    """Raise or lower the flag of a loan other than the insured one."""
    if claim.credit_life_claim_meta is None:
        return
    insured = session.get_one(Policy, claim.policy_id).submitted.get("loan_amount")
    flags = {*claim.flags} - {"loan_differs"}
    if claim.credit_life_claim_meta["loan_amount"] != insured:
        flags.add("loan_differs")
    claim.flags = [name for name in submitted.FLAG_DESCRIPTIONS if name in flags]


def set_payee(
    session: ScopedSession,
    claim_id: UUID,
    *,
    name: str,
    bank_name: str,
    account_number: str,
    reason: str,
    person: Person,
    version: int,
) -> ClaimChange:
    """Set who is paid, with a reason; whoever sets it does not pay it.

    StateForbids once the claim is decided, NotAllowed for an officer once the offer was accepted, InvalidInput names
    what is wrong.
    """
    typed = {"payee": name, "payee_bank": bank_name, "payee_account": account_number, "payee_reason": reason}
    given: PayeeInput = request.validate(PayeeInput, typed)
    with claim_changes.refusals(claim_id, "set the payee", person=person):
        claim = claim_changes.get_own_refused(session, claim_id, person=person, version=version)
        if claim.claim_status in DECIDED:
            raise StateForbids(f"A claim that is {claim.claim_status} keeps its payee")
        if claim.claim_status == ClaimStatus.OFFER_ACCEPTED:
            claim_changes.require_supervisor(person, "Once an offer was accepted, a supervisor changes the payee")
    before, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    hint = given.payee_account[-4:]
    if (referral := claim_tasks.find_open_referral(session, claim.id)) and referral.is_for_finance:
        # Finance pays whom the supervisor has seen: another payee is handed over anew.
        claim_tasks.close_referral(session, claim, person=person, at=at)
    claim_payments.insert_payee(
        session,
        claim,
        Payee(name=given.payee, bank_name=given.payee_bank, hint=hint, reason=given.payee_reason, set_by=person.id),
        number=given.payee_account,
        at=at,
    )
    claim.account_key = seal.build_account_key(given.payee_account)
    facts: dict[str, Any] = {"payee": given.payee, "payee_account": seal.mask(given.payee_account)}
    facts["payee_reason"] = given.payee_reason
    return claim_changes.save_change(session, claim, before, person=person, action="claim payee set", facts=facts)
