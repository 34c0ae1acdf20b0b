"""A credit note from its refund to the bank: approved within a limit or by two, paid by another, returned (F8)."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money, reference, seal
from core.covers import request
from core.covers.fields import AccountNumber
from core.covers.request import Request, refuse_unless
from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.finance import parties
from core.services.finance.credit_notes import givers, sellers
from core.services.finance.credit_notes.givers import number_of
from core.services.finance.parties import Party
from core.services.finance.payments.settlement import BankAnswer, ReturnInput
from core.services.people import approvals, four_eyes, staff, transfers
from core.services.people.approvals import Subject
from core.services.people.four_eyes import Parties, refuse_own, refuse_same, require_second
from core.services.people.personal import build_phone_key
from core.services.people.staff import Person
from core.services.people.transfers import TypedReference
from core.services.policies import policies, refunds
from core.states.finance import CREDIT_NOTE_TRANSITIONS, CreditNoteState
from core.states.loan_books import RowOutcome
from core.store.access import ScopedSession
from core.store.expressions import phone_key, sum_of
from core.store.schema.tables import (
    Adjustment,
    Claim,
    CreditNote,
    CreditNotePayment,
    Customer,
    PaymentPayee,
    Policy,
    Refund,
    Staff,
    StaffDetail,
)

ROLE: Final = "finance"
# In kobo: what one person approves alone; above it somebody else approves it as well.
LIMIT: Final = 10_000_000
ADMIN_LIMIT: Final = 100_000_000
_COUNTS_FOR: Final = timedelta(days=30)
# In the log of an approval: what its approver alone, or anybody of the distributor, approved within 30 days.
IN_ALL: Final = "alone_in_all"
_STATE: Final = CreditNoteState
KIND: Final = "credit note"
_APPROVED, _APPROVED_FIRST = "credit note approved", "credit note approved first"
_DECISIONS: Final = frozenset({_APPROVED, _APPROVED_FIRST, "credit note paid", "credit note returned"})


class PayeeName(Request):
    """Input: the name of who is paid; without one it is the customer of the policy."""

    payee: Annotated[str, Field(min_length=2, max_length=200)] | None = None


class PayeeInput(PayeeName):
    """Input: who is paid, and on which account; what is left out is as it was approved before."""

    payee_bank: Annotated[str, Field(min_length=2, max_length=200)] | None = None
    payee_account: AccountNumber | None = None


class PaidInput(BankAnswer, PayeeName):
    """Input: the bank's reference and day; a payee can be named once more, and is the one that was approved."""


class Payee(NamedTuple):
    """Payee of a credit note with bank and whole account number; one from before accounts were asked for has none."""

    name: str
    bank: str | None = None
    number: str | None = None

    @property
    def account(self) -> str:
        """The account in words, with its last digits."""
        return f"account ending in {self.number[-4:]} at {self.bank}" if self.number else "no account"


class Seen(NamedTuple):
    """The payee, by its id, whom somebody saw on a screen before an act; None for nobody yet."""

    payee_id: UUID | None


def _refuse_unseen(row: CreditNote, seen: Seen | None) -> None:
    if seen and seen.payee_id != row.payee_id:
        raise StaleVersion("It was approved for another payee or account since you looked at it")


def limit_of(by: Person) -> int:
    """Return the amount in kobo up to which a person approves alone."""
    return ADMIN_LIMIT if "admin" in by.roles else LIMIT


