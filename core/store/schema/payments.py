"""Payments to and from parties, payout batches, and the statements that they settle (contract F4)."""

from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.payments import BatchState, PaymentState
from core.store.schema.agreements import ACCOUNTS, Party, one_party
from core.store.schema.columns import Row, minor_field, one_of

DIRECTIONS = ("out", "in")
PAYMENT_ENTRIES = ("paid", "returned")
_OPEN = "state IN ('Prepared', 'Approved')"
_HELD = sa.text("released_by IS NULL")


def _two_people() -> list[sa.CheckConstraint]:
    return [
        sa.CheckConstraint("approved_by <> prepared_by", name="two_people"),
        sa.CheckConstraint("(approved_by IS NULL) = (approved_at IS NULL)", name="approved"),
    ]


class PayoutBatch(Row, table=True):
    """Payouts that are approved together and sent to the bank as one file, whose hash is kept."""

    __tablename__ = "payout_batch"
    __table_args__ = (
        one_of("state", tuple(BatchState), "state"),
        *_two_people(),
        sa.CheckConstraint("state <> 'Approved' OR (approved_by IS NOT NULL AND sha256 IS NOT NULL)", name="file"),
    )
    id: UUID = Field(primary_key=True)
    number: int = Field(unique=True)
    state: str = Field(default=BatchState.PREPARED, max_length=9)
    payments: int
    net_minor: int = minor_field()
    sha256: str | None = Field(default=None, max_length=64)
    prepared_by: UUID = Field(foreign_key="staff.id")
    prepared_at: datetime
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_at: datetime | None = None
    note: str | None = None


class Payment(Party, table=True):
    """One payment: its figures never change, only its state.

    Amounts are positive where we pay, negative where we are paid. `net_minor` is what the bank moves; `statement_id`
    is the newest statement that it settles.
    """

    __table_args__ = (
        one_party(),
        one_of("account", ACCOUNTS, "account"),
        one_of("direction", DIRECTIONS, "direction"),
        one_of("state", tuple(PaymentState), "state"),
        *_two_people(),
        sa.CheckConstraint("net_minor = gross_minor + vat_minor - withheld_minor", name="parts"),
        sa.CheckConstraint("net_minor <> 0 AND (direction = 'out') = (net_minor > 0)", name="sign"),
        sa.CheckConstraint("direction = 'in' OR bank_account_id IS NOT NULL", name="payee"),
        sa.CheckConstraint("state NOT IN ('Approved', 'Confirmed') OR approved_by IS NOT NULL", name="in_two_hands"),
        sa.CheckConstraint(
            "state <> 'Confirmed' OR"
            " (confirmed_by IS NOT NULL AND bank_reference IS NOT NULL AND value_on IS NOT NULL)",
            name="confirmed",
        ),
        sa.CheckConstraint("(state = 'Returned') = (returned_on IS NOT NULL)", name="returned"),
        *(
            sa.Index(
                f"ix_payment_{what}_of_{party}",
                f"{party}_id",
                *columns,
                unique=True,
                sqlite_where=sa.text(f"{party}_id IS NOT NULL AND {where}"),
                postgresql_where=sa.text(f"{party}_id IS NOT NULL AND {where}"),
            )
            for party in ACCOUNTS
            for what, columns, where in (
                ("open", (), _OPEN),
                ("reference", ("direction", "reference_key"), "reference_key IS NOT NULL AND state <> 'Withdrawn'"),
            )
        ),
        sa.Index(None, "batch_id"),
        sa.Index(None, "prepared_at"),
    )
    id: UUID = Field(primary_key=True)
    direction: str = Field(max_length=3)
    statement_id: UUID = Field(foreign_key="statement.id")
    batch_id: UUID | None = Field(default=None, foreign_key="payout_batch.id")
    bank_account_id: UUID | None = Field(default=None, foreign_key="bank_account.id")
    gross_minor: int = minor_field()
    vat_minor: int = minor_field()
    withheld_minor: int = minor_field()
    net_minor: int = minor_field()
    state: str = Field(default=PaymentState.PREPARED, max_length=9)
    bank_reference: str | None = Field(default=None, max_length=60)
    reference_key: str | None = Field(default=None, max_length=60)
    value_on: date | None = None
    prepared_by: UUID = Field(foreign_key="staff.id")
    prepared_at: datetime
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_at: datetime | None = None
    confirmed_by: UUID | None = Field(default=None, foreign_key="staff.id")
    confirmed_at: datetime | None = None
    returned_by: UUID | None = Field(default=None, foreign_key="staff.id")
    returned_on: date | None = None
    note: str | None = None


class PaymentSettlement(Row, table=True):
    """The part of a payment that settles one statement, with the taxes of that part; rows are only ever added."""

    __tablename__ = "payment_settlement"
    __table_args__ = (sa.PrimaryKeyConstraint("payment_id", "statement_id"), sa.Index(None, "statement_id"))
    payment_id: UUID = Field(foreign_key="payment.id")
    statement_id: UUID = Field(foreign_key="statement.id")
    net_minor: int = minor_field()
    vat_minor: int = minor_field()
    withheld_minor: int = minor_field()


class StatementPayment(Row, table=True):
    """A payment, or its return, as a statement printed it. Each is held by one statement at most."""

    __tablename__ = "statement_payment"
    __table_args__ = (
        sa.ForeignKeyConstraint(["statement_id"], ["statement.id"], deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("statement_id", "position"),
        one_of("entry", PAYMENT_ENTRIES, "entry"),
        sa.Index(
            "ix_statement_payment_of_payment",
            "payment_id",
            "entry",
            unique=True,
            sqlite_where=_HELD,
            postgresql_where=_HELD,
        ),
    )
    statement_id: UUID
    position: int
    payment_id: UUID = Field(foreign_key="payment.id")
    entry: str = Field(max_length=8)
    amount_minor: int = minor_field()
    value_on: date
    reference: str = Field(max_length=60)
    released_by: UUID | None = Field(default=None, foreign_key="statement.id")
