"""Events are found by the time that stands in them, which their receivers know."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0064"
down_revision = "0058"
branch_labels = None
depends_on = None

# The body is bytes of JSON whose `timestamp` is "2026-11-20T08:30:00.000Z".
_SQLITE = "replace(substr(json_extract(CAST(body AS TEXT), '$.timestamp'), 1, 23), 'T', ' ') || '000'"
_POSTGRES = "CAST(CAST(convert_from(body, 'UTF8') AS json) ->> 'timestamp' AS timestamptz)"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    # A column that must not be null and has no default would have SQLite write the whole table anew.
    since = sa.text("'1970-01-01 00:00:00.000000'")
    kind = sqlmodel.sql.sqltypes.UTCDateTime()
    op.add_column("event", sa.Column("occurred_at", kind, nullable=False, server_default=since))
    op.execute(f"UPDATE event SET occurred_at = {_SQLITE if is_sqlite else _POSTGRES}")
    op.drop_index("ix_event_created_at", "event")
    op.create_index("ix_event_occurred_at", "event", ["occurred_at"])


def downgrade() -> None:
    op.drop_index("ix_event_occurred_at", "event")
    op.create_index("ix_event_created_at", "event", ["created_at"])
    op.drop_column("event", "occurred_at")
