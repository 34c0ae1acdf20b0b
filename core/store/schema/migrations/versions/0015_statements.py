"""Statements of account with their lines, frozen when they are prepared, and the dated rates of taxes."""

from datetime import date
from uuid import UUID

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_PARTY = (
    "(account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL)"
    " OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)"
)
_ACCOUNTS = "account IN ('distributor', 'provider')"
_FIGURES = (
    *("opening_minor", "premium_minor", "earned_minor", "clawback_minor", "adjusted_minor"),
    *("vat_minor", "withheld_minor", "paid_minor", "closing_minor"),
)
_BALANCE = (
    "closing_minor = opening_minor + earned_minor + clawback_minor + adjusted_minor + premium_minor"
    " + vat_minor - withheld_minor - paid_minor"
)
_FIXED = (
    *("id", "account", "distributor_id", "provider_id", "number", "month", *_FIGURES, "lines", "sha256", "facts"),
    *("reverses_id", "prepared_by", "prepared_at"),
)
_PRINTED = (
    *("statement_id", "position", "account", "movement_id", "kind", "occurred_at", "policy_number", "customer"),
    *("product_id", "other_id", "effective_at", "expires_at", "premium_minor", "rate_bp", "commission_minor"),
    *("vat_minor", "withheld_minor", "net_minor"),
)
# Ids of their own, so that every store has the same rows.
RATES = (
    (
        UUID("01900000-0000-7000-8000-0000000f0001"),
        "vat",
        date(2020, 2, 1),
        750,
        750,
        1,
        None,
        "Finance Act 2019, section 34: 7.5 %",
    ),
    (
        *(UUID("01900000-0000-7000-8000-0000000f0002"), "withholding", date(2025, 1, 1), 500, 1000, 2, 200_000_000),
        "Deduction of Tax at Source (Withholding) Regulations 2024: commission 5 %, non-residents 10 %, doubled without"
        " a tax number, a small company free up to 2,000,000 naira a month",
    ),
)


