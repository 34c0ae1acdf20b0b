"""Payments: the balance with each party, and a payment from its preparation to the bank's answer (contract F4).

A balance is a party's valid statements less confirmed payments. Two people make a payment; statements follow it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import groupby
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core import clock, ids, money
from core.covers import fields, request
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance import journal, parties
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.people import four_eyes, transfers
from core.services.people.four_eyes import FirstStep, refuse_own, require_second
from core.services.people.staff import Person
from core.services.people.transfers import Reference, TypedReference
from core.states.finance import IN_FORCE, PAYMENT_TRANSITIONS, UNDER_WAY, PaymentState, StatementState
from core.store.access import AnySelect, Query, ScopedSession
from core.store.schema.tables import PartyPayment, Payment, PaymentSettlement, PayoutBatch, Statement

ROLE: Final = "finance"
OWN_RETURN: Final = (
    "You noted that a payment of this came back: others of finance prepare and approve that it is paid again"
)
_OWN_ANSWER: Final = "You prepared this payment: somebody else of finance notes what the bank says of it"
_FIELD: Final = "bank_reference"
_ACTIONS: Final[Mapping[PaymentState, str]] = {
    PaymentState.APPROVED: "payment approved",
    PaymentState.CONFIRMED: "payment confirmed",
    PaymentState.RETURNED: "payment returned",
    PaymentState.WITHDRAWN: "payment given up",
}
_OTHER: Any = sa.orm.aliased(PaymentSettlement)
# The statements that a payment settles, each with the number of confirmed payments of it.
_SETTLED_BY: Final = Query(
    sa.select(col(PaymentSettlement.statement_id), sa.func.count(col(Payment.id)))
    .join(_OTHER, _OTHER.statement_id == col(PaymentSettlement.statement_id))
    .outerjoin(Payment, sa.and_(col(Payment.id) == _OTHER.payment_id, col(Payment.state) == sa.bindparam("confirmed")))
    .where(col(PaymentSettlement.payment_id) == sa.bindparam("payment_id"))
    .group_by(col(PaymentSettlement.statement_id))
)
_SETTLED: Final[Mapping[StatementState, str]] = {
    StatementState.SENT: "statement payment returned",
    StatementState.PART_PAID: "statement part paid",
    StatementState.PAID: "statement paid",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A part of one statement's own change of the balance, with its taxes; negative if the party owes us.

    It is what was not paid yet, or what a payment settles.
    """

    statement_id: UUID
    number: str
    month: date
    state: str
    net_minor: int
    vat_minor: int
    withheld_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """The amount due with a party up to its newest sent statement; `hindrance` is the reason why it cannot be paid."""

    party: Party
    name: str
    dues: tuple[Due, ...]
    hindrance: str | None = None

    @property
    def amount_minor(self) -> int:
        """The sum that would settle everything; positive where we owe it."""
        return sum(due.net_minor for due in self.dues)

    @property
    def newest(self) -> Due | None:
        """The newest statement that a payment settles."""
        return self.dues[-1] if self.dues else None

    @property
    def oldest_month(self) -> date | None:
        """The month of the oldest statement of which something remains."""
        return next((due.month for due in self.dues if due.net_minor), None)


def balance_of(party: Party, name: str, statements: Sequence[Due]) -> Balance:
    """Return the balance of a party from its valid statements, oldest first."""
    stated = [place for place, due in enumerate(statements) if due.state in (*IN_FORCE, StatementState.DISPUTED)]
    dues = tuple(statements[: stated[-1] + 1]) if stated else ()
    return Balance(party=party, name=name, dues=dues, hindrance=_hindrance(dues))


def _hindrance(dues: Sequence[Due]) -> str | None:
    for due in dues:
        if due.state == StatementState.DISPUTED:
            return f"{due.number} is in dispute"
        if due.state not in IN_FORCE:
            return f"{due.number} was not sent yet"
    return None if dues else "No statement was sent yet"


