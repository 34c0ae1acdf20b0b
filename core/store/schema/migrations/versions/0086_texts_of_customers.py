"""On SQLite a part of a customer's name, e-mail or phone is looked for along one narrow index."""

import sqlalchemy as sa
from alembic import op

from core.store.expressions import join_lines

revision = "0086"
down_revision = "0085"
branch_labels = None
depends_on = None

_INDEX = "ix_customer_text"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        lines = join_lines(*map(sa.column, ("name_key", "email_key", "phone_number")))
        op.create_index(_INDEX, "customer", [lines])


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index(_INDEX, "customer")
