"""Payees, comments and referrals of claims only grow: a text changes while erasing, and a referral is closed once."""

import sqlalchemy as sa
from alembic import op

revision = "0078"
down_revision = "0077"
branch_labels = None
depends_on = None

# The texts that an erasure takes out, and what else may change: a sealed number is sealed anew under another key.
_TEXTS = {
    "claim_payee": ("name", "bank_name", "hint", "reason"),
    "claim_comment": ("text",),
    "claim_referral": ("note",),
}
_FREE = {"claim_payee": ("sealed",), "claim_comment": (), "claim_referral": ("closed_at", "closed_by")}
_CLOSED = "NOT EXISTS (SELECT 1 FROM erasure_window)"


def upgrade() -> None:
    for table, texts in _TEXTS.items():
        columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)]
        kept = [name for name in columns if name not in (*texts, *_FREE[table])]
        _keep(table, "update", f"UPDATE OF {', '.join(kept)}")
        _keep(table, "delete", "DELETE")
        _keep_texts(table, texts)
        if not _is_sqlite():
            op.execute(
                f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
                " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
            )
    _keep("claim_referral", "closing", "UPDATE OF closed_at, closed_by", "OLD.closed_at IS NOT NULL")


def downgrade() -> None:
    names = [(table, name) for table in _TEXTS for name in ("update", "delete", "texts")]
    if not _is_sqlite():
        names += [(table, "truncate") for table in _TEXTS]
    for table, name in [*names, ("claim_referral", "closing")]:
        op.execute(f"DROP TRIGGER {table}_{name}" + ("" if _is_sqlite() else f" ON {table}"))


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
    if _is_sqlite():
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _keep_texts(table: str, columns: tuple[str, ...]) -> None:
    """Refuse to change texts outside an erasure; PostgreSQL asks for the window in the function."""
    event = "UPDATE OF " + ", ".join(f'"{column}"' for column in columns)
    if _is_sqlite():
        _keep(table, "texts", event, _CLOSED)
        return
    head = f"CREATE TRIGGER {table}_texts BEFORE {event} ON {table} FOR EACH ROW"
    op.execute(f"{head} EXECUTE FUNCTION keeps_unless_erasing()")