def approve(
    session: ScopedSession,
    note_id: UUID,
    typed: Mapping[str, Any] | None = None,
    *,
    by: Person,
    seen: Seen | None = None,
) -> CreditNoteState:
    """Approve a credit note for its payee and account, and return its state.

    It awaits a second person above a limit, with what one person alone approved for the customer before, above
    another with all that this person, or anybody of the distributor's sales, approved alone in 30 days, for another
    payee than the customer, for an account that was named for another customer, where the holder has another name than
    at the sale or was erased since, and where this person sold or renewed the policy, or issued the key or made the
    password link of who did, or of who ended it.

    An approved or returned note is approved anew for another payee or account: the former approval lapses. StaleVersion
    where that was done since the approver has `seen` it. InvalidInput without an account. NotAllowed for who ended the
    policy or uploaded the book that did, who approved it first, who paid it before, whose own the refund or the account
    is, or who has a password that was just reset; StateForbids while a claim on the policy is open, or once one was
    paid, and where the distributor holds the premium.
    """
    # What two approve at one instant is judged with each other: by customer, and by account across customers.
    session.next_in_transaction("credit notes approved")
    with _keep_refusal(by, "approval", note_id):
        row = _get_for_update(session, note_id, by, _STATE.APPROVED)
        _refuse_unseen(row, seen)
        held = find_payee(session, row)
        payee = _judge_payee(session, row, typed or {}, held, by)
    now, role = clock.now(), "admin" if "admin" in by.roles else ROLE
    payee_id = row.payee_id if payee == held and row.payee_id else _freeze(session, row, payee, by)
    alone = row.total_minor + sum_alone(session, row, until=now, by_phone=True)
    in_all = sum_in_all(session, row, by.id, until=now)
    facts = {"payee": payee.name, "payee_account": seal.mask(payee.number) or "", "alone": money.to_wire(alone)}
    facts[IN_ALL] = money.to_wire(in_all)
    is_above = alone > limit_of(by) or in_all > reference.get_finance_limit("refunds_alone", by.roles)
    if row.state == _STATE.COMPUTED and (is_above or _takes_two(session, row, payee, by)):
        first = {"payee_id": payee_id, "first_by": by.id, "first_at": now}
        _change(session, row, _STATE.SECOND_PERSON, by, _APPROVED_FIRST, facts=facts, **first)
        return _STATE.SECOND_PERSON
    approved = {"payee_id": payee_id, "approved_by": by.id, "approved_at": now}
    facts["approvers"] = "2" if row.state == _STATE.SECOND_PERSON else "1"
    facts[sellers.BOOKS] = str(len(sellers.list_books(session, row)))
    _change(session, row, _STATE.APPROVED, by, _APPROVED, facts=facts, **approved)
    approvals.approve(session, _subject(row, payee), staff_id=by.id, role=role, limit_minor=limit_of(by), at=now)
    return _STATE.APPROVED


def _judge_payee(
    session: ScopedSession, row: CreditNote, typed: Mapping[str, Any], held: Payee | None, by: Person
) -> Payee:
    """Return whom this person may approve it for; a former approval for another one is taken off."""
    given: PayeeInput = request.validate(PayeeInput, dict(typed))
    payee = _choose_payee(session, row, given, held)
    _refuse_approver(session, row, payee, by)
    _refuse_claims(session, row)
    _refuse_corrected(session, row)
    _refuse_given_back(session, row)
    if row.state in (_STATE.APPROVED, _STATE.RETURNED):
        _take_off(session, row, payee, held, by)
    elif row.state == _STATE.SECOND_PERSON:
        _refuse_second(row, payee, held, by)
    return payee


def _takes_two(session: ScopedSession, row: CreditNote, payee: Payee, by: Person) -> bool:
    """True where two approve whatever the amount: for another payee, and for who had a part in the sale or its end."""
    return _is_to_another(session, row, payee) or sellers.has_part(session, row, by)


def _is_to_another(session: ScopedSession, row: CreditNote, payee: Payee) -> bool:
    """True for another payee than who bought, by name or by account, and where nobody can tell who did."""
    is_renamed = bool(list_renamed_by(session, _get_policy(session, row).id))
    is_known = is_customer(payee.name, _get_customer(session, row)) and not (is_renamed or _is_erased(session, row))
    return not is_known or _is_of_another(session, row, payee)


def _is_erased(session: ScopedSession, row: CreditNote) -> bool:
    """True where the customer was erased since it was approved (contract D2): its account is anybody's."""
    named = (col(PaymentPayee.credit_note_id) == row.id, col(PaymentPayee.name) == seal.ERASED)
    return session.count_rows(PaymentPayee, *named) > 0


