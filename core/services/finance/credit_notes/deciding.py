"""A credit note from its refund to the bank: approved within a limit or by two, paid by another, returned (F8)."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import request
from core.covers.request import Request, refuse_unless
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services import approvals
from core.services.approvals import Subject
from core.services.audit import log as audit
from core.services.finance.credit_notes.numbering import number_of
from core.services.finance.payments.transitions import BankAnswer, ReturnInput
from core.services.people import own_interest, staff
from core.services.people.own_interest import Parties, refuse_own
from core.services.people.staff import Person
from core.services.policies import refunds
from core.services.transfers import Reference, keys_of
from core.states.credit_notes import TRANSITIONS, CreditNoteState
from core.store.access import ScopedSession
from core.store.schema.tables import Approval, CreditNote, CreditNotePayment, Customer, Policy, Refund

ROLE: Final = "finance"
# In kobo: what one person approves alone; above it somebody else approves it as well.
LIMIT: Final = 10_000_000
ADMIN_LIMIT: Final = 100_000_000
_STATE: Final = CreditNoteState
_KIND: Final = "credit note"


class PayeeInput(Request):
    """Input: who is paid; without a name it is the customer of the policy."""

    payee: Annotated[str, Field(min_length=2, max_length=200)] | None = None


class PaidInput(BankAnswer, PayeeInput):
    """Input: the bank's reference and day; a payee can be named once more, and is the one that was approved."""


class CameBackInput(ReturnInput):
    """Input: the day and the reason of a return, and its reference where it is not that of the payment."""

    bank_reference: Reference | None = None


def limit_of(by: Person) -> int:
    """Return the amount in kobo up to which a person approves alone."""
    return ADMIN_LIMIT if "admin" in by.roles else LIMIT


def approve(
    session: ScopedSession, note_id: UUID, typed: Mapping[str, Any] | None = None, *, by: Person
) -> CreditNoteState:
    """Approve a credit note for its payee, and return its state: above the person's limit it awaits a second one.

    An approved or returned note is approved anew for another payee: the former approval lapses. NotAllowed for who
    ended the policy, who approved it first, who paid it before, or has a password that somebody else has just reset;
    StateForbids while a claim on the policy is open, or once one was paid.
    """
    with _keep_refusal(by, "approval", note_id):
        row = _get_for_update(session, note_id, by, _STATE.APPROVED)
        given: PayeeInput = request.validate(PayeeInput, dict(typed or {}))
        payee = given.payee or row.payee or _get_customer(session, row)
        _refuse_approver(session, row, by)
        _refuse_claims(session, row)
        if row.state in (_STATE.APPROVED, _STATE.RETURNED):
            _take_off(session, row, payee, by)
        elif row.state == _STATE.SECOND_PERSON:
            _refuse_second(row, payee, by)
    now = clock.now()
    if row.state == _STATE.COMPUTED and row.total_minor > limit_of(by):
        first = {"payee": payee, "first_by": by.id, "first_at": now}
        _change(session, row, _STATE.SECOND_PERSON, by, "credit note approved first", told={"payee": payee}, **first)
        return _STATE.SECOND_PERSON
    approved = {"payee": payee, "approved_by": by.id, "approved_at": now}
    _change(session, row, _STATE.APPROVED, by, "credit note approved", told={"payee": payee}, **approved)
    role = "admin" if "admin" in by.roles else ROLE
    approvals.approve(session, _subject(row, payee), staff_id=by.id, role=role, limit_minor=limit_of(by), at=now)
    return _STATE.APPROVED


def load_people(session: ScopedSession, row: CreditNote) -> Parties:
    """Return the e-mails and phones of the customer and the policyholder to whom a refund goes back."""
    policy = session.get_one(Policy, session.get_one(Refund, row.refund_id).policy_id)
    customer = session.get_one(Customer, policy.customer_id)
    return Parties(
        emails=frozenset({policy.email.lower(), customer.email.lower()}),
        phones=frozenset(filter(None, (policy.phone, customer.phone_number))),
    )


def list_own_staff(session: ScopedSession, note_id: UUID) -> list[str]:
    """List the names of staff whose own a refund is by e-mail, phone or account."""
    people = load_people(session, session.get_one(CreditNote, note_id))
    return [person.name for person in own_interest.list_staff(session, people)]


def _refuse_approver(session: ScopedSession, row: CreditNote, by: Person) -> None:
    refuse_own(load_people(session, row), by)
    if row.made_by == by.actor:
        raise NotAllowed("You ended this policy: somebody else of finance approves what goes back")
    staff.refuse_resting(by)
    if by.id in {payment.paid_by for payment in payments_of(session, row.id)}:
        raise NotAllowed("You noted a payment or a return of it: somebody else of finance approves it")


