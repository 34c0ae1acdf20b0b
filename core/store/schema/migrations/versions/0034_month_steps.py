"""The steps of closing a month."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "month_step",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", _TEXT(length=9), nullable=False),
        sa.Column("by", sa.Uuid(), nullable=False),
        sa.Column("before_by", sa.Uuid(), nullable=True),
        sa.Column("at", _INSTANT(), nullable=False),
        sa.Column("note", _TEXT(), nullable=True),
        sa.Column("sha256", _TEXT(length=64), nullable=True),
        sa.Column("facts_kept", sa.Boolean(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.CheckConstraint(
            "state IN ('Open', 'Closing', 'Closed', 'Reopening', 'Reopened')", name=op.f("ck_month_step_state")
        ),
        sa.CheckConstraint(
            "(state <> 'Reopened' AND (state <> 'Closed' OR facts_kept))"
            " OR (before_by IS NOT NULL AND before_by <> by)",
            name=op.f("ck_month_step_two_people"),
        ),
        sa.CheckConstraint("state <> 'Closed' OR sha256 IS NOT NULL", name=op.f("ck_month_step_journal")),
        *(
            sa.ForeignKeyConstraint([column], ["staff.id"], name=op.f(f"fk_month_step_{column}"))
            for column in ("by", "before_by")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_month_step")),
        sa.UniqueConstraint("month", "position", name=op.f("uq_month_step_month_position")),
    )
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, event in (("update", "UPDATE"), ("delete", "DELETE")):
        head = f"CREATE TRIGGER month_step_{name} BEFORE {event} ON month_step FOR EACH ROW"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'month_step keeps what it holds'); END")
        else:
            op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            "CREATE TRIGGER month_step_truncate BEFORE TRUNCATE ON month_step"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )


def downgrade() -> None:
    op.drop_table("month_step")
