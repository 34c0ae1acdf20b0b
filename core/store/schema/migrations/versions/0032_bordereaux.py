"""Bordereaux with their rows, frozen when they are issued."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_KINDS = "kind IN ('premium', 'claims')"
_FIXED = (
    *("id", "provider_id", "kind", "number", "month", "rows", "totals", "sha256", "facts", "issued_by", "issued_at"),
)


def upgrade() -> None:
    people = ("issued_by", "sent_by", "answered_by")
    op.create_table(
        "bordereau",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("kind", _TEXT(length=7), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("state", _TEXT(length=12), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("totals", sa.JSON(), nullable=False),
        sa.Column("sha256", _TEXT(length=64), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        *(
            column
            for person in people
            for column in (
                sa.Column(person, sa.Uuid(), nullable=person != "issued_by"),
                sa.Column(f"{person[:-3]}_at", _INSTANT(), nullable=person != "issued_by"),
            )
        ),
        sa.Column("note", _TEXT(), nullable=True),
        sa.CheckConstraint(_KINDS, name=op.f("ck_bordereau_kind")),
        sa.CheckConstraint("state IN ('Issued', 'Sent', 'Acknowledged', 'Queried')", name=op.f("ck_bordereau_state")),
        sa.CheckConstraint("(state = 'Issued') = (sent_at IS NULL)", name=op.f("ck_bordereau_sent")),
        sa.ForeignKeyConstraint(["provider_id"], ["provider.id"], name=op.f("fk_bordereau_provider_id")),
        *(sa.ForeignKeyConstraint([each], ["staff.id"], name=op.f(f"fk_bordereau_{each}")) for each in people),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bordereau")),
        *(
            sa.UniqueConstraint("provider_id", "kind", last, name=op.f(f"uq_bordereau_provider_id_kind_{last}"))
            for last in ("number", "month")
        ),
    )
    op.create_index(op.f("ix_bordereau_month"), "bordereau", ["month"])
    op.create_table(
        "bordereau_line",
        sa.Column("bordereau_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("kind", _TEXT(length=7), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("cells", sa.JSON(), nullable=False),
        sa.CheckConstraint(_KINDS, name=op.f("ck_bordereau_line_kind")),
        sa.ForeignKeyConstraint(
            ["bordereau_id"],
            ["bordereau.id"],
            name=op.f("fk_bordereau_line_bordereau_id"),
            deferrable=True,
            initially="DEFERRED",
        ),
        sa.PrimaryKeyConstraint("bordereau_id", "position", name=op.f("pk_bordereau_line")),
    )
    premium = sa.text("kind = 'premium'")
    op.create_index(
        *("ix_bordereau_line_of_movement", "bordereau_line", ["subject_id"]),
        unique=True,
        sqlite_where=premium,
        postgresql_where=premium,
    )
    op.create_index(op.f("ix_bordereau_line_subject_id_kind"), "bordereau_line", ["subject_id", "kind"])
    _keep("bordereau", (("figures", f"UPDATE OF {', '.join(_FIXED)}"), ("delete", "DELETE")))
    _keep("bordereau_line", (("update", "UPDATE"), ("delete", "DELETE")))


def downgrade() -> None:
    for table in ("bordereau_line", "bordereau"):
        op.drop_table(table)


def _keep(table: str, events: tuple[tuple[str, str], ...]) -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, event in events:
        head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
        else:
            op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
