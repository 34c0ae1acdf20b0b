"""Rates of taxes are proposed by one person and confirmed by another; those of before were added by a migration."""

from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0095"
down_revision = "0094"
branch_labels = None
depends_on = None

_TEXT, _INSTANT = sqlmodel.sql.sqltypes.AutoString, sqlmodel.sql.sqltypes.UTCDateTime
_FIGURES = (
    *("id", "kind", "effective_on", "resident_bp", "non_resident_bp", "without_tin_factor", "small_limit_minor"),
    "source",
)
_OPEN = sa.text("state = 'open'")


def upgrade() -> None:
    rows = [{**row, "state": "confirmed"} for row in _take(sa.text("SELECT * FROM tax_rate"))]
    op.drop_table("tax_rate")
    made = op.create_table(
        "tax_rate",
        *_build_columns(),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("proposed_by", sa.Uuid(), nullable=True),
        sa.Column("proposed_at", _INSTANT(), nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'confirmed', 'refused', 'withdrawn')", name=op.f("ck_tax_rate_state")),
        sa.CheckConstraint("state = 'confirmed' OR proposed_by IS NOT NULL", name=op.f("ck_tax_rate_proposed")),
        sa.CheckConstraint(
            "proposed_by IS NULL OR (state = 'open') = (decided_at IS NULL)", name=op.f("ck_tax_rate_decided")
        ),
        sa.CheckConstraint(
            "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by", name=op.f("ck_tax_rate_two_people")
        ),
        sa.ForeignKeyConstraint(["proposed_by"], ["staff.id"], name=op.f("fk_tax_rate_proposed_by")),
        sa.ForeignKeyConstraint(["decided_by"], ["staff.id"], name=op.f("fk_tax_rate_decided_by")),
    )
    op.create_index("ix_tax_rate_open", "tax_rate", ["kind"], unique=True, sqlite_where=_OPEN, postgresql_where=_OPEN)
    op.bulk_insert(made, rows)
    _keep(
        "figures", f"BEFORE UPDATE OF {', '.join((*_FIGURES, 'proposed_by', 'proposed_at'))} ON tax_rate FOR EACH ROW"
    )
    _keep("decision", "BEFORE UPDATE ON tax_rate FOR EACH ROW WHEN (OLD.state <> 'open')")
    _keep_rows()


def downgrade() -> None:
    confirmed = "SELECT * FROM tax_rate WHERE state = 'confirmed' ORDER BY proposed_at IS NOT NULL, decided_at"
    newest = {(row["kind"], row["effective_on"]): row for row in _take(sa.text(confirmed))}
    op.drop_table("tax_rate")
    made = op.create_table(
        "tax_rate",
        *_build_columns(),
        sa.UniqueConstraint("kind", "effective_on", name=op.f("uq_tax_rate_kind_effective_on")),
    )
    op.bulk_insert(made, list(newest.values()))
    _keep("update", "BEFORE UPDATE ON tax_rate FOR EACH ROW")
    _keep_rows()


def _take(query: sa.TextClause) -> list[dict[str, Any]]:
    typed = query.columns(id=sa.Uuid(), effective_on=sa.Date())
    return [{name: row[name] for name in _FIGURES} for row in op.get_bind().execute(typed).mappings()]


def _build_columns() -> list[Any]:
    return [
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", _TEXT(length=11), nullable=False),
        sa.Column("effective_on", sa.Date(), nullable=False),
        sa.Column("resident_bp", sa.Integer(), nullable=False),
        sa.Column("non_resident_bp", sa.Integer(), nullable=False),
        sa.Column("without_tin_factor", sa.Integer(), nullable=False),
        sa.Column("small_limit_minor", sa.BigInteger(), nullable=True),
        sa.Column("source", _TEXT(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tax_rate")),
        sa.CheckConstraint("kind IN ('withholding', 'vat')", name=op.f("ck_tax_rate_kind")),
    ]


def _keep_rows() -> None:
    _keep("delete", "BEFORE DELETE ON tax_rate FOR EACH ROW")
    if not _is_sqlite():
        _keep("truncate", "BEFORE TRUNCATE ON tax_rate FOR EACH STATEMENT")


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")


def _keep(name: str, when: str) -> None:
    refusal = "BEGIN SELECT RAISE(ABORT, 'tax_rate keeps what it holds'); END"
    action = refusal if _is_sqlite() else "EXECUTE FUNCTION keeps_what_it_holds()"
    op.execute(f"CREATE TRIGGER tax_rate_{name} {when} {action}")
