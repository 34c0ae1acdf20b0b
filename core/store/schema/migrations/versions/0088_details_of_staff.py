"""Every phone and account of a staff member stays theirs: rows that only grow, beside the newest ones."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import ids

revision = "0088"
down_revision = "0087"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_NAMES = ("phone_number", "account_key")


def upgrade() -> None:
    detail = op.create_table(
        "staff_detail",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("phone_number", sqlmodel.sql.sqltypes.AutoString(length=32), nullable=True),
        sa.Column("account_key", sqlmodel.sql.sqltypes.AutoString(length=64), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("phone_number IS NOT NULL OR account_key IS NOT NULL", name=op.f("ck_staff_detail_of_one")),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"], name=op.f("fk_staff_detail_staff_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_staff_detail")),
    )
    op.create_index("ix_staff_detail_staff_id", "staff_detail", ["staff_id"])
    staff = sa.table("staff", sa.column("id", sa.Uuid()), *map(sa.column, _NAMES), sa.column("updated_at", _INSTANT()))
    known = sa.select(staff).where(sa.or_(*(staff.c[name].is_not(None) for name in _NAMES)))
    rows = [
        {
            "id": ids.new(),
            "staff_id": row.id,
            "created_at": row.updated_at,
            **{name: row._mapping[name] for name in _NAMES},
        }
        for row in op.get_bind().execute(known)
    ]
    if rows:
        op.bulk_insert(detail, rows)
    for event in ("update", "delete"):
        _keep(event, f"BEFORE {event.upper()} ON staff_detail FOR EACH ROW")
    if not _is_sqlite():
        _keep("truncate", "BEFORE TRUNCATE ON staff_detail FOR EACH STATEMENT")


def downgrade() -> None:
    op.drop_table("staff_detail")


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")


def _keep(name: str, when: str) -> None:
    refusal = "BEGIN SELECT RAISE(ABORT, 'staff_detail keeps what it holds'); END"
    action = refusal if _is_sqlite() else "EXECUTE FUNCTION keeps_what_it_holds()"
    op.execute(f"CREATE TRIGGER staff_detail_{name} {when} {action}")
