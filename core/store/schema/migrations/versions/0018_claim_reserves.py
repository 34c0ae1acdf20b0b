"""Reserves of claims: rows that only grow; open claims that were reviewed before begin with what they claim."""

from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import ids

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_AT_ONCE = 1_000
_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("id", "claim_id", "distributor_id", "staff_id"), sa.Uuid),
    **dict.fromkeys(("created_at", "updated_at", "deleted_at"), _INSTANT),
    **dict.fromkeys(("claim_amount_minor", "amount_minor", "change_minor"), sa.BigInteger),
    "is_live": sa.Boolean,
}
_DECIDED = ("Paid", "Settled", "Declined")


def upgrade() -> None:
    op.create_table(
        "claim_reserve",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("change_minor", sa.BigInteger(), nullable=False),
        sa.Column("reason", _TEXT(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("change_minor <> 0", name=op.f("ck_claim_reserve_change")),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_reserve_{column}"))
            for column, table in (("claim_id", "claim"), ("distributor_id", "distributor"), ("staff_id", "staff"))
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_reserve")),
    )
    op.create_index(op.f("ix_claim_reserve_claim_id"), "claim_reserve", ["claim_id"])
    op.create_index(
        op.f("ix_claim_reserve_is_live_created_at_claim_id"), "claim_reserve", ["is_live", "created_at", "claim_id"]
    )
    _fill(op.get_bind())
    _keep("claim_reserve")


def downgrade() -> None:
    op.drop_table("claim_reserve")


def _table(name: str, *columns: str) -> Any:
    return sa.table(name, *(sa.column(column, _TYPES.get(column)) for column in columns))


def _fill(bind: sa.Connection) -> None:
    claim = _table(
        *("claim", "id", "distributor_id", "is_live", "claim_status", "claim_amount_minor", "updated_at", "deleted_at"),
    )
    payment = _table("claim_payment", "claim_id", "amount_minor")
    reserve = _table(
        "claim_reserve", *("id", "distributor_id", "is_live", "claim_id"), *("change_minor", "reason", "created_at")
    )
    paid = sa.select(sa.func.coalesce(sa.func.sum(payment.c.amount_minor), 0)).where(payment.c.claim_id == claim.c.id)
    query = sa.select(claim, paid.scalar_subquery().label("paid_minor")).where(
        claim.c.claim_status.not_in(_DECIDED), claim.c.deleted_at.is_(None), claim.c.claim_amount_minor > 0
    )
    rows = [
        {
            "id": ids.new(),
            "distributor_id": row.distributor_id,
            "is_live": row.is_live,
            "claim_id": row.id,
            "change_minor": row.claim_amount_minor - row.paid_minor,
            "reason": "Carried over: what is claimed and not paid yet",
            "created_at": row.updated_at,
        }
        for row in bind.execute(query)
        if row.claim_amount_minor > row.paid_minor
    ]
    for first in range(0, len(rows), _AT_ONCE):
        bind.execute(sa.insert(reserve), rows[first : first + _AT_ONCE])


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
