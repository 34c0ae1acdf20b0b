"""Payments to and from parties, payout batches, and the statements that they settle (contract F4)."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.finance import BatchState, PaymentState
from core.store.schema.agreements import ACCOUNTS, Party, one_party
from core.store.schema.columns import Owned, Row, minor_field, one_of

DIRECTIONS = ("out", "in")
PAYMENT_ENTRIES = ("paid", "returned")
_OPEN = "state IN ('Prepared', 'Approved')"
_HELD = sa.text("released_by IS NULL")
IS_MADE = sa.text("reverses IS NULL")


def _two_people() -> list[sa.CheckConstraint]:
    return [
        sa.CheckConstraint("approved_by <> prepared_by", name="two_people"),
        sa.CheckConstraint("(approved_by IS NULL) = (approved_at IS NULL)", name="approved"),
    ]


class Transfer(Row, table=True):
    """A movement of money at a bank, kept for ever: one reference names one of them in its mode (contract K9).

    `amount_minor` is positive where we paid, negative where money came back or was received; `lines` is the number of
    payments that it made. A return that the bank booked under the reference of its payment is of the same transfer.
    """

    __table_args__ = (
        sa.UniqueConstraint("reference_key", "is_live"),
        sa.CheckConstraint("amount_minor <> 0 AND lines > 0", name="amount"),
    )
    id: UUID = Field(primary_key=True)
    is_live: bool
    reference: str = Field(max_length=60)
    reference_key: str = Field(max_length=120)
    amount_minor: int = minor_field()
    lines: int
    made_by: UUID | None = Field(default=None, foreign_key="staff.id")
    created_at: datetime


class Paid(Row):
    """A payment of one thing by a transfer, kept for ever; what was paid is the sum of its rows (contract C10, K2).

    A row that `reverses` another is its return, with the amount of that one negated and as `reason` what the bank said.
    """

    id: UUID = Field(primary_key=True)
    transfer_id: UUID = Field(foreign_key="transfer.id", index=True)
    amount_minor: int = minor_field()
    payee_id: UUID | None = None
    value_on: date | None = None
    reason: str | None = Field(default=None, max_length=500)
    paid_by: UUID | None = Field(default=None, foreign_key="staff.id")
    reverses: UUID | None = None
    created_at: datetime


def is_payment() -> list[Any]:
    """Return the constraints of a table of payments and returns of what we owe."""
    return [
        sa.UniqueConstraint("reverses"),
        sa.CheckConstraint("(reverses IS NULL) = (amount_minor > 0) AND amount_minor <> 0", name="amount"),
    ]


class PaymentPayee(Owned, table=True):
    """A payee of a claim or a credit note, kept for ever: a payment names the row that it went to.

    `hint` is the last four digits of the account, which is sealed, and `account_key` the hash by which it is compared;
    `reason` is why it was set. The newest row of a claim counts, and of a credit note the one that was approved.
    """

    __tablename__ = "payment_payee"
    __table_args__ = (sa.CheckConstraint("(claim_id IS NULL) <> (credit_note_id IS NULL)", name="of_one"),)
    id: UUID = Field(primary_key=True)
    claim_id: UUID | None = Field(default=None, foreign_key="claim.id", index=True)
    credit_note_id: UUID | None = Field(default=None, foreign_key="credit_note.id", index=True)
    name: str = Field(max_length=200)
    bank_name: str | None = Field(default=None, max_length=200)
    hint: str | None = Field(default=None, max_length=4)
    sealed: str | None = None
    account_key: str | None = Field(default=None, max_length=64)
    reason: str = Field(max_length=500)
    staff_id: UUID | None = Field(default=None, foreign_key="staff.id")
    created_at: datetime


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
    """One payment as it was prepared and approved: its figures never change, only its state.

    Amounts are positive where we pay, negative where we are paid. `net_minor` is what the bank moves, which is a row of
    `PartyPayment`; `statement_id` is the newest statement that it settles. What is said to be received has a reference
    and a day before somebody else confirms it; what the bank refused has moved no money.
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
        sa.CheckConstraint("direction = 'in' OR (received_reference IS NULL AND received_on IS NULL)", name="received"),
        sa.CheckConstraint("refused_on IS NULL OR state = 'Returned'", name="refused"),
        *(
            sa.Index(
                f"ix_payment_open_of_{party}",
                f"{party}_id",
                unique=True,
                sqlite_where=sa.text(f"{party}_id IS NOT NULL AND {_OPEN}"),
                postgresql_where=sa.text(f"{party}_id IS NOT NULL AND {_OPEN}"),
            )
            for party in ACCOUNTS
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
    received_reference: str | None = Field(default=None, max_length=60)
    received_on: date | None = None
    prepared_by: UUID = Field(foreign_key="staff.id")
    prepared_at: datetime
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_at: datetime | None = None
    refused_by: UUID | None = Field(default=None, foreign_key="staff.id")
    refused_on: date | None = None
    note: str | None = None


class PartyPayment(Paid, table=True):
    """A payment of a party that the bank moved, or its return: once for each `Payment` and in whole, with its sign.

    Parties are of no one distributor. `payee_id` is the bank account that was approved.
    """

    __tablename__ = "party_payment"
    __table_args__ = (
        sa.UniqueConstraint("reverses"),
        sa.CheckConstraint("amount_minor <> 0", name="amount"),
        sa.CheckConstraint("reverses IS NULL OR reason IS NOT NULL", name="reason"),
        sa.Index("ix_party_payment_once", "payment_id", unique=True, sqlite_where=IS_MADE, postgresql_where=IS_MADE),
        sa.Index(None, "value_on"),
    )
    payment_id: UUID = Field(foreign_key="payment.id")
    value_on: date


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
