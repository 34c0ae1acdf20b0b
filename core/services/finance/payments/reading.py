"""Payments and batches as screens show them, and as statements print them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import batches as payout_batches
from core.services.finance.payments import paid_lines
from core.services.finance.statements import reading as statement_reading
from core.services.lists.paging import Paging
from core.states.finance import BatchState, PaymentState
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import BankAccount, Payment, PaymentSettlement, PayoutBatch, Staff, Statement

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


class Settled(NamedTuple):
    """The part of a payment that settles one statement."""

    statement_id: UUID
    number: str
    month: date
    net_minor: int
    vat_minor: int
    withheld_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchRow:
    """One payout batch with its people and how many of its payments the bank has answered."""

    id: UUID
    number: str
    state: str
    payments: int
    answered: int
    net_minor: int
    sha256: str | None
    note: str | None
    prepared_by: UUID
    preparer: str
    prepared_at: datetime
    approver: str | None
    approved_at: datetime | None

    @property
    def progress(self) -> str:
        """The state as a list shows it: an approved batch is paid once the bank has answered every line."""
        if self.state != BatchState.APPROVED:
            return self.state
        return "Paid" if self.answered == self.payments else "Approved"


def list_payments(
    session: ScopedSession, paging: Paging, *, state: str | None = None, order: Order = "newest"
) -> list[PaymentRow]:
    """List payments, of one state if it is given."""
    query = _query().order_by(*ORDERS[order])
    query = query.where(*_of_state(state)).limit(paging.limit).offset(paging.offset)
    return _build(session, session.execute(query).all())


def count_payments(session: ScopedSession, *, state: str | None = None) -> tuple[int, int]:
    """Return the number of payments and their sum in kobo."""
    sums = (sa.func.count(), sa.func.coalesce(sa.func.sum(col(Payment.net_minor)), 0))
    rows, minor = session.execute(sa.select(*sums).select_from(Payment).where(*_of_state(state))).one()
    return int(rows), int(minor)


def list_of_batch(session: ScopedSession, batch_id: UUID) -> list[PaymentRow]:
    """List the payments of a batch in the order of its file."""
    query = _query().where(col(Payment.batch_id) == batch_id).order_by(col(Payment.id))
    return _build(session, session.execute(query).all())


def list_of_statement(session: ScopedSession, statement_id: UUID) -> list[PaymentRow]:
    """List the payments that settle some of a statement, oldest first."""
    mine = sa.select(col(PaymentSettlement.payment_id)).where(col(PaymentSettlement.statement_id) == statement_id)
    query = _query().where(col(Payment.id).in_(mine)).order_by(col(Payment.prepared_at), col(Payment.id))
    return _build(session, session.execute(query).all())


def get_payment(session: ScopedSession, payment_id: UUID) -> tuple[PaymentRow, list[Settled]]:
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
        Settled(
            *(stated.id, statement_reading.number_of(stated), stated.month),
            *(row.net_minor, row.vat_minor, row.withheld_minor),
        )
        for row, stated in session.execute(query)
    ]
    return found[0], parts


def list_batches(session: ScopedSession, *, batch_id: UUID | None = None) -> list[BatchRow]:
    """List payout batches, the newest first, or only one of them."""
    preparer, approver = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
    answered = (
        sa.select(sa.func.count())
        .where(
            col(Payment.batch_id) == col(PayoutBatch.id),
            col(Payment.state).in_((PaymentState.CONFIRMED, PaymentState.RETURNED)),
        )
        .correlate(PayoutBatch)
        .scalar_subquery()
    )
    query = (
        sa.select(PayoutBatch, col(preparer.name), col(approver.name), answered)
        .join(preparer, col(preparer.id) == col(PayoutBatch.prepared_by))
        .outerjoin(approver, col(approver.id) == col(PayoutBatch.approved_by))
        .where(*([col(PayoutBatch.id) == batch_id] if batch_id else []))
        .order_by(col(PayoutBatch.number).desc())
    )
    names = ("id", "state", "payments", "net_minor", "sha256", "note", "prepared_by", "prepared_at", "approved_at")
    return [
        BatchRow(
            **{name: getattr(row, name) for name in names},
            number=payout_batches.number_of(row),
            preparer=made_by,
            approver=approved_by,
            answered=number,
        )
        for row, made_by, approved_by, number in session.execute(query)
    ]


def get_batch(session: ScopedSession, batch_id: UUID) -> BatchRow:
    """Return one batch; NotFound for one that does not exist."""
    found = list_batches(session, batch_id=batch_id)
    if not found:
        raise NotFound("There is no such payout")
    return found[0]


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
    preparer, approver = sa.orm.aliased(Staff), sa.orm.aliased(Staff)
    query: AnySelect = (
        sa.select(
            *(Payment, Statement, PayoutBatch, BankAccount),
            *(col(preparer.name).label("preparer"), col(approver.name).label("approver")),
            *(shown.label(name) for name, shown in paid_lines.SHOWN.items()),
        )
        .join(Statement, col(Statement.id) == col(Payment.statement_id))
        .outerjoin(PayoutBatch, col(PayoutBatch.id) == col(Payment.batch_id))
        .outerjoin(BankAccount, col(BankAccount.id) == col(Payment.bank_account_id))
        .join(preparer, col(preparer.id) == col(Payment.prepared_by))
        .outerjoin(approver, col(approver.id) == col(Payment.approved_by))
    )
    return paid_lines.join_bank(query)


_COPIED = (
    *("id", "direction", "state", "statement_id", "batch_id", "gross_minor", "vat_minor", "withheld_minor"),
    *("net_minor", "prepared_by", "prepared_at", "approved_at"),
)


def _build(session: ScopedSession, rows: Sequence[Any]) -> list[PaymentRow]:
    names = dict(parties.list_parties(session)) if rows else {}
    return [_build_row(row, names) for row in rows]


def _build_row(row: Any, names: dict[Party, str]) -> PaymentRow:
    party, account = parties.party_of(row.Payment), row.BankAccount
    return PaymentRow(
        **{name: getattr(row.Payment, name) for name in _COPIED},
        **{name: getattr(row, name) for name in paid_lines.SHOWN},
        party=party,
        name=names[party],
        statement=statement_reading.number_of(row.Statement),
        month=row.Statement.month,
        batch=payout_batches.number_of(row.PayoutBatch) if row.PayoutBatch else None,
        bank=f"{account.bank_name}, {account.account_name}, ending in {account.hint}" if account else None,
        preparer=row.preparer,
        approver=row.approver,
    )
