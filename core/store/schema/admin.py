"""The office's own books: audit log, kept answers, export receipts, targets, facts about the store."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Owned, Row, json_field, minor_field


class AuditEntry(Row, table=True):
    """An audit entry: actor, action, subject, values before and after; chained to the entry before it (contract A4).

    `trace_id` is the trace of the request that wrote it, for looking it up in a log; it is no part of the hash.
    """

    __tablename__ = "audit_entry"
    __table_args__ = (
        sa.UniqueConstraint("chain", "position"),
        sa.Index(None, "subject", "created_at"),
        sa.Index(None, "actor", "created_at"),
        sa.Index(None, "action", "created_at"),
        sa.Index(None, "created_at", "id"),
    )
    id: UUID = Field(primary_key=True)
    chain: int
    position: int = minor_field()
    actor: str = Field(max_length=120)
    action: str = Field(max_length=60)
    subject: str = Field(max_length=120)
    before: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON)
    after: dict[str, Any] | None = Field(default=None, sa_type=sa.JSON)
    created_at: datetime
    hash: str = Field(max_length=64)
    trace_id: str | None = Field(default=None, max_length=32)


class AuditHead(Row, table=True):
    """The end of one chain of audit entries; locked while an entry is added."""

    __tablename__ = "audit_head"
    chain: int = Field(primary_key=True)
    position: int = minor_field()
    hash: str = Field(max_length=64)


class KeptAnswer(Owned, table=True):
    """The first answer to an idempotency key, replayed for its equals (contract S13)."""

    __tablename__ = "kept_answer"
    distributor_id: UUID = Field(primary_key=True, foreign_key="distributor.id")
    is_live: bool = Field(primary_key=True)
    key: str = Field(primary_key=True, max_length=200)
    fingerprint: str = Field(max_length=64)
    status: int
    body: bytes
    headers: dict[str, str] = json_field()
    created_at: datetime = Field(index=True)


class ExportReceipt(Row, table=True):
    """The contents of one export, so that it can be run again and compared.

    `content_sha256` is the hash of the rows as CSV, whatever the format of the file; `again_of` is the receipt of
    the export that this one repeats.
    """

    __tablename__ = "export_receipt"
    id: UUID = Field(primary_key=True)
    staff_id: UUID | None = Field(default=None, foreign_key="staff.id")
    kind: str = Field(max_length=20)
    format: str = Field(max_length=10)
    is_live: bool
    filters: dict[str, Any] = json_field()
    rows: int = minor_field()
    sum_minor: int = minor_field()
    sha256: str = Field(max_length=64)
    content_sha256: str = Field(max_length=64)
    again_of: UUID | None = Field(default=None, foreign_key="export_receipt.id")
    created_at: datetime = Field(index=True)


class StoreSecret(Row, table=True):
    """The one row that says under which server secret a store was made: a keyed mark, which tells nothing of it."""

    __tablename__ = "store_secret"
    id: int = Field(primary_key=True)
    mark: str = Field(max_length=64)


class SalesTarget(Row, table=True):
    """The gross written premium that a distributor or an insurer is to reach in one month, live records only."""

    __tablename__ = "sales_target"
    __table_args__ = (
        sa.UniqueConstraint("distributor_id", "month"),
        sa.UniqueConstraint("provider_id", "month"),
        sa.CheckConstraint("(distributor_id IS NULL) <> (provider_id IS NULL)", name="one_member"),
        sa.CheckConstraint("amount_minor > 0", name="amount"),
    )
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    distributor_id: UUID | None = Field(default=None, foreign_key="distributor.id")
    provider_id: UUID | None = Field(default=None, foreign_key="provider.id")
    month: date
    amount_minor: int = minor_field()
    created_at: datetime = Field(default_factory=clock.now)
    updated_at: datetime = Field(default_factory=clock.now)


class SaleDraft(Row, table=True):
    """A sale that a person has begun and not finished: one for each cover, with everything typed sealed."""

    __tablename__ = "sale_draft"
    __table_args__ = (sa.UniqueConstraint("staff_id", "is_live", "cover"),)
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    staff_id: UUID
    is_live: bool
    cover: str = Field(max_length=60)
    distributor_id: UUID = Field(foreign_key="distributor.id")
    product_id: UUID = Field(foreign_key="product.id")
    sealed: str
    updated_at: datetime = Field(default_factory=clock.now)


class Heartbeat(Row, table=True):
    """A worker that was heard of; its name is that of its machine and process."""

    __tablename__ = "heartbeat"
    name: str = Field(primary_key=True, max_length=80)
    release: str = Field(max_length=40)
    started_at: datetime
    seen_at: datetime
