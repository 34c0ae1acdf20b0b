"""A policy that waits for its insurer keeps the trace of the request that sold it."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submission", sa.Column("trace_id", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True))


def downgrade() -> None:
    op.drop_column("submission", "trace_id")