def sum_alone(session: ScopedSession, row: CreditNote, *, until: datetime, by_phone: bool = False) -> int:
    """Return in kobo what one person alone approved for the customer of a refund in the 30 days before.

    A customer is the same by e-mail at every distributor and, with `by_phone`, by phone, however it is written.
    """
    customer = session.get_one(Customer, _get_policy(session, row).customer_id)
    same = [col(Customer.email_key) == customer.email_key]
    if by_phone and customer.phone_number:
        same.append(phone_key(col(Customer.phone_number)) == build_phone_key(customer.phone_number))
    query = sa.select(col(Refund.id)).join(Customer, col(Customer.id) == col(Refund.customer_id)).where(sa.or_(*same))
    return _sum_alone(session, row, col(CreditNote.refund_id).in_(query), until=until)


def sum_in_all(session: ScopedSession, row: CreditNote, approver_id: UUID, *, until: datetime) -> int:
    """Return in kobo, with the refund, what this person approved alone in 30 days, or anybody of its distributor.

    Whichever is more. The first bounds who names accounts, the second a distributor whose premium nobody paid.
    """
    by_person, by_seller = col(CreditNote.approved_by) == approver_id, col(CreditNote.distributor_id)
    sums = (_sum_alone(session, row, each, until=until) for each in (by_person, by_seller == row.distributor_id))
    return row.total_minor + max(sums)


def _sum_alone(session: ScopedSession, row: CreditNote, condition: sa.ColumnElement[bool], *, until: datetime) -> int:
    query = sa.select(sum_of(col(CreditNote.total_minor))).where(
        condition,
        col(CreditNote.is_live) == row.is_live,
        col(CreditNote.id) != row.id,
        col(CreditNote.first_by).is_(None),
        col(CreditNote.approved_at) <= until,
        col(CreditNote.approved_at) > until - _COUNTS_FOR,
    )
    return int(session.execute(query).scalar_one())


def find_payee(session: ScopedSession, row: CreditNote) -> Payee | None:
    """Return who a credit note is or was approved for; None before anybody approved it."""
    if row.payee_id is None:
        return None
    held = session.get_one(PaymentPayee, row.payee_id)
    return Payee(held.name, held.bank_name, transfers.open_account(held.sealed))


def _choose_payee(session: ScopedSession, row: CreditNote, given: PayeeInput, held: Payee | None) -> Payee:
    before = held or Payee(_get_customer(session, row))
    payee = Payee(given.payee or before.name, given.payee_bank or before.bank, given.payee_account or before.number)
    words = "must be given: a credit note is approved for an account"
    refuse_unless([(payee.bank is not None, "payee_bank", words), (payee.number is not None, "payee_account", words)])
    return payee


def _freeze(session: ScopedSession, row: CreditNote, payee: Payee, by: Person) -> UUID:
    given: dict[str, Any] = {"name": payee.name, "bank_name": payee.bank, "reason": "As approved"}
    at = {"staff_id": by.id, "created_at": clock.now()}
    return transfers.keep_payee(session, row, "credit_note_id", payee.number, **given, **at)


def _is_of_another(session: ScopedSession, row: CreditNote, payee: Payee) -> bool:
    """Return True where another customer was named with the account, or a party or somebody on the staff has it."""
    if not payee.number:
        return False
    key = seal.build_account_key(payee.number)
    customer_id = _get_policy(session, row).customer_id
    refunds_to = (
        sa.select(col(PaymentPayee.id))
        .join(CreditNote, col(CreditNote.id) == col(PaymentPayee.credit_note_id))
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .where(col(PaymentPayee.account_key) == key, col(Policy.customer_id) != customer_id)
    )
    claims_to = (
        sa.select(col(Claim.id))
        .outerjoin(PaymentPayee, col(PaymentPayee.claim_id) == col(Claim.id))
        .where(
            sa.or_(col(Claim.account_key) == key, col(PaymentPayee.account_key) == key),
            col(Claim.customer_id) != customer_id,
        )
    )
    of_staff = sa.select(col(StaffDetail.id)).where(col(StaffDetail.account_key) == key)
    queries = (refunds_to, claims_to, of_staff)
    return any(session.execute(query.limit(1)).first() is not None for query in queries) or parties.has_account(
        session, key
    )