def allocate(dues: Sequence[Due], amount_minor: int) -> list[Due]:
    """Divide an amount over statements: the oldest first, each with its part of the taxes; all of them if it pays all.

    StateForbids for an amount that is zero, of the other sign, or above what is due.
    """
    due_minor = sum(due.net_minor for due in dues)
    if amount_minor == due_minor and due_minor:
        return [due for due in dues if due.net_minor or due.vat_minor or due.withheld_minor]
    sign = -1 if due_minor < 0 else 1
    if not 0 < amount_minor * sign < due_minor * sign:
        raise StateForbids(f"At most {money.format_naira(abs(due_minor))} can be paid now: that is what is due")
    parts, rest = [], amount_minor * sign
    for due in dues:
        taken = min(rest, due.net_minor * sign)
        if taken > 0:
            parts.append(_part(due, taken * sign))
            rest -= taken
    return parts


def _part(due: Due, net_minor: int) -> Due:
    """Return a part of a due; the taxes round towards zero, so that the last part takes what remains of them."""

    def share(tax_minor: int) -> int:
        whole = abs(tax_minor * net_minor) // abs(due.net_minor)
        return whole if tax_minor > 0 else -whole

    return replace(due, net_minor=net_minor, vat_minor=share(due.vat_minor), withheld_minor=share(due.withheld_minor))


# Into what a payment of a statement is divided: the amount, and the taxes in it.
PARTS = ("net_minor", "vat_minor", "withheld_minor")


def list_balances(session: ScopedSession) -> list[Balance]:
    """List every party with something due, distributors first, by name."""
    names = dict(parties.list_parties(session))
    found = {party: balance_of(party, names[party], dues) for party, dues in list_dues(session)}
    return [found[party] for party in names if party in found and found[party].amount_minor]


def get_balance(session: ScopedSession, party: Party) -> Balance:
    """Return the balance of one party; NotFound for one that does not exist."""
    name = parties.get_name(session, party)
    dues = next((found for _, found in list_dues(session, party.owns(Statement))), [])
    return balance_of(party, name, dues)


def load_balances(session: ScopedSession, which: Collection[Party]) -> Mapping[Party, Balance]:
    """Return the balance of each of these parties; of one that does not exist there is none."""
    names = dict(parties.list_parties(session))
    is_theirs = sa.or_(*(party.owns(Statement) for party in which), sa.false())
    dues = dict(list_dues(session, is_theirs))
    return {party: balance_of(party, names[party], dues.get(party, ())) for party in which if party in names}


def require_payable(session: ScopedSession, party: Party) -> Balance:
    """Return the balance of a party that can be paid now; StateForbids says what stands against it.

    Whoever takes a statement or a payment of the party on at this instant waits here, or is waited for.
    """
    if session.scope.is_live is not True:
        raise StateForbids("Payments are made of live records only")
    parties.lock(session, party)
    balance = get_balance(session, party)
    if balance.hindrance:
        raise StateForbids(f"{balance.name}: {balance.hindrance}")
    refuse_under_way(session, party)
    return balance


def refuse_under_way(session: ScopedSession, party: Party) -> None:
    """StateForbids while a payment of this party waits for its approval or for the bank."""
    if session.count_rows(Payment, party.owns(Payment), col(Payment.state).in_(UNDER_WAY)):
        raise StateForbids("A payment of this party is under way: it is confirmed, returned or given up first")


def list_dues(session: ScopedSession, *conditions: Any) -> Iterator[tuple[Party, Sequence[Due]]]:
    """Yield each party that was sent or prepared a statement with what is due by each of them."""
    settled = (
        sa.select(
            col(PaymentSettlement.statement_id),
            *(sa.func.sum(col(getattr(PaymentSettlement, n))).label(n) for n in PARTS),
        )
        .join(Payment, col(Payment.id) == col(PaymentSettlement.payment_id))
        .where(col(Payment.state) == PaymentState.CONFIRMED)
        .group_by(col(PaymentSettlement.statement_id))
        .subquery()
    )
    owner = sa.func.coalesce(col(Statement.distributor_id), col(Statement.provider_id))
    query = (
        sa.select(Statement, *(sa.func.coalesce(settled.c[name], 0).label(name) for name in PARTS))
        .outerjoin(settled, settled.c.statement_id == col(Statement.id))
        .where(*statement_reading.IS_VALID, *conditions)
        .order_by(col(Statement.account), owner, col(Statement.month))
    )
    rows = session.execute(query).all()
    for party, found in groupby(rows, key=lambda row: parties.party_of(row.Statement)):
        yield party, [_due(row) for row in found]


