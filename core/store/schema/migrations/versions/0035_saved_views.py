"""Saved views: filters, order and columns of a list under a name, and the one that a person starts with."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "saved_view",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("screen", _TEXT(length=60), nullable=False),
        sa.Column("name", _TEXT(length=60), nullable=False),
        sa.Column("shared_role", _TEXT(length=20), nullable=True),
        sa.Column("parameters", sa.JSON(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.UniqueConstraint("staff_id", "screen", "name", name=op.f("uq_saved_view_staff_id_screen_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_view")),
    )
    op.create_index(op.f("ix_saved_view_screen_shared_role"), "saved_view", ["screen", "shared_role"])
    op.create_table(
        "start_view",
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("screen", _TEXT(length=60), nullable=False),
        sa.Column("view_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["view_id"], ["saved_view.id"], name=op.f("fk_start_view_view_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("staff_id", "screen", name=op.f("pk_start_view")),
    )
    op.create_index(op.f("ix_start_view_view_id"), "start_view", ["view_id"])


def downgrade() -> None:
    op.drop_table("start_view")
    op.drop_table("saved_view")
