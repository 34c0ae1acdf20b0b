"""Decisions that officers prepare for a supervisor."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "claim_referral",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("to_status", _TEXT(length=30), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=True),
        sa.Column("note", _TEXT(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("closed_at", _INSTANT(), nullable=True),
        sa.Column("closed_by", sa.Uuid(), nullable=True),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_referral_{column}"))
            for column, table in (
                *(("claim_id", "claim"), ("distributor_id", "distributor")),
                *(("closed_by", "staff"), ("staff_id", "staff")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_referral")),
    )
    op.create_index(op.f("ix_claim_referral_claim_id"), "claim_referral", ["claim_id"])
    op.create_index(op.f("ix_claim_referral_closed_at_claim_id"), "claim_referral", ["closed_at", "claim_id"])


def downgrade() -> None:
    op.drop_table("claim_referral")