def _refuse_second(row: CreditNote, payee: str, by: Person) -> None:
    if row.first_by == by.id:
        raise NotAllowed("You approved it first: somebody else of finance approves it as well")
    if payee != row.payee:
        raise InvalidInput.for_field("payee", f"was approved first as {row.payee}: both approve the same one")


def _take_off(session: ScopedSession, row: CreditNote, payee: str, by: Person) -> None:
    """Let the approval lapse whose payee is replaced: the note is computed again."""
    if payee == row.payee:
        raise StateForbids(f"It is approved for {row.payee} already: name another payee, or pay it")
    approvals.follow_change(session, _subject(row, payee), actor=by.actor, at=clock.now())
    nobody = dict.fromkeys(("first_by", "first_at", "approved_by", "approved_at", "returned_by", "returned_on"))
    _change(session, row, _STATE.COMPUTED, by, "credit note approval lapsed", told={"payee": payee}, **nobody)
    session.refresh(row)


def _subject(row: CreditNote, payee: str) -> Subject:
    return Subject(kind=_KIND, id=row.id, amount_minor=row.total_minor, parts={"the payee": payee})


def _get_customer(session: ScopedSession, row: CreditNote) -> str:
    policy = session.get_one(Policy, session.get_one(Refund, row.refund_id).policy_id)
    return f"{policy.first_name} {policy.last_name}"[:200]


def payments_of(session: ScopedSession, note_id: UUID) -> Sequence[CreditNotePayment]:
    """Return the payments and returns of a credit note, oldest first."""
    query = sa.select(CreditNotePayment).where(col(CreditNotePayment.credit_note_id) == note_id)
    ordered = query.order_by(col(CreditNotePayment.created_at), col(CreditNotePayment.id))
    return session.execute(ordered).scalars().all()


def pay(session: ScopedSession, note_id: UUID, typed: Mapping[str, Any], *, by: Person) -> None:
    """Note that an approved credit note was paid, once more after the bank returned it; never by who approved it.

    InvalidInput names every wrong field, another payee than the one approved, and a reference that was used before.
    """
    with _keep_refusal(by, "payment", note_id):
        row = _get_for_update(session, note_id, by, _STATE.PAID)
        _refuse_payer(session, row, by)
        given: PaidInput = request.validate(PaidInput, typed)
        payee = row.payee or _get_customer(session, row)
        refuse_unless(
            [
                (given.payee in (None, payee), "payee", f"is not {payee}, who was approved: another is approved anew"),
                (
                    row.approved_at is None or given.value_on >= clock.to_lagos_day(row.approved_at),
                    "value_on",
                    "must not be before the day of the approval",
                ),
            ]
        )
        _refuse_claims(session, row)
        if why := approvals.find_fault(session, _subject(row, payee)):
            raise StateForbids(approvals.describe_lapsed(why))
        if sum(each.amount_minor for each in payments_of(session, row.id)):
            raise StateForbids("A payment of it stands: nothing is left to pay")
        how: dict[str, Any] = {"payee": payee, "value_on": given.value_on}
        key = _record(session, row, by, amount_minor=row.total_minor, reference=given.bank_reference, **how)
    paid = {"reference": given.bank_reference, "reference_key": key, **how}
    told = {"reference": given.bank_reference, "value_on": str(given.value_on), "payee": payee}
    stamps = {"paid_by": by.id, "paid_at": clock.now(), "returned_by": None, "returned_on": None, "note": None}
    _change(session, row, _STATE.PAID, by, "credit note paid", told=told, **paid, **stamps)


def _refuse_payer(session: ScopedSession, row: CreditNote, by: Person) -> None:
    refuse_own(load_people(session, row), by)
    given = sa.select(col(Approval.staff_id)).where(
        col(Approval.subject_id) == row.id, col(Approval.subject_kind) == _KIND
    )
    if row.made_by == by.actor:
        raise NotAllowed("You ended this policy: somebody else of finance notes what goes back")
    if by.id in {row.first_by, row.approved_by, *session.execute(given).scalars()}:
        raise NotAllowed("You approved it: somebody else of finance notes its payment")
    staff.refuse_resting(by)


def _record(session: ScopedSession, row: CreditNote, by: Person, **values: Any) -> str:
    """Write a payment or a return, and return the key of its reference; InvalidInput where that names another one."""
    key, other = keys_of(values["reference"], is_return="reverses" in values)
    named = sa.select(col(CreditNotePayment.credit_note_id)).where(
        col(CreditNotePayment.reference_key) == other, col(CreditNotePayment.id) != values.get("reverses")
    )
    owned: dict[str, Any] = {"distributor_id": row.distributor_id, "is_live": row.is_live, "credit_note_id": row.id}
    made = CreditNotePayment(id=ids.new(), **owned, reference_key=key, paid_by=by.id, created_at=clock.now(), **values)
    if session.execute(named).first() is not None or not session.insert_if_absent(made):
        raise InvalidInput.for_field("bank_reference", "was used for another payment: give the reference of this one")
    return key