def is_customer(name: str, customer: str) -> bool:
    """Return True where a payee is the customer by name, however it is spaced or written."""
    return " ".join(name.casefold().split()) == " ".join(customer.casefold().split())


def list_renamed_by(session: ScopedSession, policy_id: UUID, fields: Collection[str] = policies.NAMES) -> list[UUID]:
    """List who gave the holder of a policy another name by an endorsement: its refund goes to somebody else by that.

    Or another of these fields, such as the phone, by which the holder tells an account.
    """
    endorsed = policies.find_rows(session, policy_id)
    return [made.made_by for made in endorsed if policies.changes_any(made, fields)]


def load_people(session: ScopedSession, row: CreditNote) -> Parties:
    """Return the customer and the policyholder to whom a refund goes back, and every account it was approved for."""
    keys = sa.select(col(PaymentPayee.account_key)).where(col(PaymentPayee.credit_note_id) == row.id)
    accounts = frozenset(filter(None, session.execute(keys).scalars()))
    return replace(policies.load_holders(session, _get_policy(session, row)), account_keys=accounts)


def list_own_staff(session: ScopedSession, note_id: UUID) -> list[str]:
    """List the names of staff whose own a refund is by e-mail, phone or account."""
    people = load_people(session, session.get_one(CreditNote, note_id))
    return [person.name for person in four_eyes.list_staff(session, people)]


def _refuse_approver(session: ScopedSession, row: CreditNote, payee: Payee | None, by: Person) -> None:
    refuse_own(load_people(session, row), by)
    if payee and payee.number:
        refuse_own(Parties(account_keys=frozenset({seal.build_account_key(payee.number)})), by)
    _refuse_who_ended(session, row, by, "approves its refund")
    staff.refuse_resting(by)
    payments = payments_of(session, row.id)
    if by.id in {payment.paid_by for payment in payments}:
        raise NotAllowed("You noted a payment or a return of it: somebody else of finance approves it")
    _refuse_as_one(session, row, by, "approves it")
    if any(payment.reverses for payment in payments):
        _refuse_who_approved(session, row, by, "approves it after its payment came back")


def _refuse_who_ended(session: ScopedSession, row: CreditNote, by: Person, does: str) -> None:
    """NotAllowed for who ended the policy, uploaded the book that did, or gave its holder another name or phone."""
    if by.id in list_renamed_by(session, _get_policy(session, row).id, policies.NAMES | policies.PHONES):
        raise NotAllowed(f"You gave the holder of this policy another name or phone: somebody else of finance {does}")
    if row.made_by == by.actor:
        raise NotAllowed(f"You ended this policy: somebody else of finance {does}")
    if by.id in {book.uploader_id for book in sellers.list_books(session, row, RowOutcome.ENDED)}:
        raise NotAllowed(f"You uploaded the loan book that ended this policy: somebody else of finance {does}")


_FIRST: Final = "You approved it first: somebody else of finance approves it as well"


def _refuse_second(row: CreditNote, payee: Payee, held: Payee | None, by: Person) -> None:
    refuse_same(row.first_by, by, _FIRST)
    if held is not None and payee != held:
        field = "payee" if payee.name != held.name else "payee_account"
        first = held.name if field == "payee" else held.account
        raise InvalidInput.for_field(field, f"was approved first as {first}: both approve the same one")


def _take_off(session: ScopedSession, row: CreditNote, payee: Payee, held: Payee | None, by: Person) -> None:
    """Let the approval lapse whose payee is replaced, or whose approver has left: the note is computed again."""
    if row.state == _STATE.APPROVED and payee == held and _find_lapse(session, row, payee) is None:
        raise StateForbids(f"It is approved for {payee.name} and this account already: name another, or pay it")
    approvals.follow_change(session, _subject(row, payee), actor=by.actor, at=clock.now())
    nobody = dict.fromkeys(("first_by", "first_at", "approved_by", "approved_at"))
    _change(session, row, _STATE.COMPUTED, by, "credit note approval lapsed", facts={"payee": payee.name}, **nobody)
    session.refresh(row)


