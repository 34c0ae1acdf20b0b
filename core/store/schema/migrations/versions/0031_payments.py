"""Payments to and from parties, payout batches, and what each settles."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_PARTY = (
    "(account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL)"
    " OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)"
)
_PARTS = ("gross_minor", "vat_minor", "withheld_minor", "net_minor")
_FIXED = (
    *("id", "account", "distributor_id", "provider_id", "direction", "statement_id", "batch_id", "bank_account_id"),
    *(*_PARTS, "prepared_by", "prepared_at"),
)
_APPROVED = "(approved_by IS NULL) = (approved_at IS NULL)"
_CHECKS = {
    "one_party": _PARTY,
    "account": "account IN ('distributor', 'provider')",
    "direction": "direction IN ('out', 'in')",
    "state": "state IN ('Prepared', 'Approved', 'Confirmed', 'Returned', 'Withdrawn')",
    "two_people": "approved_by <> prepared_by",
    "approved": _APPROVED,
    "parts": "net_minor = gross_minor + vat_minor - withheld_minor",
    "sign": "net_minor <> 0 AND (direction = 'out') = (net_minor > 0)",
    "payee": "direction = 'in' OR bank_account_id IS NOT NULL",
    "in_two_hands": "state NOT IN ('Approved', 'Confirmed') OR approved_by IS NOT NULL",
    "confirmed": (
        "state <> 'Confirmed' OR (confirmed_by IS NOT NULL AND bank_reference IS NOT NULL AND value_on IS NOT NULL)"
    ),
    "returned": "(state = 'Returned') = (returned_on IS NOT NULL)",
}


def upgrade() -> None:
    _make_batches()
    _make_payments()
    _make_settlements()
    ended = " WHEN (OLD.state IN ('Returned', 'Withdrawn'))"
    figures = ("figures", f"UPDATE OF {', '.join(_FIXED)}", "")
    _keep("payment", (figures, ("ended", "UPDATE OF state", ended), ("delete", "DELETE", "")))
    batch = ("id", "number", "payments", "net_minor", "prepared_by", "prepared_at")
    decided = ("decided", "UPDATE", " WHEN (OLD.state <> 'Prepared')")
    _keep("payout_batch", (("figures", f"UPDATE OF {', '.join(batch)}", ""), decided, ("delete", "DELETE", "")))
    _keep("payment_settlement", (("update", "UPDATE", ""), ("delete", "DELETE", "")))
    printed = ("statement_id", "position", "payment_id", "entry", "amount_minor", "value_on", "reference")
    released = ("released", "UPDATE OF released_by", " WHEN (OLD.released_by IS NOT NULL)")
    _keep(
        "statement_payment",
        (("printed", f"UPDATE OF {', '.join(printed)}", ""), released, ("delete", "DELETE", "")),
    )


def downgrade() -> None:
    for table in ("statement_payment", "payment_settlement", "payment", "payout_batch"):
        op.drop_table(table)


def _column(name: str, type_: object, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, type_, nullable=nullable)


def _made(*more: str) -> list[sa.Column]:
    """Columns for who prepared and approved a row, and who did each later step, with the times."""
    return [
        _column("prepared_by", sa.Uuid()),
        _column("prepared_at", _INSTANT()),
        *(_column(name, _INSTANT() if name.endswith("_at") else sa.Uuid(), nullable=True) for name in more),
    ]


def _links(table: str, **links: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))
        for column, to in links.items()
    ]


def _make_batches() -> None:
    op.create_table(
        "payout_batch",
        _column("id", sa.Uuid()),
        _column("number", sa.Integer()),
        _column("state", _TEXT(length=9)),
        _column("payments", sa.Integer()),
        _column("net_minor", sa.BigInteger()),
        _column("sha256", _TEXT(length=64), nullable=True),
        *_made("approved_by", "approved_at"),
        _column("note", _TEXT(), nullable=True),
        sa.CheckConstraint("state IN ('Prepared', 'Approved', 'Withdrawn')", name=op.f("ck_payout_batch_state")),
        sa.CheckConstraint("approved_by <> prepared_by", name=op.f("ck_payout_batch_two_people")),
        sa.CheckConstraint(_APPROVED, name=op.f("ck_payout_batch_approved")),
        sa.CheckConstraint(
            "state <> 'Approved' OR (approved_by IS NOT NULL AND sha256 IS NOT NULL)", name=op.f("ck_payout_batch_file")
        ),
        *_links("payout_batch", prepared_by="staff", approved_by="staff"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payout_batch")),
        sa.UniqueConstraint("number", name=op.f("uq_payout_batch_number")),
    )


def _make_payments() -> None:
    people = ("prepared_by", "approved_by", "confirmed_by", "returned_by")
    op.create_table(
        "payment",
        _column("id", sa.Uuid()),
        _column("account", _TEXT(length=11)),
        _column("distributor_id", sa.Uuid(), nullable=True),
        _column("provider_id", sa.Uuid(), nullable=True),
        _column("direction", _TEXT(length=3)),
        _column("statement_id", sa.Uuid()),
        _column("batch_id", sa.Uuid(), nullable=True),
        _column("bank_account_id", sa.Uuid(), nullable=True),
        *(_column(name, sa.BigInteger()) for name in _PARTS),
        _column("state", _TEXT(length=9)),
        _column("bank_reference", _TEXT(length=60), nullable=True),
        _column("reference_key", _TEXT(length=60), nullable=True),
        _column("value_on", sa.Date(), nullable=True),
        *_made("approved_by", "approved_at", "confirmed_by", "confirmed_at", "returned_by"),
        _column("returned_on", sa.Date(), nullable=True),
        _column("note", _TEXT(), nullable=True),
        *(sa.CheckConstraint(rule, name=op.f(f"ck_payment_{name}")) for name, rule in _CHECKS.items()),
        *_links(
            "payment",
            distributor_id="distributor",
            provider_id="provider",
            statement_id="statement",
            batch_id="payout_batch",
            bank_account_id="bank_account",
            **dict.fromkeys(people, "staff"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payment")),
    )
    for party in ("distributor", "provider"):
        for what, columns, where in (
            ("open", [], "state IN ('Prepared', 'Approved')"),
            ("reference", ["direction", "reference_key"], "reference_key IS NOT NULL AND state <> 'Withdrawn'"),
        ):
            which = sa.text(f"{party}_id IS NOT NULL AND {where}")
            op.create_index(
                f"ix_payment_{what}_of_{party}",
                "payment",
                [f"{party}_id", *columns],
                unique=True,
                sqlite_where=which,
                postgresql_where=which,
            )
    op.create_index(op.f("ix_payment_batch_id"), "payment", ["batch_id"])
    op.create_index(op.f("ix_payment_prepared_at"), "payment", ["prepared_at"])


def _make_settlements() -> None:
    op.create_table(
        "payment_settlement",
        _column("payment_id", sa.Uuid()),
        _column("statement_id", sa.Uuid()),
        *(_column(name, sa.BigInteger()) for name in ("net_minor", "vat_minor", "withheld_minor")),
        *_links("payment_settlement", payment_id="payment", statement_id="statement"),
        sa.PrimaryKeyConstraint("payment_id", "statement_id", name=op.f("pk_payment_settlement")),
    )
    op.create_index(op.f("ix_payment_settlement_statement_id"), "payment_settlement", ["statement_id"])
    op.create_table(
        "statement_payment",
        _column("statement_id", sa.Uuid()),
        _column("position", sa.Integer()),
        _column("payment_id", sa.Uuid()),
        _column("entry", _TEXT(length=8)),
        _column("amount_minor", sa.BigInteger()),
        _column("value_on", sa.Date()),
        _column("reference", _TEXT(length=60)),
        _column("released_by", sa.Uuid(), nullable=True),
        sa.CheckConstraint("entry IN ('paid', 'returned')", name=op.f("ck_statement_payment_entry")),
        sa.ForeignKeyConstraint(
            ["statement_id"],
            ["statement.id"],
            name=op.f("fk_statement_payment_statement_id"),
            deferrable=True,
            initially="DEFERRED",
        ),
        *_links("statement_payment", payment_id="payment", released_by="statement"),
        sa.PrimaryKeyConstraint("statement_id", "position", name=op.f("pk_statement_payment")),
    )
    held = sa.text("released_by IS NULL")
    op.create_index(
        *("ix_statement_payment_of_payment", "statement_payment", ["payment_id", "entry"]),
        unique=True,
        sqlite_where=held,
        postgresql_where=held,
    )


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
