"""Payments of credit notes become rows that only grow; those of before are made from the notes."""

from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import clock, ids

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_TABLE, _NOTE = "credit_note_payment", "credit_note"
_UUIDS = ("id", "distributor_id", "credit_note_id", "paid_by", "reverses")
_TEXTS = ("payee", "reason")
_DECIDED = "OLD.approved_by IS NOT NULL OR (OLD.first_by IS NOT NULL AND NEW.first_by <> OLD.first_by)"
# A lapsed approval is taken off with both people; the approvals themselves are kept elsewhere, for ever.
_TAKEN_OFF = "NEW.state = 'Computed' AND NEW.approved_by IS NULL AND NEW.first_by IS NULL"
_PAYMENT = "reference, reference_key, value_on, paid_by, paid_at, returned_by, returned_on"


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("credit_note_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("payee", _TEXT(length=200), nullable=False),
        sa.Column("reference", _TEXT(length=60), nullable=False),
        sa.Column("reference_key", _TEXT(length=80), nullable=False),
        sa.Column("value_on", sa.Date(), nullable=False),
        sa.Column("reason", _TEXT(length=500), nullable=True),
        sa.Column("paid_by", sa.Uuid(), nullable=True),
        sa.Column("reverses", sa.Uuid(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint(
            "(reverses IS NULL) = (amount_minor > 0) AND amount_minor <> 0", name=op.f(f"ck_{_TABLE}_amount")
        ),
        sa.CheckConstraint("reverses IS NULL OR reason IS NOT NULL", name=op.f(f"ck_{_TABLE}_reason")),
        *(
            sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{_TABLE}_{column}"))
            for column, to in (("distributor_id", "distributor"), ("credit_note_id", _NOTE), ("paid_by", "staff"))
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{_TABLE}")),
        sa.UniqueConstraint("is_live", "reference_key", name=op.f(f"uq_{_TABLE}_is_live_reference_key")),
        sa.UniqueConstraint("reverses", name=op.f(f"uq_{_TABLE}_reverses")),
    )
    op.create_index(op.f(f"ix_{_TABLE}_credit_note_id"), _TABLE, ["credit_note_id"])
    _carry_over(op.get_bind())
    columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns(_TABLE)]
    _keep(_TABLE, "update", "UPDATE OF " + ", ".join(name for name in columns if name not in _TEXTS))
    _keep(_TABLE, "delete", "DELETE")
    _keep_texts(_TABLE, _TEXTS)
    if op.get_bind().dialect.name != "sqlite":
        op.execute(
            f"CREATE TRIGGER {_TABLE}_truncate BEFORE TRUNCATE ON {_TABLE}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
    _drop(_NOTE, "decision")
    _keep(_NOTE, "decision", "UPDATE OF first_by, approved_by, approved_at", f"({_DECIDED}) AND NOT ({_TAKEN_OFF})")
    # The payment of a note changes with its state, as the services do it, and in no other way.
    _keep(_NOTE, "payment", f"UPDATE OF {_PAYMENT}", "NEW.state = OLD.state")
    _keep_texts(_NOTE, ("payee", "note"), "NEW.state = OLD.state")


def downgrade() -> None:
    for name in ("payment", "texts", "decision"):
        _drop(_NOTE, name)
    _keep(_NOTE, "decision", "UPDATE OF first_by, approved_by, approved_at", _DECIDED)
    op.drop_table(_TABLE)


def _carry_over(bind: sa.Connection) -> None:
    kinds: dict[str, Any] = dict.fromkeys(("id", "distributor_id", "paid_by", "returned_by"), sa.Uuid())
    kinds |= {"paid_at": _INSTANT(), "created_at": _INSTANT(), "value_on": sa.Date(), "returned_on": sa.Date()}
    names = ("is_live", "total_minor", "payee", "reference", "reference_key", "note", "state")
    note = sa.table(_NOTE, *(sa.column(name, kind) for name, kind in kinds.items()), *map(sa.column, names))
    rows: list[dict[str, Any]] = []
    for each in bind.execute(sa.select(note).where(note.c.state.in_(("Paid", "Returned")))).all():
        at = each.paid_at or each.created_at
        owned = {"distributor_id": each.distributor_id, "is_live": bool(each.is_live), "credit_note_id": each.id}
        shared = {**owned, "payee": each.payee, "reference": each.reference}
        paid = {"id": ids.new(), "amount_minor": each.total_minor, "value_on": each.value_on, "reason": None}
        more = {"paid_by": each.paid_by, "reverses": None, "created_at": at, "reference_key": each.reference_key}
        rows.append({**shared, **paid, **more})
        if each.state == "Returned":
            came_back = {"id": ids.new(), "amount_minor": -each.total_minor, "value_on": each.returned_on}
            why = {"reason": each.note or "Returned by the bank", "reverses": paid["id"], "paid_by": each.returned_by}
            key = {"reference_key": f"return:{each.reference_key}", "created_at": clock.now()}
            rows.append({**shared, **came_back, **why, **key})
    columns = (*(sa.column(name, sa.Uuid()) for name in _UUIDS), sa.column("created_at", _INSTANT()))
    days = (sa.column("value_on", sa.Date()), sa.column("is_live", sa.Boolean()))
    texts = map(sa.column, ("amount_minor", "payee", "reference", "reference_key", "reason"))
    if rows:
        op.bulk_insert(sa.table(_TABLE, *columns, *days, *texts), rows)


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _keep_texts(table: str, columns: tuple[str, ...], only: str = "") -> None:
    """Refuse to change texts outside an erasure; PostgreSQL asks for the window in the function."""
    event, closed = f"UPDATE OF {', '.join(columns)}", "NOT EXISTS (SELECT 1 FROM erasure_window)"
    if op.get_bind().dialect.name == "sqlite":
        _keep(table, "texts", event, f"{only} AND {closed}" if only else closed)
        return
    when = f" WHEN ({only})" if only else ""
    op.execute(
        f"CREATE TRIGGER {table}_texts BEFORE {event} ON {table} FOR EACH ROW{when}"
        " EXECUTE FUNCTION keeps_unless_erasing()"
    )


def _drop(table: str, name: str) -> None:
    on_table = "" if op.get_bind().dialect.name == "sqlite" else f" ON {table}"
    op.execute(f"DROP TRIGGER IF EXISTS {table}_{name}{on_table}")
