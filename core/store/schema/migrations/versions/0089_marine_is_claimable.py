"""Marine products are claimable: claims on them were always taken, and the catalogue said no."""

from alembic import op

revision = "0089"
down_revision = "0088"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("UPDATE product SET claimable = true WHERE route_name = 'buy-marine-import-cover'")


def downgrade() -> None:
    """Nothing to take back: who claimed before goes on doing so."""
