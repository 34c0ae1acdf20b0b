"""The totals of every day, made from what the store holds."""

import sqlalchemy as sa
from alembic import context, op

from core.store.schema import versions

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

MEASURES = (
    *("sold", "sold_minor", "sold_mca_minor", "sold_distributor_minor"),
    *("renewed", "renewed_minor", "renewed_mca_minor", "renewed_distributor_minor"),
    *("refunds", "refunded_minor", "in_force_change", "terms_ended", "terms_renewed"),
)


def upgrade() -> None:
    op.create_table(
        "day_total",
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("part", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in MEASURES),
        sa.PrimaryKeyConstraint("is_live", "day", "part", name=op.f("pk_day_total")),
        sqlite_with_rowid=False,
    )
    context.config.attributes[versions.STALE] = True


def downgrade() -> None:
    op.drop_table("day_total")
