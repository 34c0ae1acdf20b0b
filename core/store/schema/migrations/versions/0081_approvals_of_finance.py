"""Approvals of credit notes, statements, payouts, rates and shares from before they were kept; their parts are unknown.

A subject of these never changes, so what was approved is what is there: the check compares the amount alone.
"""

from typing import Any, Final

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import clock, ids, seal

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

_INSTANT: Final = sqlmodel.sql.sqltypes.UTCDateTime
# Kind, table, who, when, amount, role, and the condition of a row that was approved.
_SUBJECTS: Final = (
    ("credit note", "credit_note", "approved", "total_minor", "finance", "approved_by IS NOT NULL"),
    ("statement", "statement", "approved", "closing_minor", "finance", "approved_by IS NOT NULL"),
    ("payout", "payout_batch", "approved", "net_minor", "finance", "approved_by IS NOT NULL"),
    ("rates", "rate_proposal", "decided", "price_minor", "admin", "state = 'confirmed'"),
    ("commission share", "commission_share", "decided", None, "admin", "state = 'confirmed'"),
)


def upgrade() -> None:
    bind = op.get_bind()
    for kind, table, verb, amount, role, approved in _SUBJECTS:
        rows = [_build(kind, role, row) for row in bind.execute(_select(kind, table, verb, amount, approved)).all()]
        if rows:
            op.bulk_insert(_APPROVAL, rows)


def downgrade() -> None:
    """Approvals stay: their table keeps what it holds."""


_APPROVAL = sa.table(
    "approval",
    *(sa.column(name, sa.Uuid()) for name in ("id", "subject_id", "staff_id")),
    *map(sa.column, ("subject_kind", "amount_minor", "limit_minor", "role", "fingerprint")),
    sa.column("parts", sa.JSON()),
    sa.column("approved_at", _INSTANT()),
)


def _select(kind: str, table: str, verb: str, amount: str | None, approved: str) -> sa.Select[Any]:
    subject = sa.table(
        table,
        *(sa.column(name, sa.Uuid()) for name in ("id", f"{verb}_by")),
        sa.column(f"{verb}_at", _INSTANT()),
        *([sa.column(amount)] if amount else []),
    )
    known = sa.select(_APPROVAL.c.subject_id).where(_APPROVAL.c.subject_kind == kind)
    return sa.select(
        subject.c.id,
        subject.c[f"{verb}_by"].label("staff_id"),
        subject.c[f"{verb}_at"].label("at"),
        (subject.c[amount] if amount else sa.null()).label("amount"),
    ).where(sa.text(approved), subject.c.id.not_in(known))


def _build(kind: str, role: str, row: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"subject_id": row.id, "amount_minor": row.amount, "limit_minor": None, "role": role}
    given |= {"staff_id": row.staff_id, "approved_at": row.at or clock.now(), "parts": {}}
    approval_id = ids.new()
    sealed = seal.fingerprint_approval(approval_id=approval_id, kind=kind, **given)
    return {"id": approval_id, "subject_kind": kind, "fingerprint": sealed, **given}
