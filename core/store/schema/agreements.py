"""Agreements with distributors and insurers, and the bank accounts that they are paid to (contract F2)."""

from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.store.schema.columns import Row, one_of

ACCOUNTS = ("distributor", "provider")
COLLECTS = ("platform", "distributor")
BANK_STATES = ("open", "confirmed", "refused", "withdrawn")


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


class BankAccount(Party, table=True):
    """Bank account of a party: proposed by one person, confirmed by another, used from `usable_from` on.

    The account number is sealed; `hint` is its last four digits.
    """

    __tablename__ = "bank_account"
    __table_args__ = (
        one_party(),
        one_of("account", ACCOUNTS, "account"),
        one_of("state", BANK_STATES, "state"),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name="decided"),
        sa.CheckConstraint("(state = 'confirmed') = (usable_from IS NOT NULL)", name="rests"),
        sa.CheckConstraint("state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by", name="two_people"),
        sa.Index("ix_bank_account_of_distributor", "distributor_id", "state"),
        sa.Index("ix_bank_account_of_provider", "provider_id", "state"),
    )
    id: UUID = Field(primary_key=True)
    bank_name: str = Field(max_length=100)
    account_name: str = Field(max_length=100)
    hint: str = Field(max_length=4)
    sealed: str
    proposed_by: UUID = Field(foreign_key="staff.id")
    proposed_at: datetime
    state: str = Field(default="open", max_length=10)
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_at: datetime | None = None
    usable_from: datetime | None = None
