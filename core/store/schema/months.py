"""Months of the books: each step of closing one, kept for ever (contract F7)."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.months import MonthState
from core.store.schema.columns import Row, json_field, one_of


class MonthStep(Row, table=True):
    """One step of a month; the last one is its state. `sha256` is that of the journal at its closing.

    Steps are counted within the month, so that of two at the same instant the second is refused. Whoever makes the
    second of a pair is not who made the first (`before_by`). `facts_kept`: a reopening was given up, and the month is
    closed as it was.
    """

    __tablename__ = "month_step"
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
