"""Payees of claims: who is paid on which account; payments name theirs, their method and their value date."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "claim_payee",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("name", _TEXT(length=200), nullable=False),
        sa.Column("bank_name", _TEXT(length=200), nullable=True),
        sa.Column("hint", _TEXT(length=4), nullable=True),
        sa.Column("sealed", _TEXT(), nullable=True),
        sa.Column("reason", _TEXT(length=500), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_payee_{column}"))
            for column, table in (("claim_id", "claim"), ("distributor_id", "distributor"), ("staff_id", "staff"))
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_payee")),
    )
    op.create_index(op.f("ix_claim_payee_claim_id"), "claim_payee", ["claim_id"])
    # The table is not made anew: its rows only grow, and what keeps them is written on it.
    for column in (
        sa.Column("payee_id", sa.Uuid(), nullable=True),
        sa.Column("method", _TEXT(length=20), nullable=True),
        sa.Column("value_on", sa.Date(), nullable=True),
    ):
        op.add_column("claim_payment", column)


def downgrade() -> None:
    for column in ("value_on", "method", "payee_id"):
        op.drop_column("claim_payment", column)
    op.drop_index(op.f("ix_claim_payee_claim_id"), "claim_payee")
    op.drop_table("claim_payee")
