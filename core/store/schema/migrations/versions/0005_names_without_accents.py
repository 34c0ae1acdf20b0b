"""Customers are searched by their names without accents: a key written with the row, and indexes that hold it."""

import sqlalchemy as sa
from alembic import op

from core.covers import request_parts

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

LISTED = ("created_at", "id", "deleted_at")
BEFORE = ("first_name", "last_name", "email_key", "phone_number")
AFTER = ("name_key", "email_key", "phone_number")
_AT_ONCE = 10_000


def upgrade() -> None:
    _drop_indexes()
    op.add_column("customer", sa.Column("name_key", sa.String(), nullable=False, server_default=""))
    _fill()
    _make_indexes(AFTER)


def downgrade() -> None:
    _drop_indexes()
    op.drop_column("customer", "name_key")
    _make_indexes(BEFORE)


def _drop_indexes() -> None:
    for name in ("ix_customer_search", "ix_customer_of_distributor"):
        op.drop_index(name, "customer")


def _make_indexes(searched: tuple[str, ...]) -> None:
    op.create_index("ix_customer_search", "customer", ["is_live", *LISTED, *searched, "distributor_id"])
    mine = ["distributor_id", "is_live", *LISTED, "active", *searched]
    op.create_index("ix_customer_of_distributor", "customer", mine)


def _fill() -> None:
    """Plain names in one statement; only those with other letters are brought here."""
    names = ("id", "first_name", "last_name", "name_key")
    customer, bind = sa.table("customer", *map(sa.column, names)), op.get_bind()
    bind.execute(
        sa.update(customer).values(
            {customer.c.name_key: sa.func.lower(customer.c.first_name + " " + customer.c.last_name)}
        )
    )
    # A letter that takes more than one byte is not of ASCII.
    size = "length(CAST(name_key AS BLOB))" if bind.dialect.name == "sqlite" else "octet_length(name_key)"
    odd = bind.execute(sa.select(customer).where(sa.text(f"{size} <> length(name_key)"))).all()
    change = sa.update(customer).where(customer.c.id == sa.bindparam("of")).values(name_key=sa.bindparam("key"))
    rows = [{"of": row.id, "key": request_parts.build_name_key(row.first_name, row.last_name)} for row in odd]
    for start in range(0, len(rows), _AT_ONCE):
        bind.execute(change, rows[start : start + _AT_ONCE])
