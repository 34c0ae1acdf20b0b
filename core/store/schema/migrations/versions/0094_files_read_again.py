"""A file can be reconciled again with other columns, as those of before may be mistaken: it is there twice then."""

from alembic import op

revision = "0094"
down_revision = "0093"
branch_labels = None
depends_on = None

_NAME = "uq_reconciliation_sha256_month_kind_provider_id"
_ONCE = f"CONSTRAINT {_NAME} UNIQUE (sha256, month, kind, provider_id)"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(is_once=False)
    else:
        op.execute(f"ALTER TABLE reconciliation DROP CONSTRAINT {_NAME}")


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(is_once=True)
    else:
        op.execute(f"ALTER TABLE reconciliation ADD {_ONCE}")


def _rebuild(*, is_once: bool) -> None:
    """Make the table anew with its rows, index and triggers; what refers to it is checked at the end again."""
    bind = op.get_bind()
    of_table = "SELECT sql FROM sqlite_master WHERE tbl_name = 'reconciliation' AND sql IS NOT NULL AND type"
    text = bind.exec_driver_sql(f"{of_table} = 'table'").scalar_one()
    kept = [row[0] for row in bind.exec_driver_sql(f"{of_table} IN ('index', 'trigger')")]
    bare = text.replace(f", \n\t{_ONCE}", "").rstrip().removesuffix(")").rstrip()
    names = ", ".join(row[1] for row in bind.exec_driver_sql("PRAGMA table_info(reconciliation)"))
    for statement in (
        "PRAGMA defer_foreign_keys = ON",
        "CREATE TABLE reconciliation_before AS SELECT * FROM reconciliation",
        "DROP TABLE reconciliation",
        bare + (f", \n\t{_ONCE}" if is_once else "") + "\n)",
        f"INSERT INTO reconciliation ({names}) SELECT {names} FROM reconciliation_before",
        *kept,
        "DROP TABLE reconciliation_before",
    ):
        bind.exec_driver_sql(statement)
