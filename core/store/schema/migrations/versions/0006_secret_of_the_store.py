"""A store says under which server secret it was made; `migrate` writes the mark once it has judged the store."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "store_secret",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_store_secret")),
    )


def downgrade() -> None:
    op.drop_table("store_secret")
