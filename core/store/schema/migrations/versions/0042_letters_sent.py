"""Letters on claims say when, how and by whom they were sent."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "claim_letter_sent",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("code", _TEXT(length=32), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("way", _TEXT(length=12), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.CheckConstraint("way IN ('E-mail', 'Post', 'By hand', 'Message')", name=op.f("ck_claim_letter_sent_way")),
        *(
            sa.ForeignKeyConstraint([column], [target], name=op.f(f"fk_claim_letter_sent_{column}"))
            for column, target in (
                ("claim_id", "claim.id"),
                ("code", "uploaded_file.code"),
                ("distributor_id", "distributor.id"),
                ("staff_id", "staff.id"),
            )
        ),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_claim_letter_sent")),
    )
    op.create_index(op.f("ix_claim_letter_sent_claim_id"), "claim_letter_sent", ["claim_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_claim_letter_sent_claim_id"), "claim_letter_sent")
    op.drop_table("claim_letter_sent")
