"""Reasons for approvals against a check are kept; claims are found by phone and e-mail."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0017"
down_revision = "0015"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_FOUND_BY = ("claim_owner_phone_number", "claim_owner_email")


def upgrade() -> None:
    op.create_table(
        "claim_override",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("check_key", _TEXT(length=30), nullable=False),
        sa.Column("is_failed", sa.Boolean(), nullable=False),
        sa.Column("detail", _TEXT(), nullable=False),
        sa.Column("reason", _TEXT(), nullable=False),
        sa.Column("duplicates", sa.JSON(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_override_{column}"))
            for column, table in (
                *(("claim_id", "claim"), ("distributor_id", "distributor")),
                *(("event_id", "claim_event"), ("staff_id", "staff")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_override")),
    )
    op.create_index(op.f("ix_claim_override_claim_id"), "claim_override", ["claim_id"])
    op.create_index(
        op.f("ix_claim_override_is_live_created_at_claim_id"), "claim_override", ["is_live", "created_at", "claim_id"]
    )
    for column in _FOUND_BY:
        op.create_index(op.f(f"ix_claim_{column}"), "claim", [column])
    _keep("claim_override")


def downgrade() -> None:
    for column in _FOUND_BY:
        op.drop_index(op.f(f"ix_claim_{column}"), table_name="claim")
    op.drop_table("claim_override")


def _keep(table: str) -> None:
    """Rows are never changed nor removed."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for event in ("UPDATE", "DELETE"):
        head = f"CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table}"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
        else:
            op.execute(f"{head} FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