def _due(row: Any) -> Due:
    stated: Statement = row.Statement
    return Due(
        statement_id=stated.id,
        number=statement_reading.number_of(stated),
        month=stated.month,
        state=stated.state,
        net_minor=stated.closing_minor - stated.opening_minor + stated.paid_minor - int(row.net_minor),
        vat_minor=stated.vat_minor - int(row.vat_minor),
        withheld_minor=stated.withheld_minor - int(row.withheld_minor),
    )


def _check_past(value: date) -> date:
    if value > clock.today():
        raise fault("must not be after today")
    return value


class BankAnswer(Request):
    """Input: the reference under which the bank moved a payment, and the day on which it did."""

    bank_reference: Annotated[Reference, Field(min_length=2)]
    value_on: Annotated[fields.Day, AfterValidator(_check_past)]


class ReceiptInput(BankAnswer):
    """Input: a payment received from a party."""

    amount: fields.Naira


class ReturnInput(Request):
    """Input: the day and the reason of a return, and its reference where it is not that of the payment."""

    bank_reference: Reference | None = None
    returned_on: Annotated[fields.Day, AfterValidator(_check_past)]
    reason: Annotated[str, Field(min_length=5, max_length=500)]


def keep_refusal(subject: str, record_id: UUID, act: str, by: Person) -> AbstractContextManager[None]:
    """Keep a refused act on a payment, a payout or the money of a party in the log (contract K16)."""
    return audit.keep_refusal(actor=by.actor, action=act, subject=audit.subject_of(subject, record_id))


