"""Bordereaux: what was written and claimed on an insurer's authority, as it was reported (contract F5)."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.states.bordereaux import BordereauState
from core.store.schema.columns import Row, json_field, minor_field, one_of

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

    __tablename__ = "bordereau_line"
    __table_args__ = (
        # Judged when the transaction ends: rows are written before their sums are known.
        sa.ForeignKeyConstraint(["bordereau_id"], ["bordereau.id"], deferrable=True, initially="DEFERRED"),
        sa.PrimaryKeyConstraint("bordereau_id", "position"),
        one_of("kind", BORDEREAU_KINDS, "kind"),
        sa.Index(
            "ix_bordereau_line_of_movement",
            "subject_id",
            unique=True,
            sqlite_where=_PREMIUM,
            postgresql_where=_PREMIUM,
        ),
        sa.Index(None, "subject_id", "kind"),
    )
    bordereau_id: UUID
    position: int
    kind: str = Field(max_length=7)
    subject_id: UUID
    amount_minor: int = minor_field()
    cells: list[str] = json_field(list)
