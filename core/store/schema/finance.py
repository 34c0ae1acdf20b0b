"""Finance: agreements, bank accounts, payments, corrections, credit notes, months, and the view of every movement."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.finance import BatchState, CreditNoteState, MonthState, PaymentState
from core.store.schema.columns import (
    Amounts,
    OfSale,
    Owned,
    Proposed,
    Row,
    index_where,
    json_field,
    minor_field,
    one_of,
    one_open,
    proposal_checks,
)

ACCOUNTS = ("distributor", "provider")
COLLECTS = ("platform", "distributor")


def one_party() -> sa.CheckConstraint:
    """A check that a row names the distributor or the insurer that its account says, and no other."""
    return sa.CheckConstraint(
        "(account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL)"
        " OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)",
        name="one_party",
    )


class Party(Row):
    """A distributor, or an insurer: whose account it is."""

    account: str = Field(max_length=11)
    distributor_id: UUID | None = Field(default=None, foreign_key="distributor.id")
    provider_id: UUID | None = Field(default=None, foreign_key="provider.id")


class Agreement(Party, table=True):
    """The terms with a party from a day on; the newest that has begun holds, and none is ever changed.

    `collects` says who holds the premium of a distributor's sales: the platform's wallet, or the distributor.
    `book_premium_minor` is the premium of loan books that a distributor confirms by itself in a month.
    """

    __table_args__ = (
        one_party(),
        one_of("account", ACCOUNTS, "account"),
        one_of("collects", COLLECTS, "collects"),
        sa.CheckConstraint("ends_on IS NULL OR ends_on >= starts_on", name="term"),
        sa.CheckConstraint("remittance_days BETWEEN 1 AND 365", name="remittance_days"),
        sa.CheckConstraint("bordereau_due_day BETWEEN 1 AND 28", name="bordereau_due_day"),
        sa.Index("ix_agreement_of_distributor", "distributor_id", "starts_on"),
        sa.Index("ix_agreement_of_provider", "provider_id", "starts_on"),
    )
    id: UUID = Field(primary_key=True)
    number: str = Field(max_length=60)
    starts_on: date
    ends_on: date | None = None
    contact_email: str | None = Field(default=None, max_length=254)
    licence_number: str | None = Field(default=None, max_length=60)
    licence_expires_on: date | None = None
    tin: str | None = Field(default=None, max_length=20)
    is_resident: bool = True
    is_small: bool = False
    charges_vat: bool = False
    collects: str = Field(default="platform", max_length=11)
    class_of_business: str | None = Field(default=None, max_length=60)
    remittance_days: int = 30
    bordereau_due_day: int = 10
    book_premium_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    made_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime


class TermsProposal(Proposed, table=True):
    """Terms with a distributor that decide money: one admin proposes them, another confirms them.

    `terms` are those of an agreement, which has the proposal's id once it is confirmed.
    """

    __table_args__ = (*proposal_checks(), one_open("terms_proposal", "distributor_id"))
    id: UUID = Field(primary_key=True)
    distributor_id: UUID = Field(foreign_key="distributor.id")
    terms: dict[str, Any] = json_field()


class BankAccount(Party, Proposed, table=True):
    """Bank account of a party: proposed by one person, confirmed by another, used from `usable_from` on.

    The account number is sealed; `hint` is its last four digits.
    """

    __table_args__ = (
        one_party(),
        one_of("account", ACCOUNTS, "account"),
        *proposal_checks(),
        sa.CheckConstraint("(state = 'confirmed') = (usable_from IS NOT NULL)", name="rests"),
        sa.Index("ix_bank_account_of_distributor", "distributor_id", "state"),
        sa.Index("ix_bank_account_of_provider", "provider_id", "state"),
    )
    id: UUID = Field(primary_key=True)
    bank_name: str = Field(max_length=100)
    account_name: str = Field(max_length=100)
    hint: str = Field(max_length=4)
    sealed: str
    usable_from: datetime | None = None


DIRECTIONS = ("out", "in")
PAYMENT_ENTRIES = ("paid", "returned")
_OPEN = "state IN ('Prepared', 'Approved')"
_HELD = sa.text("released_by IS NULL")
IS_MADE = sa.text("reverses IS NULL")


class Prepared(Row):
    """A paper that one person prepares and another approves; its constraints are `two_people`."""

    prepared_by: UUID = Field(foreign_key="staff.id")
    prepared_at: datetime
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_at: datetime | None = None


def two_people() -> list[sa.CheckConstraint]:
    """Return the checks of what is prepared and approved: by two people, at a time."""
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


class PayoutBatch(Prepared, table=True):
    """Payouts that are approved together and sent to the bank as one file, whose hash is kept."""

    __table_args__ = (
        one_of("state", tuple(BatchState), "state"),
        *two_people(),
        sa.CheckConstraint("state <> 'Approved' OR (approved_by IS NOT NULL AND sha256 IS NOT NULL)", name="file"),
    )
    id: UUID = Field(primary_key=True)
    number: int = Field(unique=True)
    state: str = Field(default=BatchState.PREPARED, max_length=9)
    payments: int
    net_minor: int = minor_field()
    sha256: str | None = Field(default=None, max_length=64)
    note: str | None = None


class Payment(Party, Prepared, table=True):
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
        *two_people(),
        sa.CheckConstraint("net_minor = gross_minor + vat_minor - withheld_minor", name="parts"),
        sa.CheckConstraint("net_minor <> 0 AND (direction = 'out') = (net_minor > 0)", name="sign"),
        sa.CheckConstraint("direction = 'in' OR bank_account_id IS NOT NULL", name="payee"),
        sa.CheckConstraint("state NOT IN ('Approved', 'Confirmed') OR approved_by IS NOT NULL", name="in_two_hands"),
        sa.CheckConstraint("direction = 'in' OR (received_reference IS NULL AND received_on IS NULL)", name="received"),
        sa.CheckConstraint("refused_on IS NULL OR state = 'Returned'", name="refused"),
        *(
            index_where(
                sa.text(f"{party}_id IS NOT NULL AND {_OPEN}"),
                f"ix_payment_open_of_{party}",
                f"{party}_id",
                unique=True,
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
    refused_by: UUID | None = Field(default=None, foreign_key="staff.id")
    refused_on: date | None = None
    refused_reference: str | None = Field(default=None, max_length=60)
    note: str | None = None


class PartyPayment(Paid, table=True):
    """A payment of a party that the bank moved, or its return: once for each `Payment` and in whole, with its sign.

    Parties are of no one distributor. `payee_id` is the bank account that was approved.
    """

    __table_args__ = (
        sa.UniqueConstraint("reverses"),
        sa.CheckConstraint("amount_minor <> 0", name="amount"),
        sa.CheckConstraint("reverses IS NULL OR reason IS NOT NULL", name="reason"),
        index_where(IS_MADE, "ix_party_payment_once", "payment_id", unique=True),
        sa.Index(None, "value_on"),
    )
    payment_id: UUID = Field(foreign_key="payment.id")
    value_on: date


class PaymentSettlement(Row, table=True):
    """The part of a payment that settles one statement, with the taxes of that part; rows are only ever added."""

    __table_args__ = (sa.PrimaryKeyConstraint("payment_id", "statement_id"), sa.Index(None, "statement_id"))
    payment_id: UUID = Field(foreign_key="payment.id")
    statement_id: UUID = Field(foreign_key="statement.id")
    net_minor: int = minor_field()
    vat_minor: int = minor_field()
    withheld_minor: int = minor_field()


class StatementPayment(Row, table=True):
    """A payment, or its return, as a statement printed it. Each is held by one statement at most."""

    __table_args__ = (
        sa.ForeignKeyConstraint(["statement_id"], ["statement.id"], deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("statement_id", "position"),
        one_of("entry", PAYMENT_ENTRIES, "entry"),
        index_where(_HELD, "ix_statement_payment_of_payment", "payment_id", "entry", unique=True),
    )
    statement_id: UUID
    position: int
    payment_id: UUID = Field(foreign_key="payment.id")
    entry: str = Field(max_length=8)
    amount_minor: int = minor_field()
    value_on: date
    reference: str = Field(max_length=60)
    released_by: UUID | None = Field(default=None, foreign_key="statement.id")


MOVEMENT_KINDS = ("purchase", "renewal", "refund", "adjustment")
# Under this key of `Table.info` a table says that it is a view: a migration makes it, and nothing writes to it.
VIEW = "view"


class AdjustmentProposal(Owned, Amounts, Proposed, table=True):
    """A correction that one person proposes and another decides; its figures never change (contract F1)."""

    __table_args__ = (
        sa.Index("ix_adjustment_proposal_open", "is_live", "state", "proposed_at"),
        *proposal_checks(),
        one_of("corrects_kind", MOVEMENT_KINDS, "corrects_kind"),
        sa.CheckConstraint(
            "total_minor <> 0 OR mca_profit_minor <> 0 OR distributor_profit_minor <> 0", name="changes_something"
        ),
    )
    id: UUID = Field(primary_key=True)
    corrects_kind: str = Field(max_length=10)
    corrects_id: UUID = Field(index=True)
    reason: str
    refusal: str | None = None


class Adjustment(Owned, OfSale, Amounts, table=True):
    """A confirmed correction of another movement, dated when it was confirmed; rows are only ever added."""

    __table_args__ = (
        sa.Index(None, "is_live", "created_at", "id"),
        one_of("corrects_kind", MOVEMENT_KINDS, "corrects_kind"),
        sa.CheckConstraint("approved_by <> proposed_by", name="two_people"),
    )
    id: UUID = Field(primary_key=True)
    proposal_id: UUID = Field(foreign_key="adjustment_proposal.id", unique=True)
    corrects_kind: str = Field(max_length=10)
    corrects_id: UUID = Field(index=True)
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    purchase_id: UUID = Field(foreign_key="purchase.id")
    renewal_id: UUID | None = Field(default=None, foreign_key="renewal.id")
    reason: str
    proposed_by: UUID = Field(foreign_key="staff.id")
    approved_by: UUID = Field(foreign_key="staff.id")
    created_at: datetime


class CreditNote(Owned, table=True):
    """The credit note of a refund: the figures never change, only its state (contract F8).

    `number` has no gaps within an insurer and mode. `made_by` is the actor who ended the policy; `first_by` approved it
    first where the amount needs two people, and `payee_id` is who is paid. Its payments are in `CreditNotePayment`.
    """

    __table_args__ = (
        one_of("state", tuple(CreditNoteState), "state"),
        sa.UniqueConstraint("provider_id", "is_live", "number"),
        sa.Index(None, "is_live", "created_at", "id"),
        sa.Index(None, "is_live", "state", "created_at"),
        sa.CheckConstraint("total_minor > 0", name="amount"),
        sa.CheckConstraint("approved_by <> first_by", name="two_people"),
        sa.CheckConstraint(
            "state NOT IN ('Approved', 'Paid', 'Returned') OR (approved_by IS NOT NULL AND approved_at IS NOT NULL)",
            name="approved",
        ),
        sa.CheckConstraint("state NOT IN ('Approved', 'Paid', 'Returned') OR payee_id IS NOT NULL", name="payee"),
    )
    id: UUID = Field(primary_key=True)
    refund_id: UUID = Field(foreign_key="refund.id", unique=True)
    provider_id: UUID = Field(foreign_key="provider.id")
    number: int
    total_minor: int = minor_field()
    created_at: datetime
    made_by: str = Field(max_length=120)
    state: str = Field(default=CreditNoteState.COMPUTED, max_length=20)
    first_by: UUID | None = Field(default=None, foreign_key="staff.id")
    first_at: datetime | None = None
    approved_by: UUID | None = Field(default=None, foreign_key="staff.id")
    approved_at: datetime | None = None
    payee_id: UUID | None = None


class CreditNotePayment(Paid, Owned, table=True):
    """Money that was paid on a credit note to the payee that was approved, or came back (contract K2)."""

    __table_args__ = (*is_payment(), sa.CheckConstraint("reverses IS NULL OR reason IS NOT NULL", name="reason"))
    credit_note_id: UUID = Field(foreign_key="credit_note.id", index=True)


class Movement(Owned, Amounts, table=True):
    """A view: every purchase, renewal that took effect, refund and adjustment, with its sign (contract F1).

    `total_minor` = `provider_share_minor` + `mca_profit_minor` + `distributor_profit_minor` on every row.
    """

    __table_args__ = ({"info": {VIEW: True}},)
    id: UUID = Field(primary_key=True)
    kind: str
    created_at: datetime
    policy_id: UUID
    purchase_id: UUID
    renewal_id: UUID | None
    customer_id: UUID
    product_id: UUID
    product_version_id: UUID
    product_category_id: UUID
    provider_id: UUID
    # That of the purchase, also on what followed it.
    request_source: str | None
    provider_share_minor: int = minor_field()


class MonthStep(Row, table=True):
    """One step of a month; the last one is its state. `sha256` is that of the journal at its closing.

    Steps are counted within the month, so that of two at the same instant the second is refused. Whoever makes the
    second of a pair is not who made the first (`before_by`). `facts_kept`: a reopening was given up, and the month is
    closed as it was.
    """

    __table_args__ = (
        sa.UniqueConstraint("month", "position"),
        one_of("state", tuple(MonthState), "state"),
        sa.CheckConstraint(
            "(state <> 'Reopened' AND (state <> 'Closed' OR facts_kept))"
            " OR (before_by IS NOT NULL AND before_by <> by)",
            name="two_people",
        ),
        sa.CheckConstraint("state <> 'Closed' OR sha256 IS NOT NULL", name="journal"),
    )
    id: UUID = Field(primary_key=True)
    month: date
    position: int
    state: str = Field(max_length=9)
    by: UUID = Field(foreign_key="staff.id")
    before_by: UUID | None = Field(default=None, foreign_key="staff.id")
    at: datetime
    note: str | None = None
    sha256: str | None = Field(default=None, max_length=64)
    facts_kept: bool = False
    facts: dict[str, Any] = json_field()
