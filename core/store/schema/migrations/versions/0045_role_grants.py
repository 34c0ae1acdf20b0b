"""Roles that approve are proposed by one admin and confirmed by another; who has them today keeps them."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_OPEN = sa.text("state = 'open'")
_CHECKS = {
    "state": "state IN ('open', 'confirmed', 'refused', 'withdrawn')",
    "decided": "(state = 'open') = (decided_at IS NULL)",
    "two_people": "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by",
    "not_oneself": "state <> 'confirmed' OR decided_by <> staff_id",
}


def upgrade() -> None:
    op.create_table(
        "role_grant",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("proposed_by", sa.Uuid(), nullable=False),
        sa.Column("proposed_at", _INSTANT(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        *(sa.CheckConstraint(text, name=op.f(f"ck_role_grant_{name}")) for name, text in _CHECKS.items()),
        *(
            sa.ForeignKeyConstraint([column], ["staff.id"], name=op.f(f"fk_role_grant_{column}"))
            for column in ("staff_id", "proposed_by", "decided_by")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_role_grant")),
    )
    op.create_index(op.f("ix_role_grant_staff_id"), "role_grant", ["staff_id"])
    op.create_index(
        "ix_role_grant_open", "role_grant", ["staff_id"], unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN
    )
    _keep("figures", "UPDATE OF id, staff_id, roles, proposed_by, proposed_at")
    _keep("decision", "UPDATE OF state, decided_by, decided_at", "OLD.state <> 'open'")
    _keep("delete", "DELETE")


def downgrade() -> None:
    op.drop_table("role_grant")


def _keep(name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER role_grant_{name} BEFORE {event} ON role_grant FOR EACH ROW{when}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'role_grant keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
