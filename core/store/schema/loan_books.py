"""Loan books: a lender's file of loans, its rows, and what became of each (contract B1 to B6)."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.loan_books import GIVEN_UP, LoanBookState, RowOutcome
from core.store.schema.columns import Owned, json_field, minor_field, one_of

KINDS = ("additions", "exits", "snapshot")
DATE_ORDERS = ("YYYY-MM-DD", "DD/MM/YYYY")
ACCEPTS = ("valid", "all_or_nothing")
_STANDING = sa.text("state NOT IN ({})".format(", ".join(f"'{state}'" for state in GIVEN_UP)))
_COVERED = sa.text("outcome = 'covered'")


class LoanBook(Owned, table=True):
    """One file of a lender: what it says of itself, who answers for it, how far it is read and sold.

    What is said at the upload never changes, nor who confirmed it. `done_to` is the last line that was sold or ended,
    `leased_until` keeps a second worker away.
    """

    __tablename__ = "loan_book"
    __table_args__ = (
        one_of("kind", KINDS, "kind"),
        one_of("date_order", DATE_ORDERS, "date_order"),
        one_of("state", tuple(LoanBookState), "state"),
        one_of("accept", ACCEPTS, "accept"),
        sa.CheckConstraint("(confirmed_at IS NULL) = (confirmed_by IS NULL)", name="confirmed"),
        sa.CheckConstraint("uploader_id IS NULL OR confirmer_id IS NULL OR confirmer_id <> uploader_id", name="people"),
        sa.Index(
            "ix_loan_book_of_file",
            "distributor_id",
            "is_live",
            "sha256",
            unique=True,
            sqlite_where=_STANDING,
            postgresql_where=_STANDING,
        ),
        sa.Index(None, "is_live", "created_at", "id"),
        sa.Index(None, "state", "leased_until"),
    )
    id: UUID = Field(primary_key=True)
    kind: str = Field(max_length=9)
    product_id: UUID = Field(foreign_key="product.id")
    month: date
    date_order: str = Field(max_length=10)
    benefits: list[str] = json_field(list)
    free_cover_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    attested_by: str | None = Field(default=None, max_length=100)
    attested_on: date | None = None
    attestation_url: str | None = Field(default=None, max_length=2048)
    file_name: str = Field(max_length=200)
    sha256: str = Field(max_length=64)
    size: int
    batch_id: UUID
    uploaded_by: str = Field(max_length=120)
    uploader_id: UUID | None = Field(default=None, foreign_key="staff.id")
    created_at: datetime
    updated_at: datetime
    state: str = Field(default=LoanBookState.UPLOADED, max_length=9)
    version: int = 1
    leased_until: datetime | None = None
    expires_at: datetime | None = None
    heading: list[str] = json_field(list)
    unknown: list[str] = json_field(list)
    refusal: str | None = Field(default=None, max_length=1000)
    rows: int = 0
    preview: dict[str, Any] = json_field()
    preview_hash: str | None = Field(default=None, max_length=64)
    product_version_id: UUID | None = Field(default=None, foreign_key="product_version.id")
    accept: str | None = Field(default=None, max_length=14)
    confirmed_by: str | None = Field(default=None, max_length=120)
    confirmer_id: UUID | None = Field(default=None, foreign_key="staff.id")
    confirmed_at: datetime | None = None
    done_to: int = 0
    done_rows: int = 0
    done_minor: int = minor_field()
    done_at: datetime | None = None


class LoanBookFile(Owned, table=True):
    """The bytes of a book until it is confirmed or given up: it may have to be read again."""

    __tablename__ = "loan_book_file"
    book_id: UUID = Field(primary_key=True, foreign_key="loan_book.id")
    content: bytes


class LoanBookRow(Owned, table=True):
    """One row of a book: the lender's own cells, and the one code that decides it beside the others.

    `cells` are masked where they hold a personal number, which `sealed` keeps. A row that has its policy stays.
    """

    __tablename__ = "loan_book_row"
    __table_args__ = (
        sa.PrimaryKeyConstraint("book_id", "line"),
        one_of("outcome", tuple(RowOutcome), "outcome"),
        sa.CheckConstraint("(policy_id IS NOT NULL) OR outcome NOT IN ('covered', 'ended', 'insured')", name="policy"),
        sa.Index(
            "ix_loan_book_row_of_policy",
            "policy_id",
            unique=True,
            sqlite_where=_COVERED,
            postgresql_where=_COVERED,
        ),
        sa.Index(None, "policy_id"),
        sa.Index(None, "book_id", "outcome", "line"),
        sa.Index(None, "book_id", "risk_hash"),
    )
    book_id: UUID = Field(foreign_key="loan_book.id")
    line: int
    cells: list[str] = json_field(list)
    outcome: str = Field(max_length=9)
    code: str | None = Field(default=None, max_length=24)
    also: list[str] = json_field(list)
    reason: str | None = Field(default=None, max_length=500)
    account: str | None = Field(default=None, max_length=60)
    risk_hash: str | None = Field(default=None, max_length=64)
    facts: dict[str, Any] = json_field()
    sealed: str | None = None
    premium_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    policy_id: UUID | None = Field(default=None, foreign_key="policy.id")
