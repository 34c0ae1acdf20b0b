"""Drafts: what a person has typed into the form of a sale is kept until it is sold or discarded."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "sale_draft",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("cover", _TEXT(length=60), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("sealed", _TEXT(), nullable=False),
        sa.Column("updated_at", _INSTANT(), nullable=False),
        *(
            sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"], name=op.f(f"fk_sale_draft_{table}_id"))
            for table in ("distributor", "product")
        ),
        sa.UniqueConstraint("staff_id", "is_live", "cover", name=op.f("uq_sale_draft_staff_id_is_live_cover")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sale_draft")),
    )


def downgrade() -> None:
    op.drop_table("sale_draft")
