"""Owners of policies that wait for their insurer, and the jobs of the worker that an admin switches on."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0047"
down_revision = "0045"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "submission_owner",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("policy_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        *(
            sa.ForeignKeyConstraint([name], [f"{table}.id"], name=op.f(f"fk_submission_owner_{name}"))
            for name, table in (("distributor_id", "distributor"), ("policy_id", "policy"), ("owner_id", "staff"))
        ),
        sa.PrimaryKeyConstraint("policy_id", name=op.f("pk_submission_owner")),
    )
    op.create_index(op.f("ix_submission_owner_owner_id"), "submission_owner", ["owner_id"])
    op.create_table(
        "automation",
        sa.Column("name", _TEXT(length=40), nullable=False),
        sa.Column("is_on", sa.Boolean(), nullable=False),
        sa.Column("changed_by", _TEXT(length=120), nullable=True),
        sa.Column("changed_at", _INSTANT(), nullable=False),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("is_finished", sa.Boolean(), nullable=False),
        sa.Column("after_at", _INSTANT(), nullable=True),
        sa.Column("after_id", sa.Uuid(), nullable=True),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_automation")),
    )


def downgrade() -> None:
    op.drop_table("automation")
    op.drop_table("submission_owner")