def return_payment(session: ScopedSession, note_id: UUID, typed: Mapping[str, Any], *, by: Person) -> None:
    """Note that the bank returned the payment of a credit note; it can be paid again.

    The return has its day, its reason and a reference, that of the payment if the bank gave no other. NotAllowed for
    who noted the payment.
    """
    with _keep_refusal(by, "return", note_id):
        row = _get_for_update(session, note_id, by, _STATE.RETURNED)
        refuse_own(load_people(session, row), by)
        given: CameBackInput = request.validate(CameBackInput, typed)
        standing = payments_of(session, row.id)[-1]
        if standing.paid_by == by.id:
            raise NotAllowed("You noted its payment: somebody else of finance notes that it came back")
        if given.returned_on < standing.value_on:
            raise InvalidInput.for_field("returned_on", "must not be before the day on which it was paid")
        reference = given.bank_reference or standing.reference
        how: dict[str, Any] = {"payee": standing.payee, "value_on": given.returned_on, "reason": given.reason}
        how |= {"reference": reference, "reverses": standing.id}
        _record(session, row, by, amount_minor=-standing.amount_minor, **how)
    values = {"returned_by": by.id, "returned_on": given.returned_on, "note": given.reason}
    told = {"returned_on": str(given.returned_on), "reason": given.reason, "reference": reference}
    _change(session, row, _STATE.RETURNED, by, "credit note returned", told=told, **values)


def _keep_refusal(by: Person, act: str, note_id: UUID) -> AbstractContextManager[None]:
    subject = audit.subject_of("credit_note", note_id)
    return audit.keep_refusal(actor=by.actor, action=f"credit note {act}", subject=subject)


def list_allowed(row: Any, by: Person) -> Sequence[str]:
    """List what this person may do with a credit note now: approve, approve anew for another payee, pay, return."""
    if not by.has_role(ROLE):
        return ()
    may_approve = row.made_by != by.actor and by.id not in (row.first_by, row.paid_by, row.returned_by)
    may_pay = row.made_by != by.actor and by.id not in (row.approved_by, row.first_by)
    first, anew = (("approve",), ("anew",)) if may_approve else ((), ())
    allowed: Mapping[CreditNoteState, Sequence[str]] = {
        _STATE.COMPUTED: first,
        _STATE.SECOND_PERSON: first,
        _STATE.APPROVED: ("pay",) if may_pay else anew,
        _STATE.PAID: ("return",) if row.paid_by != by.id else (),
        _STATE.RETURNED: ("pay",) if may_pay else anew,
    }
    return allowed.get(CreditNoteState(row.state), ())


def _get_for_update(session: ScopedSession, note_id: UUID, by: Person, to: CreditNoteState) -> CreditNote:
    if not by.has_role(ROLE):
        raise NotAllowed("Only finance works on credit notes")
    query = sa.select(CreditNote).where(col(CreditNote.id) == note_id).with_for_update()
    row: CreditNote | None = session.execute(query).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such credit note")
    TRANSITIONS.get(row.state, to)
    return row


def _refuse_claims(session: ScopedSession, row: CreditNote) -> None:
    """A claim that was lodged after the policy had ended holds the money back, and uses it up once it is paid."""
    refund = session.get_one(Refund, row.refund_id)
    policy = session.get_one(Policy, refund.policy_id)
    claims = refunds.list_policy_claims(session, policy.id)
    refunds.refuse_while_open(claims)
    terms = refunds.list_paid_terms(session, policy) if policy.activated else []
    term = next((each for each in terms if each.renewal_id == refund.renewal_id), None)
    if refunds.paid_on(term, terms, claims) if term else any(claim.was_paid for claim in claims):
        raise StateForbids("A claim was paid out of this term: correct the refund by an adjustment instead")


def _change(
    session: ScopedSession,
    row: CreditNote,
    state: CreditNoteState,
    by: Person,
    action: str,
    *,
    told: Mapping[str, str] | None = None,
    **values: Any,
) -> None:
    change = sa.update(CreditNote).where(col(CreditNote.id) == row.id).values(state=state, **values)
    session.execute(change.execution_options(synchronize_session=False))
    after = {"number": number_of(row.number), "amount": money.to_wire(row.total_minor), "state": state, **(told or {})}
    subject = audit.subject_of("credit_note", row.id)
    audit.write(session, actor=by.actor, action=action, subject=subject, before={"state": row.state}, after=after)
