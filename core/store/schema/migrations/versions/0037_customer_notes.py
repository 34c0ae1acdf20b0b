"""Notes on customers: what was said and done, by whom and when."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "customer_note",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("customer_id", sa.Uuid(), nullable=False),
        sa.Column("kind", _TEXT(length=10), nullable=False),
        sa.Column("text", _TEXT(length=1000), nullable=False),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("kind IN ('note', 'call', 'message', 'visit')", name=op.f("ck_customer_note_kind")),
        *(
            sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"], name=op.f(f"fk_customer_note_{table}_id"))
            for table in ("distributor", "customer")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_customer_note")),
    )
    op.create_index(op.f("ix_customer_note_customer_id_created_at"), "customer_note", ["customer_id", "created_at"])


def downgrade() -> None:
    op.drop_table("customer_note")
