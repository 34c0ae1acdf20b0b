"""Workers say that they are at work, so that a status and an alert can tell when none is."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0022"
down_revision = "0019"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "heartbeat",
        sa.Column("name", _TEXT(length=80), nullable=False),
        sa.Column("release", _TEXT(length=40), nullable=False),
        sa.Column("started_at", _INSTANT(), nullable=False),
        sa.Column("seen_at", _INSTANT(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_heartbeat")),
    )


def downgrade() -> None:
    op.drop_table("heartbeat")
