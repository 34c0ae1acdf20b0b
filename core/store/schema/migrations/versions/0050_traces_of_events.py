"""An entry of the audit log and the events made of it know the trace of the request that wrote it."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

_TEXTS = ("before", "after")


def upgrade() -> None:
    for table in ("audit_entry", "event"):
        op.add_column(table, sa.Column("trace_id", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True))
    # The entry keeps its trace as it keeps the rest.
    _keep_all_but_texts()


def downgrade() -> None:
    _drop_trigger()
    for table in ("audit_entry", "event"):
        op.drop_column(table, "trace_id")
    _keep_all_but_texts()


def _keep_all_but_texts() -> None:
    _drop_trigger()
    columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns("audit_entry")]
    kept = ", ".join(name for name in columns if name not in _TEXTS)
    head = f"CREATE TRIGGER audit_entry_update BEFORE UPDATE OF {kept} ON audit_entry FOR EACH ROW"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'audit_entry keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _drop_trigger() -> None:
    on_table = "" if op.get_bind().dialect.name == "sqlite" else " ON audit_entry"
    op.execute(f"DROP TRIGGER IF EXISTS audit_entry_update{on_table}")
