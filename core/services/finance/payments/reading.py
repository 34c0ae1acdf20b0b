"""Payments and payouts as their lists and pages show them (contract F4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound, first_of
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import bank_rows, payouts
from core.services.finance.payments.settlement import Due
from core.services.finance.statements import reading as statement_reading
from core.services.lists.paging import Paging
from core.services.people.staff import join_names
from core.states.finance import BatchState, PaymentState, StatementState
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.rows import build_row
from core.store.schema.tables import BankAccount, Payment, PaymentSettlement, PayoutBatch, Statement

DIRECTIONS = {"out": "Paid out", "in": "Received"}
Order = Literal["newest", "oldest", "largest", "smallest"]
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "newest": (col(Payment.prepared_at).desc(), col(Payment.id).desc()),
    "oldest": (col(Payment.prepared_at), col(Payment.id)),
    "largest": (col(Payment.net_minor).desc(), col(Payment.id).desc()),
    "smallest": (col(Payment.net_minor), col(Payment.id)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PaymentRow:
    """One payment with its people; amounts in kobo, positive where we pay."""

    id: UUID
    party: Party
    name: str
    direction: str
    state: str
    statement_id: UUID
    statement: str
    month: date
    batch_id: UUID | None
    batch: str | None
    gross_minor: int
    vat_minor: int
    withheld_minor: int
    net_minor: int
    bank: str | None
    bank_reference: str | None
    value_on: date | None
    returned_on: date | None
    note: str | None
    prepared_by: UUID
    preparer: str
    prepared_at: datetime
    approver: str | None
    approved_at: datetime | None

    @property
    def direction_name(self) -> str:
        """The direction as people read it."""
        return DIRECTIONS[self.direction]


@dataclass(frozen=True, kw_only=True, slots=True)
class PayoutName:
    """A payout by its number, such as PB-0003."""

    id: UUID
    number: str


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRow:
    """One payout batch with its people, how many of its payments the bank has answered, and what came of them."""

    id: UUID
    number: str
    state: str
    payments: int
    answered: int
    net_minor: int
    paid_minor: int
    returned_minor: int
    sha256: str | None
    note: str | None
    prepared_by: UUID
    preparer: str
    prepared_at: datetime
    approver: str | None
    approved_at: datetime | None

    @property
    def progress(self) -> str:
        """The state as a list shows it: once the bank has answered every line, it is that of the money."""
        if self.state != BatchState.APPROVED or self.answered < self.payments:
            return self.state
        if not self.paid_minor:
            return PaymentState.RETURNED
        return StatementState.PART_PAID if self.returned_minor else StatementState.PAID

    @property
    def open_minor(self) -> int:
        """The amount on which the bank has still to answer, in kobo; nothing of a batch that was given up."""
        if self.state == BatchState.WITHDRAWN:
            return 0
        return self.net_minor - self.paid_minor - self.returned_minor


def list_payments(
    session: ScopedSession, paging: Paging, *, state: str | None = None, order: Order = "newest"
) -> list[PaymentRow]:
    """List payments, of one state if it is given."""
    query = _query().order_by(*ORDERS[order])
    query = query.where(*_of_state(state)).limit(paging.limit).offset(paging.offset)
    return _build(session, session.execute(query).all())


def count_payments(session: ScopedSession, *, state: str | None = None) -> tuple[int, int]:
    """Return the number of payments and their sum in kobo."""
    return session.count_and_sum(col(Payment.net_minor), *_of_state(state))


def list_of_batch(session: ScopedSession, batch_id: UUID) -> list[PaymentRow]:
    """List the payments of a batch in the order of its file."""
    query = _query().where(col(Payment.batch_id) == batch_id).order_by(col(Payment.id))
    return _build(session, session.execute(query).all())


def list_unanswered(session: ScopedSession, *, apart_from: UUID) -> list[PaymentRow]:
    """List the payments of all other batches on which the bank has to answer."""
    others = (col(Payment.batch_id).is_not(None), col(Payment.batch_id) != apart_from)
    query = _query().where(*others, *_of_state(PaymentState.APPROVED)).order_by(col(Payment.id))
    return _build(session, session.execute(query).all())


def list_names(session: ScopedSession) -> list[PayoutName]:
    """List every payout by its number."""
    rows = session.execute(sa.select(PayoutBatch).order_by(col(PayoutBatch.number))).scalars()
    return [PayoutName(id=row.id, number=payouts.number_of(row)) for row in rows]


def list_of_statement(session: ScopedSession, statement_id: UUID) -> list[PaymentRow]:
    """List the payments that settle some of a statement, oldest first."""
    mine = sa.select(col(PaymentSettlement.payment_id)).where(col(PaymentSettlement.statement_id) == statement_id)
    query = _query().where(col(Payment.id).in_(mine)).order_by(col(Payment.prepared_at), col(Payment.id))
    return _build(session, session.execute(query).all())


def get_payment(session: ScopedSession, payment_id: UUID) -> tuple[PaymentRow, list[Due]]:
    """Return one payment and what it settles; NotFound for one that does not exist."""
    found = _build(session, session.execute(_query().where(col(Payment.id) == payment_id)).all())
    if not found:
        raise NotFound("There is no such payment")
    query = (
        sa.select(PaymentSettlement, Statement)
        .join(Statement, col(Statement.id) == col(PaymentSettlement.statement_id))
        .where(col(PaymentSettlement.payment_id) == payment_id)
        .order_by(col(Statement.month))
    )
    parts = [
        build_row(Due, row, stated, number=statement_reading.number_of(stated))
        for row, stated in session.execute(query)
    ]
    return found[0], parts


def list_batches(session: ScopedSession, *, batch_id: UUID | None = None) -> list[BatchRow]:
    """List payout batches, the newest first, or only one of them."""
    answered = (PaymentState.CONFIRMED, PaymentState.RETURNED)
    query = (
        sa.select(
            PayoutBatch,
            _of_payments(sa.func.count(), *answered).label("answered"),
            _of_payments(sum_of(col(Payment.net_minor)), PaymentState.CONFIRMED).label("paid_minor"),
            _of_payments(sum_of(col(Payment.net_minor)), PaymentState.RETURNED).label("returned_minor"),
        )
        .where(*([col(PayoutBatch.id) == batch_id] if batch_id else []))
        .order_by(col(PayoutBatch.number).desc())
    )
    named = join_names(query, preparer=PayoutBatch.prepared_by, approver=PayoutBatch.approved_by)
    return [
        build_row(BatchRow, row.PayoutBatch, row, number=payouts.number_of(row.PayoutBatch))
        for row in session.execute(named)
    ]


def _of_payments(figure: Any, *states: PaymentState) -> sa.ScalarSelect[int]:
    mine = (col(Payment.batch_id) == col(PayoutBatch.id), col(Payment.state).in_(states))
    return sa.select(figure).where(*mine).correlate(PayoutBatch).scalar_subquery()


def get_batch(session: ScopedSession, batch_id: UUID) -> BatchRow:
    """Return one batch; NotFound for one that does not exist."""
    return first_of(list_batches(session, batch_id=batch_id), otherwise="There is no such payout")


def list_allowed(row: PaymentRow, by: Any) -> list[str]:
    """List what this person may do with a payment now: approve, confirm, return, withdraw."""
    if not by.has_role("finance"):
        return []
    if row.direction == "in" and row.state == PaymentState.PREPARED:
        return ["withdraw"] if row.prepared_by == by.id else ["approve", "withdraw"]
    if row.prepared_by == by.id:
        return []
    if row.state == PaymentState.APPROVED:
        return ["confirm", "return"]
    return ["return"] if row.state == PaymentState.CONFIRMED else []


def _of_state(state: str | None) -> list[sa.ColumnElement[bool]]:
    return [col(Payment.state) == state] if state else []


def _query() -> AnySelect:
    shown = (column.label(name) for name, column in bank_rows.SHOWN.items())
    query: AnySelect = (
        sa.select(Payment, Statement, PayoutBatch, BankAccount, *shown)
        .join(Statement, col(Statement.id) == col(Payment.statement_id))
        .outerjoin(PayoutBatch, col(PayoutBatch.id) == col(Payment.batch_id))
        .outerjoin(BankAccount, col(BankAccount.id) == col(Payment.bank_account_id))
    )
    return join_names(bank_rows.join_bank(query), preparer=Payment.prepared_by, approver=Payment.approved_by)


def _build(session: ScopedSession, rows: Sequence[Any]) -> list[PaymentRow]:
    names = dict(parties.list_parties(session)) if rows else {}
    return [_build_row(row, names) for row in rows]


def _build_row(row: Any, names: dict[Party, str]) -> PaymentRow:
    party, account = parties.party_of(row.Payment), row.BankAccount
    return build_row(
        PaymentRow,
        row.Payment,
        row,
        party=party,
        name=names[party],
        statement=statement_reading.number_of(row.Statement),
        month=row.Statement.month,
        batch=payouts.number_of(row.PayoutBatch) if row.PayoutBatch else None,
        bank=f"{account.bank_name}, {account.account_name}, ending in {account.hint}" if account else None,
        # What the bank said of it, if it did.
        note=row.note,
    )
