"""A credit note from its refund to the bank: approved within a limit or by two, paid by another, returned (F8)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money
from core.covers import request
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.finance.credit_notes.numbering import number_of
from core.services.finance.payments.transitions import BankAnswer, ReturnInput
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import paid_terms, refund_holds
from core.services.transfers import reference_key
from core.states.credit_notes import TRANSITIONS, CreditNoteState
from core.store.access import ScopedSession
from core.store.schema.tables import CreditNote, Policy, Refund

ROLE: Final = "finance"
# In kobo: what one person approves alone; above it somebody else approves it as well.
LIMIT: Final = 10_000_000
ADMIN_LIMIT: Final = 100_000_000
_STATE: Final = CreditNoteState


class PaidInput(BankAnswer):
    """Input: the payee of a credit note, and the bank's reference and day."""

    payee: Annotated[str, Field(min_length=2, max_length=200)]


def limit_of(by: Person) -> int:
    """Return the amount in kobo up to which a person approves alone."""
    return ADMIN_LIMIT if "admin" in by.roles else LIMIT


def approve(session: ScopedSession, note_id: UUID, *, by: Person) -> CreditNoteState:
    """Approve a credit note, and return its state: above the person's limit it awaits a second one.

    NotAllowed for who ended the policy, who approved it first, or has a password that somebody else has just reset;
    StateForbids while a claim on the policy is open, or once one was paid.
    """
    row = _get_for_update(session, note_id, by, _STATE.APPROVED)
    if row.made_by == by.actor:
        raise NotAllowed("You ended this policy: somebody else of finance approves what goes back")
    staff.refuse_resting(by)
    _refuse_claims(session, row)
    if row.state == _STATE.SECOND_PERSON and row.first_by == by.id:
        raise NotAllowed("You approved it first: somebody else of finance approves it as well")
    if row.state == _STATE.COMPUTED and row.total_minor > limit_of(by):
        _change(
            session, row, _STATE.SECOND_PERSON, by, "credit note approved first", first_by=by.id, first_at=clock.now()
        )
        return _STATE.SECOND_PERSON
    _change(session, row, _STATE.APPROVED, by, "credit note approved", approved_by=by.id, approved_at=clock.now())
    return _STATE.APPROVED


def pay(session: ScopedSession, note_id: UUID, typed: Mapping[str, Any], *, by: Person) -> None:
    """Note that an approved credit note was paid, once more after the bank returned it; never by who approved it.

    InvalidInput names every wrong field, and a reference that another credit note has.
    """
    row = _get_for_update(session, note_id, by, _STATE.PAID)
    if row.approved_by == by.id:
        raise NotAllowed("You approved it: somebody else of finance notes its payment")
    staff.refuse_resting(by)
    given: PaidInput = request.validate(PaidInput, typed)
    if row.approved_at and given.value_on < clock.to_lagos_day(row.approved_at):
        raise InvalidInput.for_field("value_on", "must not be before the day of the approval")
    _refuse_claims(session, row)
    key = reference_key(given.bank_reference)
    taken = sa.select(col(CreditNote.id)).where(col(CreditNote.reference_key) == key)
    if session.execute(taken).first() is not None:
        raise InvalidInput.for_field("bank_reference", "was used for another payment: give the reference of this one")
    paid = {"payee": given.payee, "reference": given.bank_reference, "reference_key": key, "value_on": given.value_on}
    told = {"reference": given.bank_reference, "value_on": str(given.value_on), "payee": given.payee}
    stamps = {"paid_by": by.id, "paid_at": clock.now(), "returned_by": None, "returned_on": None, "note": None}
    _change(session, row, _STATE.PAID, by, "credit note paid", told=told, **paid, **stamps)


def return_payment(session: ScopedSession, note_id: UUID, typed: Mapping[str, Any], *, by: Person) -> None:
    """Note that the bank returned the payment of a credit note; it can be paid again."""
    row = _get_for_update(session, note_id, by, _STATE.RETURNED)
    given: ReturnInput = request.validate(ReturnInput, typed)
    if row.value_on and given.returned_on < row.value_on:
        raise InvalidInput.for_field("returned_on", "must not be before the day on which it was paid")
    values = {"returned_by": by.id, "returned_on": given.returned_on, "note": given.reason}
    told = {"returned_on": str(given.returned_on), "reason": given.reason}
    _change(session, row, _STATE.RETURNED, by, "credit note returned", told=told, **values)


def list_allowed(row: Any, by: Person) -> Sequence[str]:
    """List what this person may do with a credit note now: approve, pay, return."""
    if not by.has_role(ROLE):
        return ()
    may_approve = row.made_by != by.actor and row.first_by != by.id
    allowed = {
        _STATE.COMPUTED: ("approve",) if may_approve else (),
        _STATE.SECOND_PERSON: ("approve",) if may_approve else (),
        _STATE.APPROVED: ("pay",) if row.approved_by != by.id else (),
        _STATE.PAID: ("return",),
        _STATE.RETURNED: ("pay",) if row.approved_by != by.id else (),
    }
    return allowed.get(CreditNoteState(row.state), ())


def _get_for_update(session: ScopedSession, note_id: UUID, by: Person, to: CreditNoteState) -> CreditNote:
    if not by.has_role(ROLE):
        raise NotAllowed("Only finance works on credit notes")
    query = sa.select(CreditNote).where(col(CreditNote.id) == note_id).with_for_update()
    row: CreditNote | None = session.execute(query).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such credit note")
    if to not in TRANSITIONS[CreditNoteState(row.state)]:
        raise StateForbids(f"A credit note that is {row.state.lower()} cannot become {to.lower()}")
    return row


def _refuse_claims(session: ScopedSession, row: CreditNote) -> None:
    """A claim that was lodged after the policy had ended holds the money back, and uses it up once it is paid."""
    refund = session.get_one(Refund, row.refund_id)
    policy = session.get_one(Policy, refund.policy_id)
    claims = refund_holds.of(session, policy.id)
    refund_holds.refuse_while_open(claims)
    terms = paid_terms.list_paid_terms(session, policy) if policy.activated else []
    term = next((each for each in terms if each.renewal_id == refund.renewal_id), None)
    if refund_holds.paid_on(term, terms, claims) if term else any(claim.was_paid for claim in claims):
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
