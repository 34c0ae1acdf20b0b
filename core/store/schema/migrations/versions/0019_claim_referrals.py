"""Decisions that officers prepare for a supervisor; payments of claims that came back."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "claim_referral",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("to_status", _TEXT(length=30), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=True),
        sa.Column("note", _TEXT(), nullable=False),
        sa.Column("staff_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("closed_at", _INSTANT(), nullable=True),
        sa.Column("closed_by", sa.Uuid(), nullable=True),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_referral_{column}"))
            for column, table in (
                *(("claim_id", "claim"), ("distributor_id", "distributor")),
                *(("closed_by", "staff"), ("staff_id", "staff")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_referral")),
    )
    op.create_index(op.f("ix_claim_referral_claim_id"), "claim_referral", ["claim_id"])
    op.create_index(op.f("ix_claim_referral_closed_at_claim_id"), "claim_referral", ["closed_at", "claim_id"])
    with op.batch_alter_table("claim_payment") as batch:
        batch.add_column(sa.Column("reverses", sa.Uuid(), nullable=True))
        batch.drop_constraint(op.f("ck_claim_payment_amount"), type_="check")
        batch.create_check_constraint(
            op.f("ck_claim_payment_amount"), "(reverses IS NULL) = (amount_minor > 0) AND amount_minor <> 0"
        )
        batch.create_unique_constraint(op.f("uq_claim_payment_reverses"), ["reverses"])
        batch.create_index(op.f("ix_claim_payment_reference_key"), ["reference_key"])
    _keep_payments()


def downgrade() -> None:
    op.drop_table("claim_referral")
    _let_payments_go()
    # A payment that came back and its reversal come to nothing together.
    op.execute(
        "DELETE FROM claim_payment WHERE reverses IS NOT NULL"
        " OR id IN (SELECT reverses FROM claim_payment WHERE reverses IS NOT NULL)"
    )
    with op.batch_alter_table("claim_payment") as batch:
        batch.drop_index(op.f("ix_claim_payment_reference_key"))
        batch.drop_constraint(op.f("uq_claim_payment_reverses"), type_="unique")
        batch.drop_constraint(op.f("ck_claim_payment_amount"), type_="check")
        batch.create_check_constraint(op.f("ck_claim_payment_amount"), "amount_minor > 0")
        batch.drop_column("reverses")
    _keep_payments()


def _keep_payments() -> None:
    """SQLite makes the table anew, without its triggers: rows are never changed nor removed."""
    _let_payments_go()
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for event in ("UPDATE", "DELETE"):
        head = f"CREATE TRIGGER claim_payment_{event.lower()} BEFORE {event} ON claim_payment"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'claim_payment keeps what it holds'); END")
        else:
            op.execute(f"{head} FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds()")


def _let_payments_go() -> None:
    on_table = "" if op.get_bind().dialect.name == "sqlite" else " ON claim_payment"
    for event in ("update", "delete"):
        op.execute(f"DROP TRIGGER IF EXISTS claim_payment_{event}{on_table}")
