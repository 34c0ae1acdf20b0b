"""Reconciliations with the files of insurers and banks, their differences, and the mapping of each party's columns."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_KINDS = "kind IN ('insurer', 'bank')"
_RESULTS = "result IN ('amount differs', 'rate differs', 'only ours', 'only theirs', 'timing', 'not checked')"
_STATES = "state IN ('Open', 'Explained', 'Write-off asked', 'Adjusted', 'Written off')"


def upgrade() -> None:
    op.create_table(
        "file_mapping",
        _column("key", _TEXT(length=60)),
        _column("kind", _TEXT(length=7)),
        _column("provider_id", sa.Uuid(), nullable=True),
        *_terms(),
        _column("changed_by", sa.Uuid()),
        _column("changed_at", _INSTANT()),
        sa.CheckConstraint(_KINDS, name=op.f("ck_file_mapping_kind")),
        *_links("file_mapping", provider_id="provider", changed_by="staff"),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_file_mapping")),
    )
    _make_reconciliations()
    _make_differences()
    _keep("reconciliation", (("update", "UPDATE", ""), ("delete", "DELETE", "")))
    figures = ("id", "reconciliation_id", "result", "policy_number", "kind", "ours_minor", "theirs_minor")
    more = ("difference_minor", "detail", "rows", "subjects")
    ended = " WHEN (OLD.state IN ('Adjusted', 'Written off'))"
    _keep(
        "difference",
        (
            ("figures", f"UPDATE OF {', '.join((*figures, *more))}", ""),
            ("ended", "UPDATE OF state", ended),
            ("delete", "DELETE", ""),
        ),
    )


def downgrade() -> None:
    for table in ("difference", "reconciliation", "file_mapping"):
        op.drop_table(table)


def _column(name: str, type_: object, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, type_, nullable=nullable)


def _terms() -> list[sa.Column]:
    """Columns for the meaning of a file's columns and for the tolerance."""
    return [
        _column("columns", sa.JSON()),
        _column("amount_is", _TEXT(length=5)),
        _column("tolerance_minor", sa.BigInteger()),
        _column("timing_days", sa.Integer()),
    ]


def _links(table: str, **links: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))
        for column, to in links.items()
    ]


def _make_reconciliations() -> None:
    op.create_table(
        "reconciliation",
        _column("id", sa.Uuid()),
        _column("kind", _TEXT(length=7)),
        _column("provider_id", sa.Uuid(), nullable=True),
        _column("month", sa.Date()),
        _column("file_name", _TEXT(length=200)),
        _column("sha256", _TEXT(length=64)),
        *_terms(),
        *(_column(name, sa.Integer()) for name in ("ours_rows", "theirs_rows", "matched_rows")),
        *(_column(name, sa.BigInteger()) for name in ("ours_minor", "theirs_minor", "tolerated_minor")),
        _column("made_by", sa.Uuid()),
        _column("made_at", _INSTANT()),
        sa.CheckConstraint(_KINDS, name=op.f("ck_reconciliation_kind")),
        sa.CheckConstraint("(kind = 'insurer') = (provider_id IS NOT NULL)", name=op.f("ck_reconciliation_party")),
        *_links("reconciliation", provider_id="provider", made_by="staff"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reconciliation")),
        sa.UniqueConstraint(
            *("sha256", "month", "kind", "provider_id"), name=op.f("uq_reconciliation_sha256_month_kind_provider_id")
        ),
    )
    op.create_index(op.f("ix_reconciliation_month"), "reconciliation", ["month"])


def _make_differences() -> None:
    op.create_table(
        "difference",
        _column("id", sa.Uuid()),
        _column("reconciliation_id", sa.Uuid()),
        _column("result", _TEXT(length=14)),
        _column("policy_number", _TEXT(length=120)),
        _column("kind", _TEXT(length=20)),
        *(_column(name, sa.BigInteger()) for name in ("ours_minor", "theirs_minor", "difference_minor")),
        _column("detail", _TEXT()),
        *(_column(name, sa.JSON()) for name in ("rows", "subjects")),
        _column("state", _TEXT(length=15)),
        _column("owner_id", sa.Uuid(), nullable=True),
        _column("cause", _TEXT(length=40), nullable=True),
        _column("note", _TEXT(), nullable=True),
        *(_column(name, sa.Uuid(), nullable=True) for name in ("adjustment_id", "asked_by", "decided_by")),
        _column("changed_at", _INSTANT()),
        sa.CheckConstraint(_RESULTS, name=op.f("ck_difference_result")),
        sa.CheckConstraint(_STATES, name=op.f("ck_difference_state")),
        sa.CheckConstraint("difference_minor = ours_minor - theirs_minor", name=op.f("ck_difference_difference")),
        sa.CheckConstraint(
            "state <> 'Written off' OR (asked_by IS NOT NULL AND decided_by IS NOT NULL AND decided_by <> asked_by)",
            name=op.f("ck_difference_two_people"),
        ),
        sa.CheckConstraint("(state = 'Adjusted') = (adjustment_id IS NOT NULL)", name=op.f("ck_difference_adjusted")),
        *_links(
            "difference",
            reconciliation_id="reconciliation",
            owner_id="staff",
            adjustment_id="adjustment",
            asked_by="staff",
            decided_by="staff",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_difference")),
    )
    op.create_index(op.f("ix_difference_reconciliation_id_state"), "difference", ["reconciliation_id", "state"])


def _keep(table: str, events: tuple[tuple[str, str, str], ...]) -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, event, only in events:
        head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{only}"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
        else:
            op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
