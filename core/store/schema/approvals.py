"""Approvals of any kind of record, and why one of them does not stand any more (contract K3)."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core.store.schema.columns import Row, json_field


class Approval(Row, table=True):
    """One approval by one person, kept for ever; the newest of a subject counts.

    `parts` are keyed hashes of what was approved, by the words for it, and empty for an approval from before there were
    parts. `role` and `limit_minor` are by which authority it was given, and `fingerprint` is made of all of it.
    """

    __table_args__ = (sa.Index(None, "subject_id", "approved_at"),)
    id: UUID = Field(primary_key=True)
    subject_kind: str = Field(max_length=20)
    subject_id: UUID
    amount_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    limit_minor: int | None = Field(default=None, sa_type=sa.BigInteger)
    role: str = Field(max_length=12)
    parts: dict[str, str] = json_field()
    fingerprint: str = Field(max_length=64)
    staff_id: UUID = Field(foreign_key="staff.id", index=True)
    approved_at: datetime


class ApprovalLapse(Row, table=True):
    """The end of an approval: when, why, and by whose act; kept for ever."""

    __tablename__ = "approval_lapse"
    approval_id: UUID = Field(primary_key=True, foreign_key="approval.id")
    reason: str = Field(max_length=500)
    actor: str = Field(max_length=120)
    lapsed_at: datetime
