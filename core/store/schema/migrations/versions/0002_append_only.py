"""Books that only grow, amounts that never change, and the ends of the audit chains."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

GROWING = ("audit_entry", "claim_event", "refund", "export_receipt")
FIXED = {
    "product_version": (
        "id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp, cover_months,"
        " meta, created_at"
    ),
    "purchase": "total_minor, mca_profit_minor, distributor_profit_minor, distributor_id, is_live, created_at",
    "renewal": "total_minor, mca_profit_minor, distributor_profit_minor, distributor_id, is_live, created_at",
}
CHAINS = 16
# Rates that have been in force stay: only what is still to come can be withdrawn, once.
WITHDRAWAL = (
    "CREATE TRIGGER product_version_withdrawal BEFORE UPDATE OF withdrawn_at ON product_version FOR EACH ROW"
    " WHEN (OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL OR NEW.withdrawn_at >= OLD.effective_at)"
)


def _triggers() -> list[tuple[str, str, str]]:
    rows = [(f"{t}_{e.lower()}", t, e) for t in GROWING for e in ("UPDATE", "DELETE")]
    rows += [(f"{t}_amounts", t, f"UPDATE OF {columns}") for t, columns in FIXED.items()]
    return rows + [(f"{t}_delete", t, "DELETE") for t in FIXED]


def upgrade() -> None:
    heads = sa.table("audit_head", sa.column("chain"), sa.column("position"), sa.column("hash"))
    op.bulk_insert(heads, [{"chain": c, "position": 0, "hash": ""} for c in range(CHAINS)])
    if op.get_bind().dialect.name == "sqlite":
        for name, table, event in _triggers():
            refusal = f"SELECT RAISE(ABORT, '{table} keeps what it holds')"
            op.execute(f"CREATE TRIGGER {name} BEFORE {event} ON {table} BEGIN {refusal}; END")
        op.execute(f"{WITHDRAWAL} BEGIN SELECT RAISE(ABORT, 'product_version keeps what it holds'); END")
        return
    op.execute(
        "CREATE FUNCTION keeps_what_it_holds() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION '% keeps what it holds', TG_TABLE_NAME; END $$"
    )
    for name, table, event in _triggers():
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds()"
        )
    op.execute(f"{WITHDRAWAL} EXECUTE FUNCTION keeps_what_it_holds()")
    for table in (*GROWING, *FIXED):
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )


def downgrade() -> None:
    for name, table, _ in [*_triggers(), ("product_version_withdrawal", "product_version", "")]:
        op.execute(f"DROP TRIGGER {name}" + ("" if op.get_bind().dialect.name == "sqlite" else f" ON {table}"))
    if op.get_bind().dialect.name != "sqlite":
        for table in (*GROWING, *FIXED):
            op.execute(f"DROP TRIGGER {table}_truncate ON {table}")
        op.execute("DROP FUNCTION keeps_what_it_holds()")
    op.execute("DELETE FROM audit_head")
