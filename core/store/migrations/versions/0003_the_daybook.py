"""The daybook of what each day wrote, and indexes that hold what figures count."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

MEASURES = (
    "sold",
    "sold_minor",
    "sold_mca_minor",
    "sold_distributor_minor",
    "renewed",
    "renewed_minor",
    "renewed_mca_minor",
    "renewed_distributor_minor",
    "refunds",
    "refunded_minor",
)
IN_FORCE = ("created_at", "activated", "cancelled_at", "declined_at", "deleted_at", "product_id", "distributor_id")
LISTS = (["distributor_id", "is_live", "created_at", "id"], ["is_live", "created_at", "id"])
UNUSUAL = "(NOT activated OR cancelled_at IS NOT NULL OR declined_at IS NOT NULL)"
TERMS = ("start_at", "status", "deleted_at", "product_id", "distributor_id")


def _enter_what_was_written_before() -> None:
    """Sales and renewals of earlier releases, which knew neither refunds nor instalments."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    day = "date(created_at, '+1 hour')" if sqlite else "CAST(timezone('Africa/Lagos', created_at) AS DATE)"
    month = "date(day, 'start of month')" if sqlite else "CAST(date_trunc('month', day) AS DATE)"
    keys = "is_live, day, product_id, distributor_id"
    amounts = "total_minor, mca_profit_minor, distributor_profit_minor"
    rows = f"SELECT is_live, {day} AS day, product_id, distributor_id"
    columns = f"is_live, grain, day, product_id, distributor_id, premium_frequency, {', '.join(MEASURES)}"
    op.execute(
        f"INSERT INTO daybook_line ({columns})"
        " SELECT is_live, 'day', day, product_id, distributor_id, 'once',"
        f" {', '.join(f'sum({name})' for name in MEASURES[:8])}, 0, 0 FROM ("
        f"{rows}, 1 AS sold, total_minor AS sold_minor, mca_profit_minor AS sold_mca_minor,"
        " distributor_profit_minor AS sold_distributor_minor,"
        " 0 AS renewed, 0 AS renewed_minor, 0 AS renewed_mca_minor, 0 AS renewed_distributor_minor"
        f" FROM purchase WHERE deleted_at IS NULL UNION ALL {rows}, 0, 0, 0, 0, 1, {amounts}"
        f" FROM renewal WHERE deleted_at IS NULL AND status) AS entries GROUP BY {keys}"
    )
    op.execute(
        f"INSERT INTO daybook_line ({columns}) SELECT is_live, 'month', {month}, product_id, distributor_id, 'once',"
        f" {', '.join(f'sum({name})' for name in MEASURES)} FROM daybook_line GROUP BY 1, 3, 4, 5"
    )


def upgrade() -> None:
    op.add_column("purchase", sa.Column("premium_frequency", sa.String(20), nullable=True))
    op.create_table(
        "daybook_line",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("grain", sa.String(5), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=False),
        sa.Column("premium_frequency", sa.String(20), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in MEASURES),
        sa.PrimaryKeyConstraint(
            "is_live", "grain", "day", "product_id", "distributor_id", "premium_frequency", name="pk_daybook_line"
        ),
        sa.CheckConstraint("grain IN ('day', 'month')", name="ck_daybook_line_grain"),
        sa.ForeignKeyConstraint(["product_id"], ["product.id"], name="fk_daybook_line_product_id_product"),
        sa.ForeignKeyConstraint(
            ["distributor_id"], ["distributor.id"], name="fk_daybook_line_distributor_id_distributor"
        ),
        sqlite_with_rowid=False,
    )
    _enter_what_was_written_before()
    for columns in LISTS:
        op.drop_index(f"ix_purchase_{'_'.join(columns)}", "purchase")
        op.create_index(f"ix_purchase_{'_'.join(columns)}_deleted_at", "purchase", [*columns, "deleted_at"])
    op.drop_index("ix_policy_is_live_expiration_at", "policy")
    op.create_index("ix_policy_in_force", "policy", ["is_live", "expiration_at", *IN_FORCE])
    op.create_index(
        "ix_policy_unusual",
        "policy",
        ["is_live", "created_at"],
        sqlite_where=sa.text(UNUSUAL),
        postgresql_where=sa.text(UNUSUAL),
    )
    op.create_index("ix_renewal_terms", "renewal", ["is_live", "previous_expiration_at", *TERMS])
    op.create_index("ix_claim_event_is_live_status_created_at", "claim_event", ["is_live", "status", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_claim_event_is_live_status_created_at", "claim_event")
    op.drop_index("ix_renewal_terms", "renewal")
    op.drop_index("ix_policy_unusual", "policy")
    op.drop_index("ix_policy_in_force", "policy")
    op.create_index("ix_policy_is_live_expiration_at", "policy", ["is_live", "expiration_at"])
    for columns in LISTS:
        op.drop_index(f"ix_purchase_{'_'.join(columns)}_deleted_at", "purchase")
        op.create_index(f"ix_purchase_{'_'.join(columns)}", "purchase", columns)
    op.drop_table("daybook_line")
    op.drop_column("purchase", "premium_frequency")
