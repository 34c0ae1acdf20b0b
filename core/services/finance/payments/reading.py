"""Payments and payouts as their lists and pages show them (contract F4)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import money
from core.errors import NotFound, first_of
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import bank_rows, payouts
from core.services.finance.payments.settlement import Due
from core.services.finance.statements import reading as statement_reading
from core.services.lists.dimensions import Choices
from core.services.lists.filters.declaration import Filter, Ids, found_by_any, mentions, of
from core.services.lists.filters.fields import Condition, Days, Words, members_of, parse_naira, states_of
from core.services.lists.listing import Column, Derived, Listing, Order, mode_column
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import DATE, DAY, ID, INSTANT, MASKED, SIGNED_MONEY, STATE, TEXT, WORD
from core.services.lists.windows import Span
from core.services.people.staff import join_names
from core.services.sales.filter import declare_search
from core.states.finance import UNDER_WAY, BatchState, PaymentState, StatementState
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.rows import build_row
from core.store.schema.tables import (
    BankAccount,
    Distributor,
    Payment,
    PaymentSettlement,
    PayoutBatch,
    Provider,
    Staff,
    Statement,
)

DIRECTIONS = {"out": "Paid out", "in": "Received"}
_PARTY: Final[Any] = sa.func.coalesce(col(Distributor.business_name), col(Provider.company_name))
_PREPARER, _APPROVER = orm.aliased(Staff), orm.aliased(Staff)


def _build_searches(text: str) -> Iterator[AnySelect]:
    found: AnySelect = sa.select(col(Payment.id))
    yield _join(found).where(
        sa.or_(
            sa.and_(*(mentions(_PARTY, word) for word in text.split())),
            mentions(bank_rows.SHOWN["bank_reference"], text),
        )
    )
    if amount := parse_naira(text):
        yield found.where(sa.func.abs(col(Payment.net_minor)) == money.to_minor(amount))
    if is_batch := payouts.match_number(text):
        yield found.where(col(Payment.batch_id).in_(sa.select(col(PayoutBatch.id)).where(*is_batch)))
    if is_stated := statement_reading.match_number(text):
        settled = sa.select(col(PaymentSettlement.payment_id)).join(
            Statement, col(Statement.id) == col(PaymentSettlement.statement_id)
        )
        yield settled.where(*is_stated)


class PaymentFilter(Filter, on=(Payment,)):
    """Filter of the list of payments."""

    find: str | None = declare_search(
        found_by_any(col(Payment.id), _build_searches),
        help="A part of a party's name or a bank reference, the number of a statement or payout, or the amount.",
        placeholder="Party, reference, statement, payout or amount",
    )
    prepared: Span = of(Days, label="Prepared", column="prepared_at", address="from to", screen="Prepared")
    states: tuple[str, ...] = of(states_of, PaymentState)
    directions: tuple[str, ...] = of(
        Words,
        label="Direction",
        column="direction",
        address="direction",
        options=DIRECTIONS,
        words=DIRECTIONS,
        help="out or in.",
        anything="Both directions",
    )
    distributor_ids: Ids = of(members_of, "distributor")
    provider_ids: Ids = of(members_of, "provider")


UNFILTERED: Final = PaymentFilter()


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
    session: ScopedSession, criteria: PaymentFilter, paging: Paging, *, order: str = "newest"
) -> list[PaymentRow]:
    """Return a page of payments."""
    query = _query().where(*criteria.conditions(Payment)).order_by(*PAYMENTS.orders[order].keys)
    return _list(session, query.limit(paging.limit).offset(paging.offset))


def count_payments(session: ScopedSession, criteria: PaymentFilter) -> tuple[int, int]:
    """Return the number of payments of a selection and their sum in kobo."""
    return session.count_and_sum(col(Payment.net_minor), *criteria.conditions(Payment))


def list_of_batch(session: ScopedSession, batch_id: UUID) -> list[PaymentRow]:
    """List the payments of a batch in the order of its file."""
    return _list(session, _query().where(col(Payment.batch_id) == batch_id).order_by(col(Payment.id)))


def list_unanswered(session: ScopedSession, *, apart_from: UUID) -> list[PaymentRow]:
    """List the payments of all other batches on which the bank has to answer."""
    others = (col(Payment.batch_id).is_not(None), col(Payment.batch_id) != apart_from)
    query = _query().where(*others, col(Payment.state) == PaymentState.APPROVED)
    return _list(session, query.order_by(col(Payment.id)))


def list_names(session: ScopedSession) -> list[PayoutName]:
    """List every payout by its number."""
    rows = session.execute(sa.select(PayoutBatch).order_by(col(PayoutBatch.number))).scalars()
    return [PayoutName(id=row.id, number=payouts.number_of(row)) for row in rows]


def list_of_statement(session: ScopedSession, statement_id: UUID) -> list[PaymentRow]:
    """List the payments that settle some of a statement, oldest first."""
    mine = sa.select(col(PaymentSettlement.payment_id)).where(col(PaymentSettlement.statement_id) == statement_id)
    return _list(session, _query().where(col(Payment.id).in_(mine)).order_by(*PAYMENTS.orders["oldest"].keys))


def load_under_way(session: ScopedSession) -> dict[UUID | None, str]:
    """Return the state of the payment that is under way of each statement that it would settle, by their ids."""
    query = sa.select(col(PaymentSettlement.statement_id), col(Payment.state)).join(
        Payment, sa.and_(col(Payment.id) == col(PaymentSettlement.payment_id), col(Payment.state).in_(UNDER_WAY))
    )
    return {row.statement_id: row.state for row in session.execute(query)}


def get_payment(session: ScopedSession, payment_id: UUID) -> tuple[PaymentRow, list[Due]]:
    """Return one payment and what it settles; NotFound for one that does not exist."""
    found = _list(session, _query().where(col(Payment.id) == payment_id))
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


def list_batches(session: ScopedSession, *conditions: Condition) -> list[BatchRow]:
    """List the payout batches of some conditions, the newest first."""
    answered = (PaymentState.CONFIRMED, PaymentState.RETURNED)
    query = (
        sa.select(
            PayoutBatch,
            _of_payments(sa.func.count(), *answered).label("answered"),
            _of_payments(sum_of(col(Payment.net_minor)), PaymentState.CONFIRMED).label("paid_minor"),
            _of_payments(sum_of(col(Payment.net_minor)), PaymentState.RETURNED).label("returned_minor"),
        )
        .where(*conditions)
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
    return first_of(list_batches(session, col(PayoutBatch.id) == batch_id), otherwise="There is no such payout")


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


def _join(query: AnySelect) -> AnySelect:
    """Join to each payment its party, statement, payout, account, people, and what the bank made of it."""
    joined: AnySelect = (
        query.join(Statement, col(Statement.id) == col(Payment.statement_id))
        .outerjoin(Distributor, col(Distributor.id) == col(Payment.distributor_id))
        .outerjoin(Provider, col(Provider.id) == col(Payment.provider_id))
        .outerjoin(PayoutBatch, col(PayoutBatch.id) == col(Payment.batch_id))
        .outerjoin(BankAccount, col(BankAccount.id) == col(Payment.bank_account_id))
        .outerjoin(_PREPARER, col(_PREPARER.id) == col(Payment.prepared_by))
        .outerjoin(_APPROVER, col(_APPROVER.id) == col(Payment.approved_by))
    )
    return bank_rows.join_bank(joined)


def _query() -> AnySelect:
    named = {"name": _PARTY, "preparer": col(_PREPARER.name), "approver": col(_APPROVER.name), **bank_rows.SHOWN}
    shown = (column.label(name) for name, column in named.items())
    return _join(sa.select(Payment, Statement, PayoutBatch, BankAccount, *shown))


def _list(session: ScopedSession, query: AnySelect) -> list[PaymentRow]:
    return [_build_row(row) for row in session.execute(query)]


def _build_row(row: Any) -> PaymentRow:
    account = row.BankAccount
    return build_row(
        PaymentRow,
        row.Payment,
        row,
        party=parties.party_of(row.Payment),
        statement=statement_reading.number_of(row.Statement),
        month=row.Statement.month,
        batch=payouts.number_of(row.PayoutBatch) if row.PayoutBatch else None,
        bank=f"{account.bank_name}, {account.account_name}, ending in {account.hint}" if account else None,
        # What the bank said of it, if it did.
        note=row.note,
    )


def _rows(columns: Sequence[Any], criteria: PaymentFilter, _: Choices) -> AnySelect:
    return _join(sa.select(*columns).select_from(Payment)).where(*criteria.conditions(Payment))


_KEY, _PREPARED, _NET = col(Payment.id), col(Payment.prepared_at), col(Payment.net_minor)
PAYMENTS: Listing[PaymentFilter] = Listing(
    name="payments",
    title="Payments of parties",
    noun=("payment", "payments"),
    roles=("finance",),
    filter=PaymentFilter,
    key=_KEY,
    usual=("party", "direction", "state", "statement", "batch", "reference", "value", "prepared", "net"),
    row_type=PaymentRow,
    is_live_only=True,
    columns={
        "id": Column("Payment", ID, _KEY),
        "party": Column("Party", TEXT, _PARTY, of="name", width=190, is_sortable=True),
        "direction": Column("Direction", WORD, col(Payment.direction), words=DIRECTIONS, width=90),
        "state": Column("State", STATE, col(Payment.state)),
        "statement": Column(
            *("Settles up to", WORD),
            Derived((Statement.account, Statement.number), lambda _, *given: statement_reading.print_number(*given)),
            width=110,
        ),
        "batch": Column(
            "Payout", WORD, Derived((PayoutBatch.number,), lambda _, number: payouts.print_number(number)), width=90
        ),
        "gross": Column("Gross", SIGNED_MONEY, col(Payment.gross_minor), of="gross_minor"),
        "vat": Column("VAT", SIGNED_MONEY, col(Payment.vat_minor), of="vat_minor"),
        "withheld": Column("Withholding tax", SIGNED_MONEY, col(Payment.withheld_minor), of="withheld_minor"),
        "net": Column(
            *("Amount", SIGNED_MONEY, _NET),
            of="net_minor",
            says="Positive is paid by the platform, negative is received.",
            orders=(
                Order("largest", "Largest amount first", (_NET.desc(), _KEY.desc()), is_descending=True),
                Order("smallest", "Smallest amount first", (_NET, _KEY)),
            ),
        ),
        "reference": Column(
            "Bank reference", TEXT, bank_rows.SHOWN["bank_reference"], of="bank_reference", width=130, is_sortable=True
        ),
        "value": Column(
            *("Value date", DATE, sa.cast(bank_rows.SHOWN["value_on"], sa.String)),
            of="value_on",
            machine="value_date",
            is_sortable=True,
        ),
        "returned": Column("Returned", DATE, sa.cast(bank_rows.SHOWN["returned_on"], sa.String), of="returned_on"),
        "note": Column("Note", TEXT, bank_rows.SHOWN["note"]),
        "bank_name": Column("Bank", TEXT, col(BankAccount.bank_name)),
        "account": Column("Account", MASKED, col(BankAccount.hint)),
        "prepared": Column(
            *("Prepared", DAY, _PREPARED),
            of="prepared_at",
            machine="prepared_on",
            orders=(
                Order("newest", "Newest first", (_PREPARED.desc(), _KEY.desc()), is_descending=True),
                Order("oldest", "Oldest first", (_PREPARED, _KEY)),
            ),
        ),
        "prepared_at": Column("Prepared at", INSTANT, _PREPARED),
        "preparer": Column("Prepared by", TEXT, col(_PREPARER.name), machine="prepared_by", width=150),
        "approver": Column("Approved by", TEXT, col(_APPROVER.name), machine="approved_by", width=150),
        **mode_column(),
    },
    rows=_rows,
    count=lambda session, criteria: count_payments(session, criteria)[0],
)
