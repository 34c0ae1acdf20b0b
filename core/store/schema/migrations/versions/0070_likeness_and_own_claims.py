"""Columns of likeness, own claims and second submissions."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0070"
down_revision = "0061"
branch_labels = None
depends_on = None

_TEXT = sqlmodel.sql.sqltypes.AutoString
_COLUMNS = {
    "uploaded_file": (("picture_hash", _TEXT(length=16)),),
    "staff": (("phone_number", _TEXT(length=32)), ("account_key", _TEXT(length=64)), ("sealed", _TEXT())),
    "claim": (("second_of", sa.Uuid()),),
}


def upgrade() -> None:
    for table, columns in _COLUMNS.items():
        for name, kind in columns:
            op.add_column(table, sa.Column(name, kind, nullable=True))
    op.create_table(
        "file_mark",
        sa.Column("mark", _TEXT(length=20), nullable=False),
        sa.Column("code", _TEXT(length=32), nullable=False),
        sa.PrimaryKeyConstraint("mark", "code", name=op.f("pk_file_mark")),
    )


def downgrade() -> None:
    op.drop_table("file_mark")
    for table, columns in _COLUMNS.items():
        for name, _ in columns:
            op.drop_column(table, name)
