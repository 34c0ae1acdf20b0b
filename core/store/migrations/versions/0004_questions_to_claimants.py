"""What claimants were asked for, and when they answered."""

import sqlalchemy as sa
from alembic import op
from sqlmodel.sql import sqltypes

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "claim_question",
        sa.Column("distributor_id", sa.Uuid(), sa.ForeignKey("distributor.id"), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column("claim_id", sa.Uuid(), sa.ForeignKey("claim.id"), nullable=False),
        sa.Column("staff_id", sa.Uuid(), sa.ForeignKey("staff.id"), nullable=False),
        sa.Column("text", sqltypes.AutoString(), nullable=False),
        sa.Column("asked_at", sqltypes.UTCDateTime(), nullable=False),
        sa.Column("answered_at", sqltypes.UTCDateTime(), nullable=True),
    )
    op.create_index("ix_claim_question_claim_id", "claim_question", ["claim_id"])


def downgrade() -> None:
    op.drop_table("claim_question")
