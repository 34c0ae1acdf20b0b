"""Claimants are searched and sorted by their names as customers are: without accents, in any case."""

import sqlalchemy as sa
from alembic import op

from core.covers import request_parts

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

_AT_ONCE = 10_000
_INDEX = "ix_claim_of_claimant"


def upgrade() -> None:
    op.add_column("claim", sa.Column("claim_owner_name_key", sa.String(), nullable=False, server_default=""))
    _fill()
    columns = ["is_live", "claim_owner_name_key", "claim_owner_email", "id", "deleted_at"]
    op.create_index(_INDEX, "claim", columns)


def downgrade() -> None:
    op.drop_index(_INDEX, "claim")
    op.drop_column("claim", "claim_owner_name_key")


def _fill() -> None:
    """Plain names in one statement; only those with other letters are brought here."""
    names = ("id", "claim_owner_first_name", "claim_owner_last_name", "claim_owner_name_key")
    claim, bind = sa.table("claim", *map(sa.column, names)), op.get_bind()
    name = sa.func.lower(claim.c.claim_owner_first_name + " " + claim.c.claim_owner_last_name)
    bind.execute(sa.update(claim).values({claim.c.claim_owner_name_key: name}))
    # A letter that takes more than one byte is not of ASCII.
    of_bytes = "length(CAST({0} AS BLOB))" if bind.dialect.name == "sqlite" else "octet_length({0})"
    key = "claim_owner_name_key"
    odd = bind.execute(sa.select(claim).where(sa.text(f"{of_bytes.format(key)} <> length({key})"))).all()
    change = sa.update(claim).where(claim.c.id == sa.bindparam("of")).values({key: sa.bindparam("key")})
    rows = [{"of": row.id, "key": request_parts.build_name_key(row[1], row[2])} for row in odd]
    for start in range(0, len(rows), _AT_ONCE):
        bind.execute(change, rows[start : start + _AT_ONCE])