def _find_lapse(session: ScopedSession, row: CreditNote, payee: Payee) -> str | None:
    """Say why the approval does not stand; of two who approved, both have to be such as could approve today."""
    first: Staff | None = session.get(Staff, row.first_by) if row.first_by else None
    return approvals.find_fault(session, _subject(row, payee)) or (
        approvals.describe_gone(first, ROLE) if first else None
    )


def _subject(row: CreditNote, payee: Payee) -> Subject:
    parts = {"the payee": payee.name, "the account": [payee.bank, payee.number]}
    return Subject(kind=KIND, id=row.id, amount_minor=row.total_minor, parts=parts)


def _get_policy(session: ScopedSession, row: CreditNote) -> Policy:
    return session.get_one(Policy, session.get_one(Refund, row.refund_id).policy_id)


def _get_customer(session: ScopedSession, row: CreditNote) -> str:
    policy = _get_policy(session, row)
    return f"{policy.first_name} {policy.last_name}"[:200]


def payments_of(session: ScopedSession, note_id: UUID) -> Sequence[CreditNotePayment]:
    """Return the payments and returns of a credit note, oldest first."""
    query = sa.select(CreditNotePayment).where(col(CreditNotePayment.credit_note_id) == note_id)
    ordered = query.order_by(col(CreditNotePayment.created_at), col(CreditNotePayment.id))
    return session.execute(ordered).scalars().all()


def pay(
    session: ScopedSession, note_id: UUID, typed: Mapping[str, Any], *, by: Person, seen: Seen | None = None
) -> None:
    """Note that an approved credit note was paid, once more after the bank returned it; never by who approved it.

    StaleVersion where it was approved for another payee or account than the payer has `seen` and paid. InvalidInput
    names every wrong field, another payee than the one approved, and a reference that was used before.
    """
    with _keep_refusal(by, "payment", note_id):
        row = _get_for_update(session, note_id, by, _STATE.PAID)
        _refuse_unseen(row, seen)
        _refuse_payer(session, row, by)
        given: PaidInput = request.validate(PaidInput, typed)
        payee = find_payee(session, row) or Payee(_get_customer(session, row))
        other = f"is not {payee.name}, who was approved: another is approved anew"
        is_early = row.approved_at is not None and given.value_on < clock.to_lagos_day(row.approved_at)
        refuse_unless(
            [
                (given.payee in (None, payee.name), "payee", other),
                (not is_early, "value_on", "must not be before the day of the approval"),
            ]
        )
        _refuse_claims(session, row)
        _refuse_corrected(session, row)
        _refuse_given_back(session, row)
        if why := _find_lapse(session, row, payee):
            raise StateForbids(approvals.describe_lapsed(why))
        if transfers.sum_paid(session, CreditNotePayment, col(CreditNotePayment.credit_note_id) == row.id):
            raise StateForbids("A payment of it stands: nothing is left to pay")
        transfers.pay(
            session,
            CreditNotePayment,
            TypedReference(given.bank_reference, "bank_reference"),
            distributor_id=row.distributor_id,
            is_live=row.is_live,
            credit_note_id=row.id,
            amount_minor=row.total_minor,
            payee_id=row.payee_id,
            value_on=given.value_on,
            paid_by=by.id,
            created_at=clock.now(),
        )
    facts = {"reference": given.bank_reference, "value_on": str(given.value_on), "payee": payee.name}
    _change(session, row, _STATE.PAID, by, "credit note paid", facts=facts)


def _refuse_payer(session: ScopedSession, row: CreditNote, by: Person) -> None:
    refuse_own(load_people(session, row), by)
    _refuse_who_ended(session, row, by, "notes the payment of its refund")
    _refuse_who_approved(session, row, by, "notes its payment")
    if by.id in {payment.paid_by for payment in payments_of(session, row.id) if payment.reverses}:
        raise NotAllowed("You noted that its payment came back: somebody else of finance notes that it is paid again")
    staff.refuse_resting(by)


