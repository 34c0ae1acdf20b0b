"""Sales: purchases, policies, renewals, refunds, certificates, submissions, and loan books (contract B1-B6)."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.loan_books import GIVEN_UP, LoanBookState, RowOutcome
from core.states.policies import SubmissionState
from core.store.expressions import phone_key
from core.store.schema.columns import Amounts, OfSale, Owned, Record, Row, index_where, json_field, minor_field, one_of


def _parts_fit() -> sa.CheckConstraint:
    return sa.CheckConstraint(
        "total_minor >= 0 AND mca_profit_minor >= 0 AND distributor_profit_minor >= 0"
        " AND mca_profit_minor + distributor_profit_minor <= total_minor",
        name="parts",
    )


class Purchase(Record, Owned, OfSale, Amounts, table=True):
    """Money taken for one policy, with its split; the amounts never change (contract S7, P8)."""

    __table_args__ = (
        # With `deleted_at`, so that counting and skipping rows leaves the table alone; so does sorting by amount.
        sa.Index(None, "distributor_id", "is_live", "created_at", "id", "deleted_at"),
        sa.Index(None, "is_live", "created_at", "id", "deleted_at", "total_minor"),
        sa.Index(None, "customer_id", "created_at"),
        _parts_fit(),
    )
    batch_id: UUID
    premium_frequency: str | None = Field(default=None, max_length=20)
    discount_code_id: UUID | None = None
    payment_option: str | None = Field(default=None, max_length=40)
    payment_channel: str | None = Field(default=None, max_length=40)
    request_source: str | None = Field(default=None, max_length=40)


UNUSUAL = "(NOT activated OR cancelled_at IS NOT NULL OR declined_at IS NOT NULL)"
_ENDINGS = ("activated", "cancelled_at", "declined_at", "deleted_at")
_OF_DISTRIBUTOR = ("distributor_id", "is_live", "created_at", "id")
_IN_FORCE = ("created_at", *_ENDINGS, "product_id", "distributor_id", "genius_price_minor", "id")


class Policy(Record, Owned, table=True):
    """The cover that a purchase bought. `activated` is a fact; being in force is derived (contract S11)."""

    __table_args__ = (
        sa.UniqueConstraint("provider_id", "number_key"),
        sa.Index(None, "is_live", "created_at", "id"),
        # These three hold all that is read of policies in force or due, so that the wide rows are left alone.
        sa.Index("ix_policy_in_force", "is_live", "expiration_at", *_IN_FORCE),
        sa.Index("ix_policy_of_distributor", *_OF_DISTRIBUTOR, *_ENDINGS, "expiration_at"),
        sa.Index("ix_policy_of_customer", "customer_id", "created_at", "is_live", "expiration_at", *_ENDINGS),
        index_where(sa.text(UNUSUAL), "ix_policy_unusual", "is_live", "created_at"),
        sa.Index(None, "product_id", "risk_hash"),
        # A part of one is looked for along its index. SQLite looks at a row once its text fits; PostgreSQL would for
        # each text, unless the index holds all that a search asks for.
        *(
            sa.Index(None, column, postgresql_include=["id", "is_live", "distributor_id"])
            for column in ("number_key", "plate_key", "phone")
        ),
        # A loan that was insured twice is found by its borrower's phone.
        index_where(sa.text("twin_key IS NOT NULL"), "ix_policy_borrower_phone", phone_key(sa.column("phone"))),
        sa.CheckConstraint("NOT activated OR number_key IS NOT NULL", name="numbered"),
        sa.CheckConstraint("expiration_at IS NULL OR start_at IS NULL OR expiration_at >= start_at", name="term"),
    )
    purchase_id: UUID = Field(foreign_key="purchase.id", unique=True)
    customer_id: UUID = Field(foreign_key="customer.id")
    buyer_id: UUID = Field(foreign_key="customer.id", index=True)
    product_id: UUID = Field(foreign_key="product.id")
    product_category_id: UUID = Field(foreign_key="product_category.id")
    provider_id: UUID = Field(foreign_key="provider.id")
    inspection_id: UUID | None = Field(default=None, foreign_key="inspection.id")
    first_name: str
    last_name: str
    email: str = Field(max_length=254, index=True)
    phone: str | None = Field(default=None, max_length=32)
    dob: str | None = None
    start_at: datetime | None = None
    activation_at: datetime | None = None
    expiration_at: datetime | None = None
    activated: bool
    submitted_to_provider: bool
    cancelled_at: datetime | None = None
    declined_at: datetime | None = None
    policy_number: str | None = Field(default=None, max_length=60)
    number_key: str | None = Field(default=None, max_length=60)
    provider_policy_id: str | None = None
    certificate_code: str | None = Field(default=None, max_length=32)
    plate_key: str | None = Field(default=None, max_length=40)
    device_serial_number: str | None = None
    risk_hash: str | None = Field(default=None, max_length=64)
    twin_key: str | None = Field(default=None, max_length=60)
    possible_duplicate_of: UUID | None = Field(default=None, foreign_key="policy.id")
    sum_insured_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    market_price_minor: int = minor_field()
    genius_price_minor: int = minor_field()
    profit_minor: int = minor_field()
    payment_option: str | None = Field(default=None, max_length=40)
    payment_channel: str | None = Field(default=None, max_length=40)
    request_source: str | None = Field(default=None, max_length=40)
    submitted: dict[str, Any] = json_field()
    payload: dict[str, Any] = json_field()
    sealed: str | None = None
    explained: list[dict[str, str]] = json_field(list)
    version: int = 1


class Inspection(Record, Owned, table=True):
    """A reference to the inspection of a vehicle; its record lives with the inspector."""

    reference: str | None = None


_TERMS = ("start_at", "status", "deleted_at", "product_id", "distributor_id")


class Renewal(Record, Owned, OfSale, Amounts, table=True):
    """One more term of a policy, paid for; a term is renewed once (contract R1-R3)."""

    __table_args__ = (
        sa.UniqueConstraint("policy_id", "previous_expiration_at"),
        sa.Index("ix_renewal_terms", "is_live", "previous_expiration_at", *_TERMS),
        sa.Index(
            "ix_renewal_failed",
            "is_live",
            "created_at",
            sqlite_where=sa.text("status IS 0"),
            postgresql_where=sa.text("status IS false"),
        ),
        sa.Index("ix_renewal_of_distributor", *_OF_DISTRIBUTOR, "deleted_at", "status"),
        sa.Index(None, "is_live", "created_at", "id"),
        sa.Index(None, "customer_id", "created_at"),
        _parts_fit(),
    )
    policy_id: UUID = Field(foreign_key="policy.id")
    purchase_id: UUID = Field(foreign_key="purchase.id")
    status: bool = True
    previous_expiration_at: datetime
    start_at: datetime
    expiration_at: datetime
    payment_option: str | None = Field(default=None, max_length=40)
    payment_channel: str | None = Field(default=None, max_length=40)
    request_source: str | None = Field(default=None, max_length=40)


_OF_PURCHASE, _OF_RENEWAL = sa.text("renewal_id IS NULL"), sa.text("renewal_id IS NOT NULL")


class Refund(Owned, OfSale, Amounts, table=True):
    """Premium given back of one paid term, with its split; the term keeps its amounts (contract S19).

    The term is that of the renewal, or of the purchase where there is none. A term is refunded once, and a trigger
    of the store refuses more than was paid for it. The columns are named as those of purchases and renewals.
    """

    __table_args__ = (
        index_where(_OF_PURCHASE, "ix_refund_of_purchase", "purchase_id", unique=True),
        index_where(_OF_RENEWAL, "ix_refund_of_renewal", "renewal_id", unique=True),
        sa.Index(None, "is_live", "created_at", "id"),
        _parts_fit(),
    )
    id: UUID = Field(primary_key=True)
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    purchase_id: UUID = Field(foreign_key="purchase.id")
    renewal_id: UUID | None = Field(default=None, foreign_key="renewal.id")
    method: str = Field(max_length=20)
    reason: str
    explained: list[dict[str, str]] = json_field(list)
    created_at: datetime


class Certificate(Owned, table=True):
    """One issued certificate; whoever has the code can open and verify it (contract S10)."""

    code: str = Field(primary_key=True, max_length=32)
    policy_id: UUID = Field(foreign_key="policy.id", index=True)
    start_at: datetime
    expiration_at: datetime
    created_at: datetime


class Submission(Owned, table=True):
    """A policy's submission to its insurer, queued with the sale and sent later.

    `attempts` counts every time it was sent, `failures` those since the insurer last gave a usable answer.
    """

    __table_args__ = (
        one_of("state", tuple(SubmissionState), "state"),
        # Holds all that finding due work reads, and all that counting what waits reads.
        sa.Index("ix_submission_due", "state", "provider_id", "next_try_at", "leased_until"),
        sa.Index("ix_submission_waiting", "is_live", "state", "provider_id", "created_at"),
    )
    policy_id: UUID = Field(primary_key=True, foreign_key="policy.id")
    provider_id: UUID = Field(foreign_key="provider.id")
    state: str = Field(max_length=20)
    attempts: int = 0
    failures: int = 0
    next_try_at: datetime | None = None
    leased_until: datetime | None = None
    last_error: str | None = None
    answer: str | None = Field(default=None, max_length=20)
    answered_at: datetime | None = None
    insurer_number: str | None = Field(default=None, max_length=60)
    insurer_certificate_url: str | None = None
    trace_id: str | None = Field(default=None, max_length=32)
    created_at: datetime
    updated_at: datetime


class InsurerConnection(Row, table=True):
    """State of an insurer's connection, shared by every worker; it pauses after several failures in a row."""

    provider_id: UUID = Field(primary_key=True, foreign_key="provider.id")
    failures: int = 0
    rests_until: datetime | None = None
    last_success_at: datetime | None = None
    last_failure_at: datetime | None = None
    last_error: str | None = None


