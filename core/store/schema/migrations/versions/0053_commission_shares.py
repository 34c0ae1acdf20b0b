"""Commission shares that one distributor has agreed, and the versions of rates that its sales refer to."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0053"
down_revision = "0051"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_SHARE_KEEPS = (
    ("figures", "UPDATE OF id, distributor_id, product_id, effective_at, commission_bp, proposed_by, proposed_at", ""),
    ("decision", "UPDATE", " WHEN (OLD.state <> 'open')"),
    ("delete", "DELETE", ""),
)
_FIGURES = (
    "id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp, cover_months,"
    " meta, created_at"
)
_ADDED = ("base_id", "share_id")


def upgrade() -> None:
    op.create_table(
        "commission_share",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("product_id", sa.Uuid(), nullable=True),
        sa.Column("effective_at", _INSTANT(), nullable=False),
        sa.Column("commission_bp", sa.Integer(), nullable=True),
        sa.Column("proposed_by", sa.Uuid(), nullable=False),
        sa.Column("proposed_at", _INSTANT(), nullable=False),
        sa.Column("state", sqlmodel.sql.sqltypes.AutoString(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'confirmed', 'refused', 'withdrawn')", name=op.f("ck_commission_share_state")
        ),
        sa.CheckConstraint("commission_bp BETWEEN 0 AND 10000", name=op.f("ck_commission_share_commission")),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name=op.f("ck_commission_share_decided")),
        sa.CheckConstraint(
            "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by",
            name=op.f("ck_commission_share_two_people"),
        ),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_commission_share_{column}"))
            for column, table in (
                *(("distributor_id", "distributor"), ("product_id", "product")),
                *(("proposed_by", "staff"), ("decided_by", "staff")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_commission_share")),
    )
    is_open = sa.text("state = 'open'")
    op.create_index(
        *("ix_commission_share_open", "commission_share", ["distributor_id"]),
        unique=True,
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_index(
        "ix_commission_share_in_force", "commission_share", ["distributor_id", "product_id", "effective_at"]
    )
    for name, event, only in _SHARE_KEEPS:
        _keep("commission_share", name, event, only)
    if op.get_bind().dialect.name != "sqlite":
        op.execute(
            "CREATE TRIGGER commission_share_truncate BEFORE TRUNCATE ON commission_share"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
    for name in _ADDED:
        op.add_column("product_version", sa.Column(name, sa.Uuid(), nullable=True))
    op.create_index("ix_product_version_of_share", "product_version", list(_ADDED), unique=True)
    _index_in_force("withdrawn_at IS NULL AND share_id IS NULL")
    _keep_figures(f"{_FIGURES}, {', '.join(_ADDED)}")


def downgrade() -> None:
    # What sales refer to stays, and must not hold for everybody.
    op.execute("UPDATE product_version SET withdrawn_at = '1970-01-01 00:00:00' WHERE share_id IS NOT NULL")
    _drop_figures()
    op.drop_index("ix_product_version_in_force", "product_version")
    op.drop_index("ix_product_version_of_share", "product_version")
    for name in _ADDED:
        op.drop_column("product_version", name)
    _create_index_in_force("withdrawn_at IS NULL")
    _keep("product_version", "amounts", f"UPDATE OF {_FIGURES}")
    op.drop_table("commission_share")


def _index_in_force(only: str) -> None:
    op.drop_index("ix_product_version_in_force", "product_version")
    _create_index_in_force(only)


def _create_index_in_force(only: str) -> None:
    op.create_index(
        *("ix_product_version_in_force", "product_version", ["product_id", "effective_at"]),
        unique=True,
        sqlite_where=sa.text(only),
        postgresql_where=sa.text(only),
    )


def _keep_figures(columns: str) -> None:
    _drop_figures()
    _keep("product_version", "amounts", f"UPDATE OF {columns}")


def _drop_figures() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    op.execute("DROP TRIGGER product_version_amounts" + ("" if is_sqlite else " ON product_version"))


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{only}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
