"""The store of release 0.2.0, written at once: tables, views, triggers and the rows that every store begins with.

The SQL of each database lies beside this file, as that release's migrations left it.
"""

from pathlib import Path

from alembic import op

revision = "0057"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    text = Path(__file__).with_name(f"0057_baseline.{connection.dialect.name}.sql").read_text(encoding="utf-8")
    for statement in text.split(";\n\n"):
        # A percent sign is one, and no place for a parameter.
        connection.exec_driver_sql(statement, None, {"no_parameters": True})


def downgrade() -> None:
    raise NotImplementedError("there is nothing before the store of release 0.2.0")
