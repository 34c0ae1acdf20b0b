"""Append-only tables keep their figures for ever, and let an erasure take a person out of their texts."""

from datetime import UTC, date, datetime
from uuid import UUID

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

# The texts of each table, and the trigger that has refused every update of it so far.
TEXTS = {
    "audit_entry": ("before", "after"),
    "claim_event": ("note",),
    "claim_override": ("detail", "reason"),
    "claim_payment": ("reference", "reference_key"),
    "claim_reserve": ("reason",),
    "refund": ("reason",),
    "adjustment": ("reason",),
    "export_receipt": ("filters",),
    "bordereau_line": ("cells",),
}
_CLOSED = "NOT EXISTS (SELECT 1 FROM erasure_window)"
_FIXED = (
    "id, number, record_class, request_id, customers, before_at, reason, is_early, is_restored, prepared_by,"
    " prepared_at",
    "state, decided_by, decided_at, refusal, outcome, sha256",
)
_NDPA, _HOUSE = "Nigeria Data Protection Act 2023", "House rule"
# Name, amount, source; months, days, working days or hours as the name says, and 331 is 31 March.
FIGURES = (
    ("acknowledge_working_days", 2, _HOUSE),
    ("answer_days", 30, f"{_HOUSE}; {_NDPA}, Part VI"),
    ("extension_days", 30, f"{_HOUSE}, once and with a reason"),
    ("person_months", 60, "Money Laundering (Prevention and Prohibition) Act 2022: five years after the relationship"),
    ("lead_months", 6, f"{_HOUSE}; {_NDPA}, section 24 (storage limitation)"),
    ("session_days", 90, _HOUSE),
    ("delivery_log_days", 90, _HOUSE),
    ("breach_hours", 72, f"{_NDPA}, section 40"),
    ("data_protection_month_day", 331, "General Application and Implementation Directive 2025"),
    ("brokerage_days", 30, f"{_HOUSE}: days after the end of the quarter"),
    ("client_account_days", 30, f"{_HOUSE}: days after the end of the quarter"),
    ("bordereaux_days", 10, f"{_HOUSE}: days after the end of the month"),
    ("premium_notice_hours", 48, f"{_HOUSE}: hours from the sale to the insurer's notice"),
    ("premium_placed_days", 14, f"{_HOUSE}: days from the sale to the policy"),
    ("complaint_days", 14, _HOUSE),
)


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if not is_sqlite:
        op.execute(
            "CREATE FUNCTION keeps_unless_erasing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF {_CLOSED} THEN RAISE EXCEPTION '% keeps what it holds', TG_TABLE_NAME; END IF; RETURN NEW; END $$"
        )
    for table, texts in TEXTS.items():
        _drop(table, "update")
        _keep(table, "update", f"UPDATE OF {_others(table, texts)}")
        _keep_texts(table, "texts", texts)
    _drop("adjustment_proposal", "figures")
    _drop("adjustment_proposal", "decision")
    _keep("adjustment_proposal", "figures", f"UPDATE OF {_others('adjustment_proposal', _PROPOSAL)}")
    _keep("adjustment_proposal", "decision", "UPDATE OF state, decided_by, decided_at", "OLD.state <> 'open'")
    _keep_texts("adjustment_proposal", "texts", ("reason",))
    _keep_texts("adjustment_proposal", "refusal", ("refusal",), "OLD.state <> 'open'")
    _drop("statement_line", "printed")
    _keep("statement_line", "printed", f"UPDATE OF {_others('statement_line', ('customer', 'released_by'))}")
    _keep_texts("statement_line", "texts", ("customer",))
    _keep("erasure", "figures", f"UPDATE OF {_FIXED[0]}")
    _keep("erasure", "decision", f"UPDATE OF {_FIXED[1]}", "OLD.state <> 'open'")
    _keep("compliance_figure", "update", "UPDATE")
    for table in ("erasure", "compliance_figure", "redaction", "legal_hold"):
        _keep(table, "delete", "DELETE")
    _seed()


def downgrade() -> None:
    for table in TEXTS:
        _drop(table, "update")
        _drop(table, "texts")
        _keep(table, "update", "UPDATE")
    for name in ("figures", "decision", "texts", "refusal"):
        _drop("adjustment_proposal", name)
    _keep("adjustment_proposal", "figures", f"UPDATE OF {_others('adjustment_proposal', _PROPOSAL)}, reason")
    _keep("adjustment_proposal", "decision", "UPDATE", "OLD.state <> 'open'")
    _drop("statement_line", "printed")
    _drop("statement_line", "texts")
    _keep("statement_line", "printed", f"UPDATE OF {_others('statement_line', ('released_by',))}")
    for table, names in (
        ("erasure", ("figures", "decision", "delete")),
        ("compliance_figure", ("update", "delete")),
        ("redaction", ("delete",)),
        ("legal_hold", ("delete",)),
    ):
        for name in names:
            _drop(table, name)
    op.execute("DELETE FROM compliance_figure")
    if op.get_bind().dialect.name != "sqlite":
        op.execute("DROP FUNCTION keeps_unless_erasing()")


# What a decision writes, and the reason that only an erasure takes out.
_PROPOSAL = ("state", "decided_by", "decided_at", "refusal", "reason")


def _others(table: str, left_out: tuple[str, ...]) -> str:
    columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)]
    return ", ".join(name for name in columns if name not in left_out)


def _keep(table: str, name: str, event: str, only: str = "") -> None:
    when = f" WHEN ({only})" if only else ""
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def _keep_texts(table: str, name: str, columns: tuple[str, ...], only: str = "") -> None:
    """Refuse to change texts outside an erasure; PostgreSQL asks for the window in the function."""
    event = "UPDATE OF " + ", ".join(f'"{column}"' for column in columns)
    if op.get_bind().dialect.name == "sqlite":
        _keep(table, name, event, f"{only} AND {_CLOSED}" if only else _CLOSED)
        return
    when = f" WHEN ({only})" if only else ""
    op.execute(
        f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{when}"
        " EXECUTE FUNCTION keeps_unless_erasing()"
    )


def _drop(table: str, name: str) -> None:
    on_table = "" if op.get_bind().dialect.name == "sqlite" else f" ON {table}"
    op.execute(f"DROP TRIGGER IF EXISTS {table}_{name}{on_table}")


def _seed() -> None:
    figures = sa.table(
        "compliance_figure",
        sa.column("id", sa.Uuid()),
        sa.column("name"),
        sa.column("effective_on", sa.Date()),
        sa.column("amount"),
        sa.column("source"),
        sa.column("created_at", sqlmodel.sql.sqltypes.UTCDateTime()),
    )
    first = datetime(2023, 6, 12, tzinfo=UTC)
    op.bulk_insert(
        figures,
        [
            {
                "id": UUID(int=(0x0190_0000_0000_7000_8000 << 48) + 0x0F00 + place),
                "name": name,
                "effective_on": date(2023, 6, 12),
                "amount": amount,
                "source": source,
                "created_at": first,
            }
            for place, (name, amount, source) in enumerate(FIGURES)
        ],
    )
