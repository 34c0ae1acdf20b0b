"""Reconciliations of our records with the file of an insurer or a bank, and the differences found (contract F6)."""

from datetime import date, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.differences import DifferenceState
from core.store.schema.columns import Row, json_field, minor_field, one_of

RECONCILED = ("insurer", "bank")
RESULTS = ("amount differs", "rate differs", "only ours", "only theirs", "timing", "not checked")


class FileMapping(Row, table=True):
    """The meaning of the columns in a party's files, as chosen last; the bank's has no insurer."""

    __tablename__ = "file_mapping"
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
        sa.UniqueConstraint("sha256", "month", "kind", "provider_id"),
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
