"""A reconciliation keeps how many rows its tolerance let pass, and their sum without signs."""

import sqlalchemy as sa
from alembic import op

revision = "0075"
down_revision = "0069"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("reconciliation", sa.Column("passed_rows", sa.Integer(), nullable=True))
    op.add_column("reconciliation", sa.Column("passed_minor", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    for column in ("passed_minor", "passed_rows"):
        op.drop_column("reconciliation", column)