def upgrade() -> None:
    rates = op.create_table(
        "tax_rate",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", _TEXT(length=11), nullable=False),
        sa.Column("effective_on", sa.Date(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in ("resident_bp", "non_resident_bp")),
        sa.Column("without_tin_factor", sa.Integer(), nullable=False),
        sa.Column("small_limit_minor", sa.BigInteger(), nullable=True),
        sa.Column("source", _TEXT(), nullable=False),
        sa.CheckConstraint("kind IN ('withholding', 'vat')", name=op.f("ck_tax_rate_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tax_rate")),
        sa.UniqueConstraint("kind", "effective_on", name=op.f("uq_tax_rate_kind_effective_on")),
    )
    names = [column.name for column in rates.columns]
    op.bulk_insert(rates, [dict(zip(names, row, strict=True)) for row in RATES])
    _make_statements()
    _make_lines()
    never = (("update", "UPDATE", ""), ("delete", "DELETE", ""))
    _keep("tax_rate", never)
    _keep("statement", (("figures", f"UPDATE OF {', '.join(_FIXED)}", ""), ("delete", "DELETE", "")))
    released = ("released", "UPDATE OF released_by", " WHEN (OLD.released_by IS NOT NULL)")
    printed = ("printed", f"UPDATE OF {', '.join(_PRINTED)}", "")
    _keep("statement_line", (printed, released, ("delete", "DELETE", "")))


def downgrade() -> None:
    for table in ("statement_line", "statement", "tax_rate"):
        op.drop_table(table)


def _make_statements() -> None:
    people = ("prepared_by", "approved_by", "sent_by")
    links = {"distributor_id": "distributor", "provider_id": "provider", "reverses_id": "statement"}
    op.create_table(
        "statement",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account", _TEXT(length=11), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=True),
        sa.Column("provider_id", sa.Uuid(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("month", sa.Date(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _FIGURES),
        sa.Column("lines", sa.Integer(), nullable=False),
        sa.Column("sha256", _TEXT(length=64), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("reverses_id", sa.Uuid(), nullable=True),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", _INSTANT(), nullable=False),
        sa.Column("approved_by", sa.Uuid(), nullable=True),
        sa.Column("approved_at", _INSTANT(), nullable=True),
        sa.Column("sent_by", sa.Uuid(), nullable=True),
        sa.Column("sent_at", _INSTANT(), nullable=True),
        sa.Column("note", _TEXT(), nullable=True),
        sa.CheckConstraint(_PARTY, name=op.f("ck_statement_one_party")),
        sa.CheckConstraint(_ACCOUNTS, name=op.f("ck_statement_account")),
        sa.CheckConstraint(
            "state IN ('Prepared', 'Approved', 'Sent', 'Part paid', 'Paid', 'Disputed', 'Void')",
            name=op.f("ck_statement_state"),
        ),
        sa.CheckConstraint(_BALANCE, name=op.f("ck_statement_balance")),
        sa.CheckConstraint("approved_by <> prepared_by", name=op.f("ck_statement_two_people")),
        sa.CheckConstraint("(approved_by IS NULL) = (approved_at IS NULL)", name=op.f("ck_statement_approved")),
        sa.CheckConstraint(
            "state NOT IN ('Approved', 'Sent', 'Part paid', 'Paid') OR approved_by IS NOT NULL",
            name=op.f("ck_statement_in_two_hands"),
        ),
        *(
            sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_statement_{column}"))
            for column, to in {**links, **dict.fromkeys(people, "staff")}.items()
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_statement")),
    )
    for party in ("distributor", "provider"):
        for what, where in (("number", "number > 0"), ("month", "state <> 'Void' AND reverses_id IS NULL")):
            which = sa.text(f"{party}_id IS NOT NULL AND {where}")
            op.create_index(
                f"ix_statement_{what}_of_{party}",
                "statement",
                [f"{party}_id", what],
                unique=True,
                sqlite_where=which,
                postgresql_where=which,
            )
    valid = sa.text("reverses_id IS NOT NULL AND state <> 'Void'")
    op.create_index(
        *("ix_statement_reversal", "statement", ["reverses_id"]),
        unique=True,
        sqlite_where=valid,
        postgresql_where=valid,
    )
    op.create_index(op.f("ix_statement_month_account"), "statement", ["month", "account"])


def _make_lines() -> None:
    ids_ = ("movement_id", "product_id", "other_id")
    amounts = ("premium_minor", "commission_minor", "vat_minor", "withheld_minor", "net_minor")
    op.create_table(
        "statement_line",
        sa.Column("statement_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("account", _TEXT(length=11), nullable=False),
        *(sa.Column(name, sa.Uuid(), nullable=False) for name in ids_),
        sa.Column("kind", _TEXT(length=12), nullable=False),
        sa.Column("occurred_at", _INSTANT(), nullable=False),
        sa.Column("policy_number", _TEXT(length=60), nullable=True),
        sa.Column("customer", _TEXT(), nullable=False),
        sa.Column("effective_at", _INSTANT(), nullable=True),
        sa.Column("expires_at", _INSTANT(), nullable=True),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in amounts),
        sa.Column("rate_bp", sa.Integer(), nullable=False),
        sa.Column("released_by", sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint(
            ["statement_id"],
            ["statement.id"],
            name=op.f("fk_statement_line_statement_id"),
            deferrable=True,
            initially="DEFERRED",
        ),
        sa.ForeignKeyConstraint(["released_by"], ["statement.id"], name=op.f("fk_statement_line_released_by")),
        sa.ForeignKeyConstraint(["product_id"], ["product.id"], name=op.f("fk_statement_line_product_id")),
        sa.PrimaryKeyConstraint("statement_id", "position", name=op.f("pk_statement_line")),
        sqlite_with_rowid=False,
    )
    held = sa.text("released_by IS NULL")
    op.create_index(
        *("ix_statement_line_of_movement", "statement_line", ["movement_id", "account"]),
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
