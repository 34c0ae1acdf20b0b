"""E-mail knows its record and its sender; texts that an admin changed; reminders of the end of a term, and opt-outs."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    # What was sent before stays without a record: nobody noted it.
    op.add_column("mail", sa.Column("about", _TEXT(length=80), nullable=True))
    op.add_column("mail", sa.Column("sent_by", _TEXT(length=120), nullable=True))
    op.create_index(op.f("ix_mail_about_created_at"), "mail", ["about", "created_at"])
    op.create_table(
        "mail_text",
        sa.Column("name", _TEXT(length=40), nullable=False),
        sa.Column("subject", _TEXT(length=150), nullable=False),
        sa.Column("body", _TEXT(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", _INSTANT(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_mail_text")),
    )
    op.create_table(
        "renewal_reminder",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("policy_id", sa.Uuid(), nullable=False),
        sa.Column("expiration_at", _INSTANT(), nullable=False),
        sa.Column("days_before", sa.Integer(), nullable=False),
        sa.Column("mail_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        *(
            sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"], name=op.f(f"fk_renewal_reminder_{table}_id"))
            for table in ("distributor", "policy")
        ),
        sa.UniqueConstraint(
            "policy_id",
            "expiration_at",
            "days_before",
            name=op.f("uq_renewal_reminder_policy_id_expiration_at_days_before"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_renewal_reminder")),
    )
    op.create_table(
        "reminder_opt_out",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("customer_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        *(
            sa.ForeignKeyConstraint([f"{table}_id"], [f"{table}.id"], name=op.f(f"fk_reminder_opt_out_{table}_id"))
            for table in ("distributor", "customer")
        ),
        sa.PrimaryKeyConstraint("customer_id", name=op.f("pk_reminder_opt_out")),
    )


def downgrade() -> None:
    op.drop_table("reminder_opt_out")
    op.drop_table("renewal_reminder")
    op.drop_table("mail_text")
    op.drop_index(op.f("ix_mail_about_created_at"), "mail")
    op.drop_column("mail", "sent_by")
    op.drop_column("mail", "about")
