"""The totals of claims, made from what the store holds, and indexes for the orders of the queue."""

import sqlalchemy as sa
import sqlmodel
from alembic import context, op

from core.store.schema import versions

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

_MEASURES = ("claims", "claimed_minor", "offered_minor", "paid_minor", "payments", "outstanding_minor")
_UNSETTLED = sa.text("claim_status NOT IN ('Declined', 'Settled')")
_INDEXES = {
    "ix_claim_is_live_created_at_id": ("is_live", "created_at", "id"),
    "ix_claim_is_live_claim_amount_minor_id": ("is_live", "claim_amount_minor", "id"),
    "ix_claim_is_live_offer_amount_minor_id": ("is_live", "offer_amount_minor", "id"),
    "ix_claim_is_live_updated_at": ("is_live", "updated_at"),
}
_COVERED = (
    *("is_live", "clock_stopped_at", "clock_from", "id", "claim_status", "assigned_to"),
    *("deleted_at", "claim_amount_minor", "offer_amount_minor"),
)


def upgrade() -> None:
    op.create_table(
        "claim_total",
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("claim_status", sqlmodel.sql.sqltypes.AutoString(length=30), nullable=False),
        sa.Column("assigned_to", sa.Uuid(), nullable=False),
        sa.Column("clock_day", sa.Date(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _MEASURES),
        sa.PrimaryKeyConstraint(
            *("is_live", "claim_status", "assigned_to", "clock_day", "part"), name=op.f("pk_claim_total")
        ),
        sqlite_with_rowid=False,
    )
    for name, columns in _INDEXES.items():
        op.create_index(op.f(name), "claim", list(columns))
    op.create_index("ix_claim_unsettled", "claim", list(_COVERED), sqlite_where=_UNSETTLED, postgresql_where=_UNSETTLED)
    digits = "substr(id, -8)" if op.get_bind().dialect.name == "sqlite" else "right(CAST(id AS TEXT), 8)"
    op.create_index("ix_claim_reference", "claim", ["is_live", sa.text(digits)])
    context.config.attributes[versions.STALE] = True


def downgrade() -> None:
    for name in ("ix_claim_reference", "ix_claim_unsettled", *_INDEXES):
        op.drop_index(name, "claim")
    op.drop_table("claim_total")