def receive(session: ScopedSession, party: Party, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Note a payment received of what a party owes, and return its id; somebody else confirms it.

    InvalidInput names every wrong field, StateForbids what stands against it.
    """
    with keep_refusal(party.subject, party.id, "payment receipt", by):
        require_finance(by)
        given: ReceiptInput = request.validate(ReceiptInput, typed)
        balance = require_payable(session, party)
        received = {"received_reference": given.bank_reference, "received_on": given.value_on}
        transfers.check_free(session, TypedReference(given.bank_reference, _FIELD, party.id), is_live=True)
        amount = -money.to_minor(given.amount)
        if balance.amount_minor >= 0:
            raise StateForbids(f"{balance.name} owes nothing: a payment received for something else is an adjustment")
        if noted := _describe_noted(session, given.bank_reference, given.value_on, amount):
            raise InvalidInput.for_field(_FIELD, noted)
        return add(session, balance, amount, by=by, direction="in", **received)


def _describe_noted(
    session: ScopedSession, reference: str, on: date, net_minor: int, *, but: UUID | None = None
) -> str | None:
    """Say for whom a payment received was noted already, of whatever party and however its reference was written.

    One row of the bank would settle two debts. None for another reference, amount or day.
    """
    same = sa.select(Payment).where(
        col(Payment.direction) == "in",
        col(Payment.state).in_([PaymentState.PREPARED, PaymentState.CONFIRMED]),
        col(Payment.received_on) == on,
        col(Payment.net_minor) == net_minor,
        *([col(Payment.id) != but] if but else []),
    )
    for row in session.execute(same.order_by(col(Payment.prepared_at))).scalars():
        if transfers.strip_reference(row.received_reference or "") == transfers.strip_reference(reference):
            party = parties.get_name(session, parties.party_of(row))
            return f"is that of {row.received_reference}, the same amount of the same day, noted for {party} already"
    return None


def add(
    session: ScopedSession, balance: Balance, amount_minor: int, *, by: Person, direction: str, **more: Any
) -> UUID:
    """Write a prepared payment with the statements that it would settle, and return its id.

    NotAllowed for whoever has an e-mail, phone or account of the party.
    """
    refuse_own(parties.load_people(session, balance.party), by)
    return write(session, balance, amount_minor, by=by, direction=direction, **more)


def write(
    session: ScopedSession, balance: Balance, amount_minor: int, *, by: Person, direction: str, **more: Any
) -> UUID:
    """Like `add`, for whoever was judged before."""
    parts = allocate(balance.dues, amount_minor)
    sums = {name: sum(getattr(part, name) for part in parts) for name in PARTS}
    newest = balance.newest
    assert newest is not None  # noqa: S101 - allocating refuses an empty balance
    row = Payment.to_insert(
        id=ids.new(),
        **balance.party.columns,
        direction=direction,
        statement_id=newest.statement_id,
        **sums,
        gross_minor=sums["net_minor"] - sums["vat_minor"] + sums["withheld_minor"],
        prepared_by=by.id,
        prepared_at=clock.now(),
        **more,
    )
    if not session.insert_if_absent(row):
        # Somebody else prepared one at the same instant.
        raise StateForbids("A payment of this party was prepared meanwhile: look at it first")
    for part in parts:
        settled = {name: getattr(part, name) for name in PARTS}
        session.insert(PaymentSettlement.to_insert(payment_id=row.id, statement_id=part.statement_id, **settled))
    audit_payment(session, row, "payment prepared", by=by, settles=", ".join(part.number for part in parts))
    return row.id


def require_other(session: ScopedSession, row: Payment | PayoutBatch, by: Person, *, has_role: bool = True) -> None:
    """NotAllowed for who prepared a payment or a payout, or counts as that one; with `has_role`, StateForbids where
    that one could not prepare it today.
    """
    step = FirstStep(
        by=row.prepared_by,
        at=row.prepared_at,
        did="prepared this payout" if isinstance(row, PayoutBatch) else "noted this payment",
        does="approves it",
        roles=(ROLE,) if has_role else (),
        instead="give it up, and make it anew",
    )
    four_eyes.require_other(session, step, by, second="somebody else of finance")


def _refuse_preparer(session: ScopedSession, row: Payment, by: Person) -> None:
    """NotAllowed for who prepared a payment, or counts as that one, and would note what the bank says of it."""
    require_second(row.prepared_by, by, _OWN_ANSWER)
    how = {"did": "prepared this payment", "does": "notes what the bank says of it"}
    four_eyes.refuse_one_with(session, [(row.prepared_by, row.prepared_at)], by, **how)


def approve_receipt(session: ScopedSession, payment_id: UUID, *, by: Person) -> None:
    """Confirm what somebody else noted as received: its statements are settled at once."""
    with keep_refusal("payment", payment_id, "payment confirmation", by):
        row = get_for_update(session, payment_id, PaymentState.CONFIRMED, by)
        if row.direction != "in" or row.state != PaymentState.PREPARED:
            raise StateForbids("A payout is approved with its batch, and confirmed with the bank's reference")
        require_other(session, row, by)
        assert row.received_on is not None  # noqa: S101 - it was noted with its day
        # Whoever confirms the same row of the bank for another party at this instant waits here.
        session.next_in_transaction("payments received")
        if noted := _describe_noted(session, row.received_reference or "", row.received_on, row.net_minor, but=row.id):
            raise StateForbids(f"Its reference {noted}: give one of the two up")
        typed = TypedReference(row.received_reference, _FIELD, parties.party_of(row).id)
        _note_paid(session, row, typed, row.received_on, by=by)
        _change(session, row, PaymentState.CONFIRMED, by=by, approved_by=by.id, approved_at=clock.now())


def confirm(
    session: ScopedSession,
    payment_id: UUID,
    typed: Mapping[str, Any],
    *,
    by: Person,
    evidence: Mapping[str, str] | None = None,
) -> None:
    """Note that the bank made an approved payout, for another than who prepared it; `evidence` names its file and row.

    InvalidInput for a reference that another payment has.
    """
    with keep_refusal("payment", payment_id, "payment confirmation", by):
        row = get_for_update(session, payment_id, PaymentState.CONFIRMED, by)
        if row.direction != "out" or row.state != PaymentState.APPROVED:
            raise StateForbids("Only an approved payout is confirmed with the bank's reference")
        _refuse_preparer(session, row, by)
        given: BankAnswer = request.validate(BankAnswer, typed)
        if row.approved_at and given.value_on < clock.to_lagos_day(row.approved_at):
            raise InvalidInput.for_field("value_on", "must not be before the day of the approval")
        take_confirmation(session, row, given.bank_reference, given.value_on, by=by, evidence=evidence)


def take_confirmation(
    session: ScopedSession,
    row: Payment,
    reference: str,
    on: date,
    *,
    by: Person,
    evidence: Mapping[str, str] | None = None,
    dues: Sequence[Due] | None = None,
) -> None:
    """Note that the bank made an approved payout against which nothing stands; `dues` are what is left, if known."""
    _note_paid(session, row, TypedReference(reference, _FIELD), on, by=by)
    facts = {"bank_reference": reference, "value_on": str(on), **(evidence or {})}
    _change(session, row, PaymentState.CONFIRMED, by=by, facts=facts, dues=dues)


def _note_paid(session: ScopedSession, row: Payment, typed: TypedReference, on: date, *, by: Person) -> None:
    """Write that the bank moved a payment on a day; InvalidInput for a reference that another payment has."""
    paid: dict[str, Any] = {"payment_id": row.id, "amount_minor": row.net_minor, "payee_id": row.bank_account_id}
    transfers.pay(session, PartyPayment, typed, **paid, value_on=on, paid_by=by.id, created_at=clock.now())


def return_payment(
    session: ScopedSession,
    payment_id: UUID,
    typed: Mapping[str, Any],
    *,
    by: Person,
    evidence: Mapping[str, str] | None = None,
) -> None:
    """Note that the bank returned a payment, or refused an order: its statements are due again.

    NotAllowed for who prepared it.
    """
    with keep_refusal("payment", payment_id, "payment return", by):
        row = get_for_update(session, payment_id, PaymentState.RETURNED, by)
        _refuse_preparer(session, row, by)
        given: ReturnInput = request.validate(ReturnInput, typed)
        if row.approved_at and given.returned_on < clock.to_lagos_day(row.approved_at):
            raise InvalidInput.for_field("returned_on", "must not be before the day of the approval")
        stamps: dict[str, Any] = {}
        typed_reference = TypedReference(given.bank_reference, _FIELD)
        if row.state == PaymentState.CONFIRMED:
            paid = transfers.find_standing(session, PartyPayment, col(PartyPayment.payment_id) == row.id)
            back: dict[str, Any] = {"reason": given.reason, "value_on": given.returned_on, "by": by.id}
            transfers.take_back(session, paid, typed_reference, **back, at=clock.now(), by_anybody=True)
        else:
            # An order that the bank refused has moved no money: what has is the answer to another one.
            stamps = {"refused_by": by.id, "refused_on": given.returned_on, "note": given.reason}
            if given.bank_reference:
                stamps["refused_reference"] = given.bank_reference
                transfers.check_free(session, typed_reference, is_live=True)
        facts = {"return_reference": given.bank_reference} if given.bank_reference else {}
        facts |= {"returned_on": str(given.returned_on), **(evidence or {})}
        _change(session, row, PaymentState.RETURNED, by=by, facts=facts, **stamps)


def withdraw(session: ScopedSession, payment_id: UUID, *, reason: str, by: Person) -> None:
    """Give up a noted receipt that nobody confirmed; a payout is given up with its batch."""
    with keep_refusal("payment", payment_id, "payment withdrawal", by):
        row = get_for_update(session, payment_id, PaymentState.WITHDRAWN, by)
        if row.batch_id is not None:
            raise StateForbids("A payout is given up with its batch")
        if len(reason.strip()) < 5:
            raise InvalidInput.for_field("reason", "must say why, in at least five characters")
        _change(session, row, PaymentState.WITHDRAWN, by=by, note=reason.strip())


def require_finance(by: Person) -> None:
    """NotAllowed for whoever is not of finance."""
    by.require_role(ROLE, otherwise="Only finance works on payments")


def refuse_who_returned(session: ScopedSession, statement_ids: Iterable[UUID], by: Person) -> None:
    """NotAllowed for who noted that a payout of one of these statements came back, or was refused (contract K16).

    One person alone would have it paid once more.
    """
    refuse_returners(session, load_returners(session, statement_ids), by)


Noted = tuple[UUID, datetime]


def refuse_returners(session: ScopedSession, noted: Collection[Noted], by: Person) -> None:
    """NotAllowed for who noted a return, or counts as who did by a password link."""
    if by.id in {noted_by for noted_by, _ in noted}:
        raise NotAllowed(OWN_RETURN)
    how = {"did": "noted that a payment of this came back", "does": "prepares and approves that it is paid again"}
    four_eyes.refuse_one_with(session, noted, by, **how)


def load_returners(
    session: ScopedSession, statement_ids: Iterable[UUID], *, again: PayoutBatch | None = None
) -> Collection[Noted]:
    """Return who noted that a payout of these statements came back or was refused, before it was paid again, and when.

    A statement of the same party and month counts too: what was reversed is stated anew under another number.
    """
    stated: Any = sa.orm.aliased(Statement)
    is_of_month = sa.and_(
        stated.month == col(Statement.month),
        stated.distributor_id.is_not_distinct_from(col(Statement.distributor_id)),
        stated.provider_id.is_not_distinct_from(col(Statement.provider_id)),
    )
    is_return = sa.and_(col(PartyPayment.payment_id) == col(Payment.id), col(PartyPayment.reverses).is_not(None))
    noted = sa.func.coalesce(col(Payment.refused_by), col(PartyPayment.paid_by))
    before: list[sa.ColumnElement[bool]] = []
    if again:
        # What comes back after a batch was prepared is paid again by a later one.
        is_known = sa.or_(col(Payment.refused_by).is_not(None), col(PartyPayment.created_at) <= again.prepared_at)
        before = [col(PayoutBatch.number) < again.number, is_known]
    query: AnySelect = (
        sa.select(col(Payment.id), noted.label("by"), col(PartyPayment.created_at).label("at"))
        .select_from(Payment)
        .join(PayoutBatch, col(PayoutBatch.id) == col(Payment.batch_id))
        .join(PaymentSettlement, col(PaymentSettlement.payment_id) == col(Payment.id))
        .join(Statement, col(Statement.id) == col(PaymentSettlement.statement_id))
        .join(stated, is_of_month)
        .outerjoin(PartyPayment, is_return)
        .where(
            stated.id.in_(list(statement_ids)),
            noted.is_not(None),
            *before,
        )
    )
    return {(row.by, row.at or _find_refused_at(session, row.id)) for row in session.execute(query)}


def _find_refused_at(session: ScopedSession, payment_id: UUID) -> datetime:
    """Return when somebody noted that the bank refused an order, of which no money moved: only the log has it."""
    log = audit.list_history(session, audit.subject_of("payment", payment_id))
    returned = _ACTIONS[PaymentState.RETURNED]
    return next((entry.created_at for entry in reversed(log) if entry.action == returned), clock.now())


def get_for_update(session: ScopedSession, payment_id: UUID, to: PaymentState, by: Person) -> Payment:
    """Return a payment that may become `to`, held until the transaction ends."""
    require_finance(by)
    if to in (PaymentState.CONFIRMED, PaymentState.RETURNED):
        journal.hold_months(session)
    row = session.lock(Payment, payment_id, "payment")
    parties.lock(session, parties.party_of(row))
    parties.refuse_own_party(session, parties.party_of(row), by=by)
    PAYMENT_TRANSITIONS.get(row.state, to)
    return row


def audit_payment(session: ScopedSession, row: Payment, action: str, *, by: Person, **more: str) -> None:
    """Write the audit entry of a payment."""
    facts = {"direction": row.direction, "amount": money.to_wire(row.net_minor), **more}
    audit.note(session, "payment", row.id, action, actor=by.actor, **facts)


def _change(
    session: ScopedSession,
    row: Payment,
    state: PaymentState,
    *,
    by: Person,
    facts: Mapping[str, str] | None = None,
    dues: Sequence[Due] | None = None,
    **values: Any,
) -> None:
    session.update_columns(Payment.to_insert(id=row.id, state=state, **values), "state", *values)
    _settle(session, row, dues or get_balance(session, parties.party_of(row)).dues, by=by)
    audit_payment(session, row, _ACTIONS[state], by=by, **(facts or {}))


def _settle(session: ScopedSession, row: Payment, dues: Sequence[Due], *, by: Person) -> None:
    """Bring the states of the statements that a payment settles in line with the confirmed payments of their party."""
    due_of = {due.statement_id: due for due in dues}
    for statement_id, confirmed in _SETTLED_BY.rows(session, payment_id=row.id, confirmed=PaymentState.CONFIRMED):
        due = due_of[statement_id]
        state = state_of(due.net_minor, is_paid_on=bool(confirmed))
        if due.state != state:
            session.update_columns(Statement.to_insert(id=statement_id, state=state), "state")
            audit.write(
                session,
                actor=by.actor,
                action=_SETTLED[state],
                subject=audit.subject_of("statement", statement_id),
                before={"state": due.state},
                after={"state": state},
            )


def state_of(rest_minor: int, *, is_paid_on: bool) -> StatementState:
    """Return the state of a sent statement by its confirmed payments: Sent, Part paid or Paid."""
    if not is_paid_on:
        return StatementState.SENT
    return StatementState.PART_PAID if rest_minor else StatementState.PAID