class InsuredRisk(Row, table=True):
    """A row to lock while a risk is sold, so that two sales of it meet here (contract S12)."""

    product_id: UUID = Field(primary_key=True, foreign_key="product.id")
    risk_hash: str = Field(primary_key=True, max_length=64)
    sold_at: datetime


class NumberCounter(Row, table=True):
    """The last number of a printed series; counted up inside the transaction that prints it."""

    series: str = Field(primary_key=True, max_length=80)
    last: int = minor_field()


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

    __table_args__ = (
        one_of("kind", KINDS, "kind"),
        one_of("date_order", DATE_ORDERS, "date_order"),
        one_of("state", tuple(LoanBookState), "state"),
        one_of("accept", ACCEPTS, "accept"),
        sa.CheckConstraint("(confirmed_at IS NULL) = (confirmed_by IS NULL)", name="confirmed"),
        sa.CheckConstraint("uploader_id IS NULL OR confirmer_id IS NULL OR confirmer_id <> uploader_id", name="people"),
        index_where(_STANDING, "ix_loan_book_of_file", "distributor_id", "is_live", "sha256", unique=True),
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

    book_id: UUID = Field(primary_key=True, foreign_key="loan_book.id")
    content: bytes


class LoanBookRow(Owned, table=True):
    """One row of a book: the lender's own cells, and the one code that decides it beside the others.

    `cells` are masked where they hold a personal number, which `sealed` keeps. A row that has its policy stays.
    """

    __table_args__ = (
        sa.PrimaryKeyConstraint("book_id", "line"),
        one_of("outcome", tuple(RowOutcome), "outcome"),
        sa.CheckConstraint("(policy_id IS NOT NULL) OR outcome NOT IN ('covered', 'ended', 'insured')", name="policy"),
        index_where(_COVERED, "ix_loan_book_row_of_policy", "policy_id", unique=True),
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
