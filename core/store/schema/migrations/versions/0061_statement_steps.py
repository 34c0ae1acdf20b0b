"""The steps of a statement are rows: a dispute and its settlement stay, and the day of sending is the first."""

from collections import defaultdict
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0061"
down_revision = "0076"
branch_labels = None
depends_on = None

_TABLE = "statement_step"
_TEXT = sqlmodel.sql.sqltypes.AutoString
_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_STATES = ("Approved", "Sent", "Disputed", "Void")


def upgrade() -> None:
    listed = ", ".join(f"'{state}'" for state in _STATES)
    table = op.create_table(
        _TABLE,
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("made_at", _INSTANT(), nullable=False),
        sa.Column("note", _TEXT(), nullable=True),
        sa.CheckConstraint(f"state IN ({listed})", name=op.f("ck_statement_step_state")),
        sa.ForeignKeyConstraint(["staff_id"], ["staff.id"], name=op.f("fk_statement_step_staff_id")),
        sa.ForeignKeyConstraint(["statement_id"], ["statement.id"], name=op.f("fk_statement_step_statement_id")),
        sa.PrimaryKeyConstraint("statement_id", "position", name=op.f("pk_statement_step")),
    )
    steps = _read_log()
    if steps:
        op.bulk_insert(table, steps)
        _restore_sending(steps)
    _keep()


def downgrade() -> None:
    op.drop_table(_TABLE)


def _read_log() -> list[dict[str, Any]]:
    """Return every step of a statement that the audit log has, in the order of time."""
    entry = sa.table(
        "audit_entry",
        *map(sa.column, ("actor", "subject", "position")),
        sa.column("after", sa.JSON()),
        sa.column("created_at", _INSTANT()),
    )
    connection = op.get_bind()
    staff = sa.table("staff", sa.column("id", sa.Uuid()), sa.column("email"))
    people = {f"staff {email}": id_ for id_, email in connection.execute(sa.select(staff.c.id, staff.c.email))}
    statement = sa.table("statement", sa.column("id", sa.Uuid()))
    known = set(connection.execute(sa.select(statement.c.id)).scalars())
    query = sa.select(entry).where(entry.c.subject.like("statement %")).order_by(entry.c.created_at, entry.c.position)
    found: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in connection.execute(query):
        statement_id, state = UUID(row.subject.split()[1]), (row.after or {}).get("state")
        if state in _STATES and row.actor in people and statement_id in known:
            step = {"state": state, "staff_id": people[row.actor], "made_at": row.created_at}
            place = len(found[statement_id]) + 1
            step |= {"statement_id": statement_id, "position": place, "note": row.after.get("reason")}
            found[statement_id].append(step)
    return [step for steps in found.values() for step in steps]


def _restore_sending(steps: list[dict[str, Any]]) -> None:
    """Settling a dispute had moved the day on which the statement was sent."""
    statement = sa.table(
        "statement", sa.column("id", sa.Uuid()), sa.column("sent_by", sa.Uuid()), sa.column("sent_at", _INSTANT())
    )
    first: dict[UUID, dict[str, Any]] = {}
    for step in steps:
        if step["state"] == "Sent":
            first.setdefault(step["statement_id"], step)
    settled = {step["statement_id"] for step in steps if step["state"] == "Disputed"} & first.keys()
    for statement_id in settled:
        sent = {"sent_by": first[statement_id]["staff_id"], "sent_at": first[statement_id]["made_at"]}
        op.execute(sa.update(statement).where(statement.c.id == statement_id).values(**sent))


def _keep() -> None:
    """Rows are never changed nor removed."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for event in ("UPDATE", "DELETE"):
        head = f"CREATE TRIGGER {_TABLE}_{event.lower()} BEFORE {event} ON {_TABLE} FOR EACH ROW"
        refusal = f"BEGIN SELECT RAISE(ABORT, '{_TABLE} keeps what it holds'); END"
        op.execute(f"{head} {refusal if is_sqlite else 'EXECUTE FUNCTION keeps_what_it_holds()'}")
    if not is_sqlite:
        op.execute(
            f"CREATE TRIGGER {_TABLE}_truncate BEFORE TRUNCATE ON {_TABLE}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