def _refuse_who_approved(session: ScopedSession, row: CreditNote, by: Person, does: str) -> None:
    """NotAllowed for who ever approved it, also for another payee."""
    log = audit.list_history(session, audit.subject_of("credit_note", row.id))
    approvers = {entry.actor for entry in log if entry.action in (_APPROVED, _APPROVED_FIRST)}
    if by.actor in approvers or by.id in {row.first_by, row.approved_by}:
        raise NotAllowed(f"You approved it: somebody else of finance {does}")
    _refuse_as_one(session, row, by, does)


def _refuse_as_one(session: ScopedSession, row: CreditNote, by: Person, does: str) -> None:
    """NotAllowed for who counts as somebody who approved it, or noted a payment or a return of it (contract A2)."""
    log = audit.list_history(session, audit.subject_of("credit_note", row.id))
    acts = [(entry.actor, entry.created_at) for entry in log if entry.action in _DECISIONS]
    if any(by.actor in others for others in four_eyes.list_as_one(session, acts).values()):
        raise NotAllowed(
            "You made the password link of somebody who approved, paid or returned it, or have your password by theirs:"
            f" somebody else of finance {does}"
        )


def return_payment(session: ScopedSession, note_id: UUID, typed: Mapping[str, Any], *, by: Person) -> None:
    """Note that the bank returned the payment of a credit note; it can be paid again.

    The return has its day, its reason and a reference, that of the payment if the bank gave no other. NotAllowed for
    who noted the payment, and for who approved it, by which it would be paid once more.
    """
    with _keep_refusal(by, "return", note_id):
        row = _get_for_update(session, note_id, by, _STATE.RETURNED)
        refuse_own(load_people(session, row), by)
        _refuse_who_approved(session, row, by, "notes that its payment came back")
        staff.refuse_resting(by)
        given: ReturnInput = request.validate(ReturnInput, typed)
        paid = transfers.find_standing(session, CreditNotePayment, col(CreditNotePayment.credit_note_id) == row.id)
        typed_reference = TypedReference(given.bank_reference, "bank_reference")
        how: dict[str, Any] = {"reason": given.reason, "value_on": given.returned_on, "by": by.id, "at": clock.now()}
        transfers.take_back(session, paid, typed_reference, **how)
        if approval := approvals.find_latest(session, KIND, row.id):
            approvals.lapse(session, approval.id, reason=approvals.CAME_BACK, actor=by.actor, at=how["at"])
    facts = {"returned_on": str(given.returned_on), "reason": given.reason, "reference": given.bank_reference or ""}
    _change(session, row, _STATE.RETURNED, by, "credit note returned", facts=facts)


def _keep_refusal(by: Person, act: str, note_id: UUID) -> AbstractContextManager[None]:
    subject = audit.subject_of("credit_note", note_id)
    return audit.keep_refusal(actor=by.actor, action=f"credit note {act}", subject=subject)


def find_refusals(session: ScopedSession, note_id: UUID, by: Person) -> dict[str, str]:
    """Return, of what a credit note waits for, why this person does not do it: approve, anew, pay or return."""
    row: CreditNote = session.get_one(CreditNote, note_id)
    refusals = {verb: _find_refusal(session, row, verb, by) for verb in _WAITS_FOR.get(CreditNoteState(row.state), ())}
    return {verb: refusal for verb, refusal in refusals.items() if refusal}


_WAITS_FOR: Final[Mapping[CreditNoteState, Sequence[str]]] = {
    _STATE.COMPUTED: ("approve",),
    _STATE.SECOND_PERSON: ("approve",),
    _STATE.APPROVED: ("pay", "anew"),
    _STATE.RETURNED: ("approve",),
    _STATE.PAID: ("return",),
}


def _find_refusal(session: ScopedSession, row: CreditNote, verb: str, by: Person) -> str | None:
    try:
        if verb == "pay":
            _refuse_payer(session, row, by)
        elif verb == "return":
            refuse_own(load_people(session, row), by)
            _refuse_who_approved(session, row, by, "notes that its payment came back")
            paid = transfers.find_standing(session, CreditNotePayment, col(CreditNotePayment.credit_note_id) == row.id)
            require_second(paid.paid_by, by, transfers.OWN_PAYMENT)
        else:
            refuse_same(row.first_by if verb == "approve" else None, by, _FIRST)
            _refuse_approver(session, row, None, by)
    except NotAllowed as refusal:
        return str(refusal)
    return None


