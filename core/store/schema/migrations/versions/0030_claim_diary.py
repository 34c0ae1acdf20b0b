"""The diary of a claim: tasks, what became of questions, and which document a file is."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "claim_task",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("text", _TEXT(length=500), nullable=False),
        sa.Column("due_on", sa.Date(), nullable=False),
        sa.Column("assigned_to", sa.Uuid(), nullable=False),
        sa.Column("made_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("done_at", _INSTANT(), nullable=True),
        sa.Column("done_by", sa.Uuid(), nullable=True),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_task_{column}"))
            for column, table in (
                *(("claim_id", "claim"), ("distributor_id", "distributor")),
                *((name, "staff") for name in ("assigned_to", "made_by", "done_by")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_task")),
    )
    op.create_index(op.f("ix_claim_task_claim_id"), "claim_task", ["claim_id"])
    op.create_index(op.f("ix_claim_task_assigned_to_done_at"), "claim_task", ["assigned_to", "done_at"])
    for column in (
        sa.Column("due_on", sa.Date(), nullable=True),
        sa.Column("answer", _TEXT(), nullable=True),
        sa.Column("closed_at", _INSTANT(), nullable=True),
    ):
        op.add_column("claim_question", column)
    op.add_column("uploaded_file", sa.Column("field", _TEXT(length=40), nullable=True))


def downgrade() -> None:
    # Before, a question that a move closed counted as answered by it.
    op.execute("UPDATE claim_question SET answered_at = closed_at WHERE answered_at IS NULL")
    op.drop_column("uploaded_file", "field")
    for column in ("closed_at", "answer", "due_on"):
        op.drop_column("claim_question", column)
    op.drop_index(op.f("ix_claim_task_assigned_to_done_at"), "claim_task")
    op.drop_index(op.f("ix_claim_task_claim_id"), "claim_task")
    op.drop_table("claim_task")
