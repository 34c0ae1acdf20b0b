"""Approvals with their frozen parts, and their lapses."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import clock, ids, seal

revision = "0069"
down_revision = "0067"
branch_labels = None
depends_on = None

_TEXT = sqlmodel.sql.sqltypes.AutoString
_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TABLES = ("approval", "approval_lapse")


def upgrade() -> None:
    op.create_table(
        "approval",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("subject_kind", _TEXT(length=20), nullable=False),
        sa.Column("subject_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=True),
        sa.Column("limit_minor", sa.BigInteger(), nullable=True),
        sa.Column("role", _TEXT(length=12), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.Column("fingerprint", _TEXT(length=64), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("approved_at", _INSTANT(), nullable=False),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"], name=op.f("fk_approval_staff_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approval")),
    )
    op.create_index(op.f("ix_approval_subject_id_approved_at"), "approval", ["subject_id", "approved_at"])
    op.create_index(op.f("ix_approval_staff_id"), "approval", ["staff_id"])
    op.create_table(
        "approval_lapse",
        sa.Column("approval_id", sa.Uuid(), nullable=False),
        sa.Column("reason", _TEXT(length=500), nullable=False),
        sa.Column("actor", _TEXT(length=120), nullable=False),
        sa.Column("lapsed_at", _INSTANT(), nullable=False),
        sa.ForeignKeyConstraint(["approval_id"], ["approval.id"], name=op.f("fk_approval_lapse_approval_id")),
        sa.PrimaryKeyConstraint("approval_id", name=op.f("pk_approval_lapse")),
    )
    _carry_over()
    for table in _TABLES:
        _keep(table)


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _carry_over() -> None:
    """Write the approvals of claims from before; their parts are frozen when the claim is next changed."""
    columns = ("id", "approved_by", "approved_amount_minor")
    claim = sa.table("claim", *(sa.column(name, sa.Uuid()) for name in columns[:2]), sa.column(columns[2]))
    event = sa.table(
        "claim_event", sa.column("claim_id", sa.Uuid()), sa.column("status"), sa.column("created_at", _INSTANT())
    )
    approved = sa.select(sa.func.max(event.c.created_at, type_=_INSTANT())).where(
        event.c.claim_id == claim.c.id, event.c.status == "Approved"
    )
    query = sa.select(claim, approved.scalar_subquery().label("at")).where(claim.c.approved_by.is_not(None))
    staff = sa.table("staff", sa.column("id", sa.Uuid()), sa.column("roles", sa.JSON()), sa.column("claim_limit_minor"))
    people = {row.id: row for row in op.get_bind().execute(sa.select(staff))}
    rows = [_row(found, people[found.approved_by]) for found in op.get_bind().execute(query).all()]
    table = sa.table(
        "approval",
        *(sa.column(name, sa.Uuid()) for name in ("id", "subject_id", "staff_id")),
        *map(sa.column, ("subject_kind", "amount_minor", "limit_minor", "role", "fingerprint")),
        sa.column("parts", sa.JSON()),
        sa.column("approved_at", _INSTANT()),
    )
    if rows:
        op.bulk_insert(table, rows)


def _row(
    claim: sa.Row[tuple[UUID, UUID, int, datetime | None]], person: sa.Row[tuple[UUID, list[str], int]]
) -> dict[str, object]:
    role = next((each for each in ("supervisor", "admin") if each in person.roles), "claims")
    facts = {
        "subject_id": claim.id,
        "amount_minor": claim.approved_amount_minor,
        "limit_minor": None if role != "claims" else person.claim_limit_minor,
        "role": role,
        "staff_id": claim.approved_by,
        "approved_at": claim.at or clock.now(),
        "parts": {},
    }
    approval_id = ids.new()
    sealed = seal.fingerprint_approval(approval_id=approval_id, kind="claim", **facts)  # type: ignore[arg-type]
    return {"id": approval_id, "subject_kind": "claim", "fingerprint": sealed, **facts}


def _keep(table: str) -> None:
    """Rows are never changed nor removed."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for event in ("UPDATE", "DELETE"):
        head = f"CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table}"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
        else:
            op.execute(f"{head} FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