def list_allowed(row: Any, by: Person) -> Sequence[str]:
    """List what this person may do with a credit note now: approve, approve anew for another payee, pay, return."""
    if not by.has_role(ROLE):
        return ()
    may_approve = row.made_by != by.actor and by.id not in (row.first_by, row.paid_by, row.returned_by)
    may_pay = row.made_by != by.actor and by.id not in (row.approved_by, row.first_by, row.returned_by)
    first, anew = (("approve",), ("anew",)) if may_approve else ((), ())
    allowed: Mapping[CreditNoteState, Sequence[str]] = {
        _STATE.COMPUTED: first,
        _STATE.SECOND_PERSON: first,
        _STATE.APPROVED: ("pay",) if may_pay else anew,
        _STATE.PAID: ("return",) if by.id not in (row.paid_by, row.approved_by, row.first_by) else (),
        _STATE.RETURNED: first if row.approved_by != by.id else (),
    }
    return allowed.get(CreditNoteState(row.state), ())


def _get_for_update(session: ScopedSession, note_id: UUID, by: Person, to: CreditNoteState) -> CreditNote:
    by.require_role(ROLE, otherwise="Only finance works on credit notes")
    row = session.lock(CreditNote, note_id, "credit note")
    CREDIT_NOTE_TRANSITIONS.get(row.state, to)
    return row


def _refuse_claims(session: ScopedSession, row: CreditNote) -> None:
    """A claim that was lodged after the policy had ended holds the money back, and uses it up once it is paid."""
    refund, policy = session.get_one(Refund, row.refund_id), _get_policy(session, row)
    claims = refunds.list_policy_claims(session, policy.id)
    refunds.refuse_while_open(claims)
    terms = refunds.list_paid_terms(session, policy) if policy.activated else []
    term = next((each for each in terms if each.renewal_id == refund.renewal_id), None)
    if refunds.paid_on(term, terms, claims) if term else any(claim.was_paid for claim in claims):
        raise StateForbids("A claim was paid out of this term: correct the refund by an adjustment instead")


def _refuse_corrected(session: ScopedSession, row: CreditNote) -> None:
    """StateForbids where the premium of the refund was corrected: it stands on the parties' accounts already."""
    _, minor = session.count_and_sum(col(Adjustment.total_minor), col(Adjustment.corrects_id) == row.refund_id)
    if minor:
        raise StateForbids(
            f"Its refund was corrected by {money.format_naira(minor)}: it does not go back to the customer any more as"
            " it is. Two people of finance take the correction back first"
        )


def describe_giver(session: ScopedSession, note_id: UUID) -> str | None:
    """Say that the distributor holds the premium and gives a refund back itself; None where we do."""
    if by := givers.list_given_by_distributors(session, col(CreditNote.id) == note_id).get(note_id):
        return f"The distributor holds the premium of its sales and has this refund back ({by}): it pays the customer"
    return None


def _refuse_given_back(session: ScopedSession, row: CreditNote) -> None:
    """StateForbids where the distributor gives it back: the customer would be paid twice."""
    parties.lock(session, Party("distributor", row.distributor_id))
    if why := describe_giver(session, row.id):
        raise StateForbids(why)


def _change(
    session: ScopedSession,
    row: CreditNote,
    state: CreditNoteState,
    by: Person,
    action: str,
    *,
    facts: Mapping[str, str] | None = None,
    **values: Any,
) -> None:
    session.change(CreditNote, col(CreditNote.id) == row.id, state=state, **values)
    after = {"number": number_of(row.number), "amount": money.to_wire(row.total_minor), "state": state, **(facts or {})}
    subject = audit.subject_of("credit_note", row.id)
    audit.write(session, actor=by.actor, action=action, subject=subject, before={"state": row.state}, after=after)
