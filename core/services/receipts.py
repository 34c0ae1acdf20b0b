"""Receipts of exports: who took what out of the store, when, and how to tell it again (contract A4)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services import audit
from core.services.exports import Tally
from core.services.records import mode
from core.services.selection import Selection
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import ExportReceipt, Staff

PURCHASES, CSV = "purchases", "csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """An export that somebody asked for; `staff_id` is none for a command."""

    id: UUID
    selection: Selection
    is_live: bool
    actor: str
    staff_id: UUID | None = None

    @property
    def subject(self) -> str:
        """Its name in the audit log."""
        return audit.subject_of("export", self.id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """What one whole export contained; `who` is an e-mail address, or a command."""

    id: UUID
    who: str
    rows: int
    sum_minor: int
    sha256: str
    created_at: datetime


def begin(session: ScopedSession, order: Order) -> None:
    """Write down that an export begins: one that is broken off has still shown what it sent."""
    audit.write(
        session,
        actor=order.actor,
        action="export started",
        subject=order.subject,
        after={
            "kind": PURCHASES,
            "format": CSV,
            "mode": mode(order.is_live),
            "filters": order.selection.address(),
        },
    )


def keep(session: ScopedSession, order: Order, tally: Tally) -> None:
    """Keep the receipt of an export that is whole."""
    session.insert(
        ExportReceipt(
            id=order.id,
            staff_id=order.staff_id,
            kind=PURCHASES,
            format=CSV,
            is_live=order.is_live,
            filters=order.selection.address(),
            rows=tally.rows,
            sum_minor=tally.sum_minor,
            sha256=tally.sha256,
            created_at=clock.now(),
        )
    )
    audit.write(
        session,
        actor=order.actor,
        action="export finished",
        subject=order.subject,
        after={"rows": tally.rows, "total": money.wire(tally.sum_minor), "sha256": tally.sha256},
    )


def one(session: ScopedSession, receipt_id: UUID) -> Receipt | None:
    """A receipt by its id; none while its export is not finished."""
    row = session.execute(_receipts().where(col(ExportReceipt.id) == receipt_id)).one_or_none()
    return _receipt(row) if row else None


def latest(session: ScopedSession, most: int) -> list[Receipt]:
    """The newest receipts of everybody."""
    query = _receipts().order_by(col(ExportReceipt.created_at).desc(), col(ExportReceipt.id).desc()).limit(most)
    return [_receipt(row) for row in session.execute(query)]


def _receipt(row: Any) -> Receipt:
    return Receipt(**{**row._mapping, "who": row.who or "command line"})


def _receipts() -> AnySelect:
    return sa.select(
        col(ExportReceipt.id),
        col(Staff.email).label("who"),
        col(ExportReceipt.rows),
        col(ExportReceipt.sum_minor),
        col(ExportReceipt.sha256),
        col(ExportReceipt.created_at),
    ).outerjoin(Staff, col(Staff.id) == col(ExportReceipt.staff_id))
