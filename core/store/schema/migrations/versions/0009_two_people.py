"""Rates are proposed by one admin and confirmed by another; who has had a password reset approves nothing for a day."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
# What is proposed never changes, nor what was decided.
_KEEPS = (
    (
        "figures",
        "UPDATE OF id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp,"
        " cover_months, meta, proposed_by, proposed_at",
        "",
    ),
    ("decision", "UPDATE", " WHEN (OLD.state <> 'open')"),
    ("delete", "DELETE", ""),
)


def upgrade() -> None:
    op.add_column("staff", sa.Column("link_by", sa.Uuid(), nullable=True))
    op.add_column("staff", sa.Column("approves_from", _INSTANT(), nullable=True))
    op.create_table(
        "rate_proposal",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("effective_at", _INSTANT(), nullable=False),
        sa.Column("price_minor", sa.BigInteger(), nullable=False),
        sa.Column("mca_commission_bp", sa.Integer(), nullable=False),
        sa.Column("distributor_commission_bp", sa.Integer(), nullable=False),
        sa.Column("cover_months", sa.Integer(), nullable=False),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.Column("proposed_by", sa.Uuid(), nullable=False),
        sa.Column("proposed_at", _INSTANT(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.Column("reason", _TEXT(), nullable=True),
        sa.Column("version_id", sa.Uuid(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'confirmed', 'refused', 'withdrawn')", name=op.f("ck_rate_proposal_state")
        ),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name=op.f("ck_rate_proposal_decided")),
        sa.CheckConstraint("(state = 'confirmed') = (version_id IS NOT NULL)", name=op.f("ck_rate_proposal_version")),
        sa.CheckConstraint(
            "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by",
            name=op.f("ck_rate_proposal_two_people"),
        ),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_rate_proposal_{column}"))
            for column, table in (
                *(("product_id", "product"), ("proposed_by", "staff")),
                *(("decided_by", "staff"), ("version_id", "product_version")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rate_proposal")),
    )
    is_open = sa.text("state = 'open'")
    op.create_index(
        *("ix_rate_proposal_open", "rate_proposal", ["product_id"]),
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    _keep()


def downgrade() -> None:
    op.drop_table("rate_proposal")
    op.drop_column("staff", "approves_from")
    op.drop_column("staff", "link_by")


def _keep() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, event, only in _KEEPS:
        head = f"CREATE TRIGGER rate_proposal_{name} BEFORE {event} ON rate_proposal FOR EACH ROW{only}"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'rate_proposal keeps what it holds'); END")
        else:
            op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            "CREATE TRIGGER rate_proposal_truncate BEFORE TRUNCATE ON rate_proposal"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
