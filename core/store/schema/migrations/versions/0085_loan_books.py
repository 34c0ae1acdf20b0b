"""Loan books: files of loans with their rows, and the premium that a distributor confirms by itself in a month."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0085"
down_revision = "0084"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_STATES = "'uploaded', 'reading', 'refused', 'validated', 'confirmed', 'selling', 'paused', 'done', 'cancelled'"
_OUTCOMES = "'valid', 'referred', 'rejected', 'covered', 'ended', 'insured', 'uninsured'"
_BOOK = {
    "id": sa.Uuid(),
    "kind": _TEXT(length=9),
    "product_id": sa.Uuid(),
    "month": sa.Date(),
    "date_order": _TEXT(length=10),
    "benefits": sa.JSON(),
    "free_cover_minor": sa.BigInteger(),
    "attested_by": _TEXT(length=100),
    "attested_on": sa.Date(),
    "attestation_url": _TEXT(length=2048),
    "file_name": _TEXT(length=200),
    "sha256": _TEXT(length=64),
    "size": sa.Integer(),
    "batch_id": sa.Uuid(),
    "uploaded_by": _TEXT(length=120),
    "uploader_id": sa.Uuid(),
    "created_at": _INSTANT(),
    "updated_at": _INSTANT(),
    "state": _TEXT(length=9),
    "version": sa.Integer(),
    "leased_until": _INSTANT(),
    "expires_at": _INSTANT(),
    "heading": sa.JSON(),
    "unknown": sa.JSON(),
    "refusal": _TEXT(length=1000),
    "rows": sa.Integer(),
    "preview": sa.JSON(),
    "preview_hash": _TEXT(length=64),
    "product_version_id": sa.Uuid(),
    "accept": _TEXT(length=14),
    "confirmed_by": _TEXT(length=120),
    "confirmer_id": sa.Uuid(),
    "confirmed_at": _INSTANT(),
    "done_to": sa.Integer(),
    "done_rows": sa.Integer(),
    "done_minor": sa.BigInteger(),
    "done_at": _INSTANT(),
}
_ROW = {
    "book_id": sa.Uuid(),
    "line": sa.Integer(),
    "cells": sa.JSON(),
    "outcome": _TEXT(length=9),
    "code": _TEXT(length=24),
    "also": sa.JSON(),
    "reason": _TEXT(length=500),
    "account": _TEXT(length=60),
    "risk_hash": _TEXT(length=64),
    "facts": sa.JSON(),
    "sealed": _TEXT(),
    "premium_minor": sa.BigInteger(),
    "policy_id": sa.Uuid(),
}
_EMPTY = {
    *("free_cover_minor", "uploader_id", "leased_until", "expires_at", "refusal", "preview_hash"),
    *("product_version_id", "accept", "confirmed_by", "confirmer_id", "confirmed_at", "done_at"),
    *("attested_by", "attested_on", "attestation_url"),
    *("code", "reason", "account", "risk_hash", "sealed", "premium_minor", "policy_id"),
}
# What is said of a book at its upload, and what stays of a row that has its policy.
_SAID = [*_BOOK][:16]
_KEPT = ("book_id", "line", "outcome", "code", "also", "risk_hash", "premium_minor", "policy_id")
_TEXTS = ("cells", "reason", "account", "facts", "sealed")
_HAS_POLICY = "OLD.outcome IN ('covered', 'ended')"


def upgrade() -> None:
    _create_books()
    _create_table("loan_book_file", {"book_id": sa.Uuid(), "content": sa.LargeBinary()}, {"book_id": "loan_book"})
    _create_rows()
    op.add_column("agreement", sa.Column("book_premium_minor", sa.BigInteger(), nullable=True))
    _keep("loan_book", "said", f"UPDATE OF {', '.join(_SAID)}, distributor_id, is_live")
    people = "UPDATE OF confirmed_by, confirmer_id, confirmed_at, accept"
    _keep("loan_book", "people", people, "OLD.confirmed_at IS NOT NULL")
    _keep("loan_book", "delete", "DELETE")
    _keep("loan_book_row", "kept", f"UPDATE OF {', '.join(_KEPT)}, distributor_id, is_live", _HAS_POLICY)
    _keep("loan_book_row", "delete", "DELETE", _HAS_POLICY)
    _keep_texts()


def downgrade() -> None:
    for table in ("loan_book_row", "loan_book_file", "loan_book"):
        op.drop_table(table)
    op.drop_column("agreement", "book_premium_minor")


def _create_books() -> None:
    _create_table(
        "loan_book",
        _BOOK,
        {
            "product_id": "product",
            "uploader_id": "staff",
            "confirmer_id": "staff",
            "product_version_id": "product_version",
        },
        {
            "kind": "kind IN ('additions', 'exits', 'snapshot')",
            "date_order": "date_order IN ('YYYY-MM-DD', 'DD/MM/YYYY')",
            "state": f"state IN ({_STATES}, 'expired')",
            "accept": "accept IN ('valid', 'all_or_nothing')",
            "confirmed": "(confirmed_at IS NULL) = (confirmed_by IS NULL)",
            "people": "uploader_id IS NULL OR confirmer_id IS NULL OR confirmer_id <> uploader_id",
        },
    )
    standing = sa.text("state NOT IN ('refused', 'cancelled', 'expired')")
    _create_index("ix_loan_book_of_file", "loan_book", ["distributor_id", "is_live", "sha256"], standing)
    op.create_index("ix_loan_book_is_live_created_at_id", "loan_book", ["is_live", "created_at", "id"])
    op.create_index("ix_loan_book_state_leased_until", "loan_book", ["state", "leased_until"])


def _create_rows() -> None:
    _create_table(
        "loan_book_row",
        _ROW,
        {"book_id": "loan_book", "policy_id": "policy"},
        {
            "outcome": f"outcome IN ({_OUTCOMES})",
            "policy": "(policy_id IS NOT NULL) OR outcome NOT IN ('covered', 'ended', 'insured')",
        },
        key=("book_id", "line"),
    )
    _create_index("ix_loan_book_row_of_policy", "loan_book_row", ["policy_id"], sa.text("outcome = 'covered'"))
    op.create_index("ix_loan_book_row_policy_id", "loan_book_row", ["policy_id"])
    op.create_index("ix_loan_book_row_book_id_outcome_line", "loan_book_row", ["book_id", "outcome", "line"])
    op.create_index("ix_loan_book_row_book_id_risk_hash", "loan_book_row", ["book_id", "risk_hash"])


def _create_table(
    table: str,
    columns: dict[str, object],
    refers: dict[str, str],
    checks: dict[str, str] | None = None,
    key: tuple[str, ...] = (),
) -> None:
    key = key or (next(iter(columns)),)
    op.create_table(
        table,
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        *(sa.Column(name, kind, nullable=name in _EMPTY) for name, kind in columns.items()),  # type: ignore[arg-type]
        *(sa.CheckConstraint(rule, name=op.f(f"ck_{table}_{name}")) for name, rule in (checks or {}).items()),
        *(
            sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))
            for column, to in {"distributor_id": "distributor", **refers}.items()
        ),
        sa.PrimaryKeyConstraint(*key, name=op.f(f"pk_{table}")),
    )


def _create_index(name: str, table: str, columns: list[str], where: sa.TextClause) -> None:
    op.create_index(name, table, columns, unique=True, sqlite_where=where, postgresql_where=where)


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
    if _is_sqlite():
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _keep_texts() -> None:
    """Refuse to change the texts of a row that has its policy outside an erasure."""
    event = f"UPDATE OF {', '.join(_TEXTS)}"
    if _is_sqlite():
        _keep("loan_book_row", "texts", event, f"{_HAS_POLICY} AND NOT EXISTS (SELECT 1 FROM erasure_window)")
        return
    head = f"CREATE TRIGGER loan_book_row_texts BEFORE {event} ON loan_book_row FOR EACH ROW WHEN ({_HAS_POLICY})"
    op.execute(f"{head} EXECUTE FUNCTION keeps_unless_erasing()")
