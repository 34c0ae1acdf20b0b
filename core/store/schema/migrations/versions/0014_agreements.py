"""Agreements with distributors and insurers, and bank accounts that two people change."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_PARTY = (
    "(account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL)"
    " OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)"
)
_FIGURES = "UPDATE OF id, account, distributor_id, provider_id, bank_name, account_name, hint, proposed_by, proposed_at"
_DECISION = "UPDATE OF state, decided_by, decided_at, usable_from"


def upgrade() -> None:
    op.create_table(
        "agreement",
        *_party(),
        sa.Column("number", _TEXT(length=60), nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=True),
        sa.Column("contact_email", _TEXT(length=254), nullable=True),
        sa.Column("licence_number", _TEXT(length=60), nullable=True),
        sa.Column("licence_expires_on", sa.Date(), nullable=True),
        sa.Column("tin", _TEXT(length=20), nullable=True),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("is_resident", "is_small", "charges_vat")),
        sa.Column("collects", _TEXT(length=11), nullable=False),
        sa.Column("class_of_business", _TEXT(length=60), nullable=True),
        sa.Column("remittance_days", sa.Integer(), nullable=False),
        sa.Column("bordereau_due_day", sa.Integer(), nullable=False),
        sa.Column("made_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("collects IN ('platform', 'distributor')", name=op.f("ck_agreement_collects")),
        sa.CheckConstraint("ends_on IS NULL OR ends_on >= starts_on", name=op.f("ck_agreement_term")),
        sa.CheckConstraint("remittance_days BETWEEN 1 AND 365", name=op.f("ck_agreement_remittance_days")),
        sa.CheckConstraint("bordereau_due_day BETWEEN 1 AND 28", name=op.f("ck_agreement_bordereau_due_day")),
        *_rules("agreement", made_by="staff"),
    )
    op.create_table(
        "bank_account",
        *_party(),
        sa.Column("bank_name", _TEXT(length=100), nullable=False),
        sa.Column("account_name", _TEXT(length=100), nullable=False),
        sa.Column("hint", _TEXT(length=4), nullable=False),
        sa.Column("sealed", _TEXT(), nullable=False),
        sa.Column("proposed_by", sa.Uuid(), nullable=False),
        sa.Column("proposed_at", _INSTANT(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.Column("usable_from", _INSTANT(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'confirmed', 'refused', 'withdrawn')", name=op.f("ck_bank_account_state")
        ),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name=op.f("ck_bank_account_decided")),
        sa.CheckConstraint("(state = 'confirmed') = (usable_from IS NOT NULL)", name=op.f("ck_bank_account_rests")),
        sa.CheckConstraint(
            "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by",
            name=op.f("ck_bank_account_two_people"),
        ),
        *_rules("bank_account", proposed_by="staff", decided_by="staff"),
    )
    for table, second in (("agreement", "starts_on"), ("bank_account", "state")):
        for party in ("distributor", "provider"):
            op.create_index(f"ix_{table}_of_{party}", table, [f"{party}_id", second])
    _keep("agreement", (("update", "UPDATE", ""), ("delete", "DELETE", "")))
    decided = " WHEN (OLD.state <> 'open')"
    _keep("bank_account", (("figures", _FIGURES, ""), ("decision", _DECISION, decided), ("delete", "DELETE", "")))


def downgrade() -> None:
    op.drop_table("bank_account")
    op.drop_table("agreement")


def _party() -> list[sa.Column]:
    return [
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account", _TEXT(length=11), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=True),
        sa.Column("provider_id", sa.Uuid(), nullable=True),
    ]


def _rules(table: str, **people: str) -> list[sa.Constraint]:
    links = {"distributor_id": "distributor", "provider_id": "provider", **people}
    return [
        sa.CheckConstraint(_PARTY, name=op.f(f"ck_{table}_one_party")),
        sa.CheckConstraint("account IN ('distributor', 'provider')", name=op.f(f"ck_{table}_account")),
        *(
            sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))
            for column, to in links.items()
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{table}")),
    ]


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
