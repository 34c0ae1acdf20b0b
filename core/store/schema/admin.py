"""Tables of the office: audit log, kept answers, export receipts, targets, saved views, facts about the store."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field

from core import clock, ids
from core.store.schema.columns import Owned, Row, json_field, minor_field, one_of


class AuditEntry(Row, table=True):
    """An audit entry: actor, action, subject, values before and after; chained to the entry before it (contract A4).

    `trace_id` is the trace of the request that wrote it, for looking it up in a log; it is no part of the hash.
    """

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

    chain: int = Field(primary_key=True)
    position: int = minor_field()
    hash: str = Field(max_length=64)


class KeptAnswer(Owned, table=True):
    """The first answer to an idempotency key, replayed for its equals (contract S13)."""

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

    id: int = Field(primary_key=True)
    mark: str = Field(max_length=64)


class SalesTarget(Row, table=True):
    """The gross written premium that a distributor or an insurer is to reach in one month, live records only."""

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
    """A sale that a person has begun and not finished, with everything typed sealed."""

    __table_args__ = (sa.Index(None, "staff_id", "is_live"),)
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

    name: str = Field(primary_key=True, max_length=80)
    release: str = Field(max_length=40)
    started_at: datetime
    seen_at: datetime


class SavedView(Row, table=True):
    """Filters, order and columns of a list under a name; `shared_role` is the role that sees it beside its owner."""

    __table_args__ = (sa.UniqueConstraint("staff_id", "screen", "name"), sa.Index(None, "screen", "shared_role"))
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    staff_id: UUID
    screen: str = Field(max_length=60)
    name: str = Field(max_length=60)
    shared_role: str | None = Field(default=None, max_length=20)
    parameters: dict[str, list[str]] = json_field()
    created_at: datetime = Field(default_factory=clock.now)


class StartView(Row, table=True):
    """The view that the menu opens for a person in place of the whole list."""

    staff_id: UUID = Field(primary_key=True)
    screen: str = Field(primary_key=True, max_length=60)
    view_id: UUID = Field(foreign_key="saved_view.id", ondelete="CASCADE", index=True)


class ViewWatch(Row, table=True):
    """A person's wish to be mailed the figures of a view: regularly, when one of them crosses a bound, or both.

    `figure` is the number of rows or their sum in kobo; `is_crossed` is how it stood when it was looked at last, so
    that a warning is sent once for each crossing.
    """

    __table_args__ = (
        sa.UniqueConstraint("view_id", "staff_id"),
        one_of("every", ("day", "week", "month"), "every"),
        one_of("figure", ("rows", "sum"), "figure"),
        sa.CheckConstraint("(figure IS NULL) = (bound IS NULL)", name="warning"),
    )
    id: UUID = Field(default_factory=ids.new, primary_key=True)
    view_id: UUID = Field(foreign_key="saved_view.id", ondelete="CASCADE")
    staff_id: UUID = Field(foreign_key="staff.id", index=True)
    is_live: bool
    every: str | None = Field(default=None, max_length=10)
    sent_on: date | None = None
    figure: str | None = Field(default=None, max_length=10)
    is_above: bool = True
    bound: int | None = Field(default=None, sa_type=sa.BigInteger)
    is_crossed: bool = False
    checked_at: datetime | None = None
    last_error: str | None = Field(default=None, max_length=200)
    created_at: datetime = Field(default_factory=clock.now)
