"""The letters of a complaint stand with it as they were sent."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0097"
down_revision = "0096"
branch_labels = None
depends_on = None

_NAMES = ("sent_acknowledgement", "sent_answer")


def upgrade() -> None:
    for name in _NAMES:
        op.add_column("complaint", sa.Column(name, sqlmodel.sql.sqltypes.AutoString(), nullable=True))


def downgrade() -> None:
    for name in reversed(_NAMES):
        op.drop_column("complaint", name)
