"""Files of claim payments that were paid as a whole; a payment names the file that it came from."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

_TEXT = sqlmodel.sql.sqltypes.AutoString
_TABLE = "claim_payment_file"
# Only an erasure changes these, with triggers of their own.
_TEXTS = ("reference", "reference_key")


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("file_name", _TEXT(length=200), nullable=False),
        sa.Column("sha256", _TEXT(length=64), nullable=False),
        sa.Column("payments", sa.Integer(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("paid_by", sa.Uuid(), nullable=False),
        sa.Column("paid_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["paid_by"], ["staff.id"], name=op.f("fk_claim_payment_file_paid_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_payment_file")),
        sa.UniqueConstraint("is_live", "sha256", name=op.f("uq_claim_payment_file_is_live_sha256")),
    )
    op.create_index(op.f("ix_claim_payment_file_is_live_paid_at"), _TABLE, ["is_live", "paid_at"])
    for event in ("UPDATE", "DELETE"):
        _keep(_TABLE, event, event)
    if op.get_bind().dialect.name != "sqlite":
        op.execute(
            f"CREATE TRIGGER {_TABLE}_truncate BEFORE TRUNCATE ON {_TABLE}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
    op.add_column("claim_payment", sa.Column("file_id", sa.Uuid(), nullable=True))
    # The payment keeps its file as it keeps the rest.
    _keep_all_but_texts()


def downgrade() -> None:
    _drop_trigger()
    op.drop_column("claim_payment", "file_id")
    _keep_all_but_texts()
    op.drop_table(_TABLE)


def _keep_all_but_texts() -> None:
    _drop_trigger()
    columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns("claim_payment")]
    kept = ", ".join(name for name in columns if name not in _TEXTS)
    _keep("claim_payment", "UPDATE", f"UPDATE OF {kept}")


def _keep(table: str, name: str, event: str) -> None:
    head = f"CREATE TRIGGER {table}_{name.lower()} BEFORE {event} ON {table} FOR EACH ROW"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _drop_trigger() -> None:
    on_table = "" if op.get_bind().dialect.name == "sqlite" else " ON claim_payment"
    op.execute(f"DROP TRIGGER IF EXISTS claim_payment_update{on_table}")
