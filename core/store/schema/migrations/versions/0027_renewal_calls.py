"""Calls about the end of a term: outcome, note, owner, and when to call again."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "renewal_call",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("policy_id", sa.Uuid(), nullable=False),
        sa.Column("expiration_at", _INSTANT(), nullable=False),
        sa.Column("outcome", _TEXT(length=20), nullable=False),
        sa.Column("note", _TEXT(length=500), nullable=True),
        sa.Column("caller_id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("call_again_on", sa.Date(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint(
            "outcome IN ('will_renew', 'thinking', 'refused', 'no_answer', 'wrong_number')",
            name=op.f("ck_renewal_call_outcome"),
        ),
        *(
            sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"], name=op.f(f"fk_renewal_call_{table}_id"))
            for table in ("distributor", "policy")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_renewal_call")),
    )
    for columns in (("policy_id", "expiration_at", "created_at"), ("is_live", "created_at")):
        op.create_index(op.f(f"ix_renewal_call_{'_'.join(columns)}"), "renewal_call", list(columns))


def downgrade() -> None:
    op.drop_table("renewal_call")
