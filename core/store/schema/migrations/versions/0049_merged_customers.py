"""Records of customers that are one person: one is shown as part of the other, and can be taken apart again."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "customer_merge",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("merged_id", sa.Uuid(), nullable=False),
        sa.Column("kept_id", sa.Uuid(), nullable=False),
        sa.Column("merged_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.CheckConstraint("merged_id <> kept_id", name=op.f("ck_customer_merge_two_records")),
        *(
            sa.ForeignKeyConstraint([name], [f"{table}.id"], name=op.f(f"fk_customer_merge_{name}"))
            for name, table in (
                *(("distributor_id", "distributor"), ("merged_id", "customer"), ("kept_id", "customer")),
                ("merged_by", "staff"),
            )
        ),
        sa.PrimaryKeyConstraint("merged_id", name=op.f("pk_customer_merge")),
    )
    op.create_index(op.f("ix_customer_merge_kept_id"), "customer_merge", ["kept_id"])


def downgrade() -> None:
    op.drop_table("customer_merge")
