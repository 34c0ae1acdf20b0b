"""Targets: the premium that a distributor or an insurer is to reach in a month."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0025"
down_revision = "0023"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime


def upgrade() -> None:
    op.create_table(
        "sales_target",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=True),
        sa.Column("provider_id", sa.Uuid(), nullable=True),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("updated_at", _INSTANT(), nullable=False),
        sa.CheckConstraint(
            "(distributor_id IS NULL) <> (provider_id IS NULL)", name=op.f("ck_sales_target_one_member")
        ),
        sa.CheckConstraint("amount_minor > 0", name=op.f("ck_sales_target_amount")),
        *(
            sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"], name=op.f(f"fk_sales_target_{table}_id"))
            for table in ("distributor", "provider")
        ),
        *(
            sa.UniqueConstraint(f"{table}_id", "month", name=op.f(f"uq_sales_target_{table}_id_month"))
            for table in ("distributor", "provider")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sales_target")),
    )


def downgrade() -> None:
    op.drop_table("sales_target")
