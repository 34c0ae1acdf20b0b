"""Statements of account: frozen papers of what a month did between us and a distributor or an insurer (contract F3)."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.finance import BY_A_PERSON, BordereauState, DifferenceState, StatementState
from core.store.schema.columns import Row, index_where, json_field, minor_field, one_of, one_open, proposal_checks
from core.store.schema.finance import ACCOUNTS, Party, Prepared, one_party, two_people

BORDEREAU_KINDS = ("premium", "claims")
_PREMIUM = sa.text("kind = 'premium'")


class Bordereau(Row, table=True):
    """One bordereau; its rows, totals and hash never change, only its state. Numbers have no gaps within an insurer.

    `totals` are sums of its rows in kobo, by the names of the columns.
    """

    __table_args__ = (
        sa.UniqueConstraint("provider_id", "kind", "number"),
        sa.UniqueConstraint("provider_id", "kind", "month"),
        one_of("kind", BORDEREAU_KINDS, "kind"),
        one_of("state", tuple(BordereauState), "state"),
        sa.CheckConstraint("(state = 'Issued') = (sent_at IS NULL)", name="sent"),
        sa.Index(None, "month"),
    )
    id: UUID = Field(primary_key=True)
    provider_id: UUID = Field(foreign_key="provider.id")
    kind: str = Field(max_length=7)
    number: int
    month: date
    state: str = Field(default=BordereauState.ISSUED, max_length=12)
    rows: int
    totals: dict[str, int] = json_field()
    sha256: str = Field(max_length=64)
    facts: dict[str, Any] = json_field()
    issued_by: UUID = Field(foreign_key="staff.id")
    issued_at: datetime
    sent_by: UUID | None = Field(default=None, foreign_key="staff.id")
    sent_at: datetime | None = None
    answered_by: UUID | None = Field(default=None, foreign_key="staff.id")
    answered_at: datetime | None = None
    note: str | None = None


class BordereauLine(Row, table=True):
    """One row as a bordereau printed it. A movement is in one premium bordereau at most; a claim in many of claims."""

    __table_args__ = (
        # Judged when the transaction ends: rows are written before their sums are known.
        sa.ForeignKeyConstraint(["bordereau_id"], ["bordereau.id"], deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("bordereau_id", "position"),
        one_of("kind", BORDEREAU_KINDS, "kind"),
        index_where(_PREMIUM, "ix_bordereau_line_of_movement", "subject_id", unique=True),
        sa.Index(None, "subject_id", "kind"),
    )
    bordereau_id: UUID
    position: int
    kind: str = Field(max_length=7)
    subject_id: UUID
    amount_minor: int = minor_field()
    cells: list[str] = json_field(list)


RECONCILED = ("insurer", "bank")
RESULTS = ("amount differs", "rate differs", "only ours", "only theirs", "timing", "not checked")


class FileMapping(Row, table=True):
    """The meaning of the columns in a party's files, as chosen last; the bank's has no insurer."""

    __table_args__ = (one_of("kind", RECONCILED, "kind"),)
    key: str = Field(primary_key=True, max_length=60)
    kind: str = Field(max_length=7)
    provider_id: UUID | None = Field(default=None, foreign_key="provider.id")
    columns: dict[str, str] = json_field()
    amount_is: str = Field(max_length=5)
    tolerance_minor: int = minor_field()
    timing_days: int
    changed_by: UUID = Field(foreign_key="staff.id")
    changed_at: datetime


class Reconciliation(Row, table=True):
    """One file compared with our records of a month; its figures never change.

    ours - theirs = the sum of its differences + `tolerated_minor`, what the tolerance let pass, with its signs. Without
    them it is `passed_minor`, in `passed_rows` rows; those from before the tolerance had a bound have neither.
    """

    __table_args__ = (
        one_of("kind", RECONCILED, "kind"),
        sa.CheckConstraint("(kind = 'insurer') = (provider_id IS NOT NULL)", name="party"),
        sa.Index(None, "month"),
    )
    id: UUID = Field(primary_key=True)
    kind: str = Field(max_length=7)
    provider_id: UUID | None = Field(default=None, foreign_key="provider.id")
    month: date
    file_name: str = Field(max_length=200)
    sha256: str = Field(max_length=64)
    columns: dict[str, str] = json_field()
    amount_is: str = Field(max_length=5)
    tolerance_minor: int = minor_field()
    timing_days: int
    ours_rows: int
    theirs_rows: int
    matched_rows: int
    ours_minor: int = minor_field()
    theirs_minor: int = minor_field()
    tolerated_minor: int = minor_field()
    passed_rows: int | None = None
    passed_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    made_by: UUID = Field(foreign_key="staff.id")
    made_at: datetime


class Difference(Row, table=True):
    """One difference: its figures never change, only its state. `rows` are those of the file, `subjects` our ids."""

    __table_args__ = (
        sa.PrimaryKeyConstraint("id"),
        one_of("result", RESULTS, "result"),
        one_of("state", tuple(DifferenceState), "state"),
        sa.CheckConstraint("difference_minor = ours_minor - theirs_minor", name="difference"),
        sa.CheckConstraint(
            "state <> 'Written off' OR (asked_by IS NOT NULL AND decided_by IS NOT NULL AND decided_by <> asked_by)",
            name="two_people",
        ),
        sa.CheckConstraint("(state = 'Adjusted') = (adjustment_id IS NOT NULL)", name="adjusted"),
        sa.Index(None, "reconciliation_id", "state"),
    )
    id: UUID
    reconciliation_id: UUID = Field(foreign_key="reconciliation.id")
    result: str = Field(max_length=14)
    policy_number: str = Field(max_length=120)
    kind: str = Field(max_length=20)
    ours_minor: int = minor_field()
    theirs_minor: int = minor_field()
    difference_minor: int = minor_field()
    detail: str = ""
    rows: list[int] = json_field(list)
    subjects: list[str] = json_field(list)
    state: str = Field(default=DifferenceState.OPEN, max_length=15)
    owner_id: UUID | None = Field(default=None, foreign_key="staff.id")
    cause: str | None = Field(default=None, max_length=40)
    note: str | None = None
    adjustment_id: UUID | None = Field(default=None, foreign_key="adjustment.id")
    asked_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    changed_at: datetime


TAXES = ("withholding", "vat")
_HELD = sa.text("released_by IS NULL")
_VALID = sa.text("reverses_id IS NOT NULL AND state <> 'Void'")
_CURRENT = sa.text("state <> 'Void' AND reverses_id IS NULL")


class TaxRate(Row, table=True):
    """The rate of a tax from a day on, and the source that says so.

    One person of finance proposes it and another confirms it; its figures never change, and it is decided once. Those
    that came with the store were proposed by nobody. `small_limit_minor` is what a small company with a tax number may
    earn in a month without withholding.
    """

    __table_args__ = (
        one_open("tax_rate", "kind"),
        one_of("kind", TAXES, "kind"),
        sa.CheckConstraint("state = 'confirmed' OR proposed_by IS NOT NULL", name="proposed"),
        *proposal_checks(decided="proposed_by IS NULL OR (state = 'open') = (decided_at IS NULL)"),
    )
    id: UUID = Field(primary_key=True)
    kind: str = Field(max_length=11)
    effective_on: date
    resident_bp: int
    non_resident_bp: int
    without_tin_factor: int = 1
    small_limit_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    source: str
    state: str = Field(default="open", max_length=10)
    proposed_by: UUID | None = Field(default=None, foreign_key="staff.id")
    proposed_at: datetime | None = None
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_at: datetime | None = None


class Statement(Party, Prepared, table=True):
    """One statement; its figures, lines and hash never change, only its state (contract F3).

    Amounts are what we owe the party, negative where it owes us. `number` has no gaps within a party. One that
    `reverses_id` names is void, and its movements are on no statement until they are stated again.
    """

    __table_args__ = (
        one_party(),
        one_of("account", ACCOUNTS, "account"),
        one_of("state", tuple(StatementState), "state"),
        sa.CheckConstraint(
            "closing_minor = opening_minor + earned_minor + clawback_minor + adjusted_minor + premium_minor"
            " + vat_minor - withheld_minor - paid_minor",
            name="balance",
        ),
        *two_people(),
        sa.CheckConstraint(
            "state NOT IN ('Approved', 'Sent', 'Part paid', 'Paid') OR approved_by IS NOT NULL", name="in_two_hands"
        ),
        *(
            index_where(
                sa.text(f"{party}_id IS NOT NULL AND {where}"),
                f"ix_statement_{what}_of_{party}",
                f"{party}_id",
                what,
                unique=True,
            )
            for party in ACCOUNTS
            for what, where in (("number", "number > 0"), ("month", _CURRENT.text))
        ),
        sa.Index(None, "month", "account"),
        index_where(_VALID, "ix_statement_reversal", "reverses_id", unique=True),
    )
    id: UUID = Field(primary_key=True)
    number: int
    month: date
    state: str = Field(default=StatementState.PREPARED, max_length=10)
    opening_minor: int = minor_field()
    premium_minor: int = minor_field()
    earned_minor: int = minor_field()
    clawback_minor: int = minor_field()
    adjusted_minor: int = minor_field()
    vat_minor: int = minor_field()
    withheld_minor: int = minor_field()
    paid_minor: int = minor_field()
    closing_minor: int = minor_field()
    lines: int
    sha256: str = Field(max_length=64)
    facts: dict[str, Any] = json_field()
    reverses_id: UUID | None = Field(default=None, foreign_key="statement.id")
    sent_by: UUID | None = Field(default=None, foreign_key="staff.id")
    sent_at: datetime | None = None
    note: str | None = None


class StatementStep(Row, table=True):
    """One step of a statement after it was prepared; rows are only ever added, so a dispute stays when it is settled.

    That something was paid is told by its payments.
    """

    __table_args__ = (one_of("state", BY_A_PERSON, "state"),)
    statement_id: UUID = Field(primary_key=True, foreign_key="statement.id")
    position: int = Field(primary_key=True)
    state: str = Field(max_length=10)
    staff_id: UUID = Field(foreign_key="staff.id")
    made_at: datetime
    note: str | None = None


class StatementLine(Row, table=True):
    """One movement as a statement printed it. On each account a movement is held by one statement at most."""

    __table_args__ = (
        # Judged when the transaction ends: lines are written as they are read, before their sums are known.
        sa.ForeignKeyConstraint(["statement_id"], ["statement.id"], deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("statement_id", "position"),
        index_where(_HELD, "ix_statement_line_of_movement", "movement_id", "account", unique=True),
        {"sqlite_with_rowid": False},
    )
    statement_id: UUID
    position: int
    account: str = Field(max_length=11)
    movement_id: UUID
    kind: str = Field(max_length=12)
    occurred_at: datetime
    policy_number: str | None = Field(default=None, max_length=60)
    customer: str
    product_id: UUID = Field(foreign_key="product.id")
    other_id: UUID
    effective_at: datetime | None = None
    expires_at: datetime | None = None
    premium_minor: int = minor_field()
    rate_bp: int
    commission_minor: int = minor_field()
    vat_minor: int = minor_field()
    withheld_minor: int = minor_field()
    net_minor: int = minor_field()
    released_by: UUID | None = Field(default=None, foreign_key="statement.id")
