"""Credit notes: one for each refund of something, numbered within its insurer; those of old refunds tell no payment."""

from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0044"
down_revision = "0042"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_STATES = ("Computed", "Awaits second person", "Approved", "Paid", "Returned", "Not recorded")
_CHECKS = {
    "amount": "total_minor > 0",
    "two_people": "approved_by <> first_by",
    "paid_by_another": "paid_by <> approved_by",
    "approved": (
        "state NOT IN ('Approved', 'Paid', 'Returned') OR (approved_by IS NOT NULL AND approved_at IS NOT NULL)"
    ),
    "paid": (
        "state NOT IN ('Paid', 'Returned')"
        " OR (paid_by IS NOT NULL AND payee IS NOT NULL AND reference_key IS NOT NULL AND value_on IS NOT NULL)"
    ),
    "returned": "(state = 'Returned') = (returned_on IS NOT NULL)",
    "state": "state IN (" + ", ".join(f"'{state}'" for state in _STATES) + ")",
}
_FIGURES = "id, refund_id, provider_id, distributor_id, is_live, number, total_minor, created_at, made_by"
# Whatever the refund of a term is, its credit note has the same id: it is one of each.
_FILL = """
INSERT INTO credit_note
  (id, refund_id, distributor_id, is_live, provider_id, number, total_minor, created_at, made_by, state)
SELECT id, id, distributor_id, is_live, provider_id,
  ROW_NUMBER() OVER (PARTITION BY provider_id, is_live ORDER BY created_at, id),
  total_minor, created_at, 'before there were credit notes', 'Not recorded'
FROM refund WHERE total_minor > 0
"""
_DECIDED = {
    "decision": (
        "first_by, approved_by, approved_at",
        "OLD.approved_by IS NOT NULL OR (OLD.first_by IS NOT NULL AND NEW.first_by <> OLD.first_by)",
    ),
    "figures": (_FIGURES, ""),
}


def upgrade() -> None:
    op.create_table(
        "credit_note",
        *(_column(name, sa.Uuid, is_needed=True) for name in ("distributor_id", "id", "refund_id", "provider_id")),
        _column("is_live", sa.Boolean, is_needed=True),
        _column("number", sa.Integer, is_needed=True),
        _column("total_minor", sa.BigInteger, is_needed=True),
        _column("created_at", _INSTANT, is_needed=True),
        sa.Column("made_by", _TEXT(length=120), nullable=False),
        sa.Column("state", _TEXT(length=20), nullable=False),
        *(_column(f"{step}_by", sa.Uuid) for step in ("first", "approved", "paid", "returned")),
        *(_column(f"{step}_at", _INSTANT) for step in ("first", "approved", "paid")),
        sa.Column("payee", _TEXT(length=200), nullable=True),
        *(sa.Column(name, _TEXT(length=60), nullable=True) for name in ("reference", "reference_key")),
        *(_column(name, sa.Date) for name in ("value_on", "returned_on")),
        _column("note", _TEXT),
        *(sa.CheckConstraint(text, name=op.f(f"ck_credit_note_{name}")) for name, text in _CHECKS.items()),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_credit_note_{column}"))
            for column, table in _links().items()
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_credit_note")),
        sa.UniqueConstraint("refund_id", name=op.f("uq_credit_note_refund_id")),
        sa.UniqueConstraint("provider_id", "is_live", "number", name=op.f("uq_credit_note_provider_id_is_live_number")),
        sa.UniqueConstraint("is_live", "reference_key", name=op.f("uq_credit_note_is_live_reference_key")),
    )
    for columns in (("is_live", "created_at", "id"), ("is_live", "state", "created_at")):
        op.create_index(op.f(f"ix_credit_note_{'_'.join(columns)}"), "credit_note", list(columns))
    op.execute(_FILL)
    _count()
    for name, (columns, only) in _DECIDED.items():
        _keep(name, f"UPDATE OF {columns}", only)
    _keep("delete", "DELETE")


def downgrade() -> None:
    op.drop_table("credit_note")
    op.execute("DELETE FROM number_counter WHERE series LIKE 'credit note %'")


def _links() -> dict[str, str]:
    people = dict.fromkeys(("first_by", "approved_by", "paid_by", "returned_by"), "staff")
    return {"distributor_id": "distributor", "refund_id": "refund", "provider_id": "provider", **people}


def _column(name: str, type_: Any, *, is_needed: bool = False) -> sa.Column:
    return sa.Column(name, type_(), nullable=not is_needed)


def _count() -> None:
    """New notes go on where the old ones end."""
    bind = op.get_bind()
    note = sa.table(
        "credit_note", sa.column("provider_id", sa.Uuid), sa.column("is_live", sa.Boolean), sa.column("number")
    )
    counter = sa.table("number_counter", sa.column("series"), sa.column("last"))
    last = sa.select(note.c.provider_id, note.c.is_live, sa.func.max(note.c.number)).group_by(
        note.c.provider_id, note.c.is_live
    )
    for provider_id, is_live, number in bind.execute(last).all():
        series = f"credit note {provider_id} {'live' if is_live else 'test'}"
        bind.execute(sa.insert(counter).values(series=series, last=number))


def _keep(name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER credit_note_{name} BEFORE {event} ON credit_note FOR EACH ROW{when}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'credit_note keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
