"""Messages about saved views: the figures regularly, and a warning when one of them crosses a bound."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "view_watch",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("view_id", sa.Uuid(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("every", _TEXT(length=10), nullable=True),
        sa.Column("sent_on", sa.Date(), nullable=True),
        sa.Column("figure", _TEXT(length=10), nullable=True),
        sa.Column("is_above", sa.Boolean(), nullable=False),
        sa.Column("bound", sa.BigInteger(), nullable=True),
        sa.Column("is_crossed", sa.Boolean(), nullable=False),
        sa.Column("checked_at", _INSTANT(), nullable=True),
        sa.Column("last_error", _TEXT(length=200), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("every IN ('day', 'week', 'month')", name=op.f("ck_view_watch_every")),
        sa.CheckConstraint("figure IN ('rows', 'sum')", name=op.f("ck_view_watch_figure")),
        sa.CheckConstraint("(figure IS NULL) = (bound IS NULL)", name=op.f("ck_view_watch_warning")),
        sa.ForeignKeyConstraint(["view_id"], ["saved_view.id"], name=op.f("fk_view_watch_view_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"], name=op.f("fk_view_watch_staff_id")),
        sa.UniqueConstraint("view_id", "staff_id", name=op.f("uq_view_watch_view_id_staff_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_view_watch")),
    )
    op.create_index(op.f("ix_view_watch_staff_id"), "view_watch", ["staff_id"])


def downgrade() -> None:
    op.drop_table("view_watch")
