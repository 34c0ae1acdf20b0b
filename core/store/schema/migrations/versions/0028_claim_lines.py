"""Claims of every line of cover: a place for what was submitted with those that the wire gives none."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("claim", sa.Column("claim_meta", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("claim", "claim_meta")
