"""Endorsements: changes of sold policies, each added once, and the notes that insurers were told of them."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0055"
down_revision = "0053"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
_CLOSED = "NOT EXISTS (SELECT 1 FROM erasure_window)"
# What only an erasure takes out.
_TEXTS = {"policy_endorsement": ("changes", "reason", "requested_by"), "endorsement_notice": ("note",)}


def upgrade() -> None:
    op.create_table(
        "policy_endorsement",
        *_owned(),
        *(sa.Column(name, sa.Uuid(), nullable=False) for name in ("id", "policy_id", "made_by")),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("effective_on", sa.Date(), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.Column("reason", _TEXT(length=500), nullable=False),
        sa.Column("requested_by", _TEXT(length=200), nullable=False),
        sa.Column("premium_minor", sa.BigInteger(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("number > 0", name=op.f("ck_policy_endorsement_number")),
        sa.CheckConstraint("premium_minor = 0", name=op.f("ck_policy_endorsement_premium")),
        *_links("policy_endorsement", distributor_id="distributor", policy_id="policy", made_by="staff"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_policy_endorsement")),
        sa.UniqueConstraint("policy_id", "number", name=op.f("uq_policy_endorsement_policy_id_number")),
    )
    op.create_index(op.f("ix_policy_endorsement_is_live_created_at"), "policy_endorsement", ["is_live", "created_at"])
    op.create_table(
        "endorsement_notice",
        *_owned(),
        *(sa.Column(name, sa.Uuid(), nullable=False) for name in ("endorsement_id", "policy_id", "told_by")),
        sa.Column("note", _TEXT(length=200), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        *_links(
            "endorsement_notice",
            distributor_id="distributor",
            endorsement_id="policy_endorsement",
            policy_id="policy",
            told_by="staff",
        ),
        sa.PrimaryKeyConstraint("endorsement_id", name=op.f("pk_endorsement_notice")),
    )
    op.create_index(op.f("ix_endorsement_notice_policy_id"), "endorsement_notice", ["policy_id"])
    for table, texts in _TEXTS.items():
        columns = [column["name"] for column in sa.inspect(op.get_bind()).get_columns(table)]
        _keep(table, "update", f"UPDATE OF {', '.join(name for name in columns if name not in texts)}")
        _keep(table, "delete", "DELETE")
        _keep(table, "texts", f"UPDATE OF {', '.join(texts)}", unless_erasing=True)


def downgrade() -> None:
    op.drop_table("endorsement_notice")
    op.drop_table("policy_endorsement")


def _owned() -> tuple[sa.Column, sa.Column]:
    return (
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
    )


def _links(table: str, **to: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([name], [f"{other}.id"], name=op.f(f"fk_{table}_{name}")) for name, other in to.items()
    ]


def _keep(table: str, name: str, event: str, *, unless_erasing: bool = False) -> None:
    head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW"
    if op.get_bind().dialect.name == "sqlite":
        when = f" WHEN ({_CLOSED})" if unless_erasing else ""
        op.execute(f"{head}{when} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_{'unless_erasing' if unless_erasing else 'what_it_holds'}()")
