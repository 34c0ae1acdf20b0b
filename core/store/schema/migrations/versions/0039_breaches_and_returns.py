"""The registers of breaches, returns and complaints."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "breach",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", _TEXT(length=20), nullable=False),
        sa.Column("title", _TEXT(length=120), nullable=False),
        sa.Column("description", _TEXT(), nullable=False),
        sa.Column("actor", _TEXT(length=120), nullable=True),
        sa.Column("known_at", _INSTANT(), nullable=False),
        sa.Column("since_at", _INSTANT(), nullable=False),
        sa.Column("until_at", _INSTANT(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=True),
        sa.Column("risk", _TEXT(length=10), nullable=True),
        sa.Column("risk_reason", _TEXT(), nullable=True),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.Column("commission_at", _INSTANT(), nullable=True),
        sa.Column("commission_reference", _TEXT(length=60), nullable=True),
        sa.Column("people_at", _INSTANT(), nullable=True),
        sa.Column("closed_by", sa.Uuid(), nullable=True),
        sa.Column("closed_at", _INSTANT(), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint("risk IS NULL OR risk IN ('unlikely', 'likely', 'high')", name=op.f("ck_breach_risk")),
        sa.CheckConstraint("(risk IS NULL) = (risk_reason IS NULL)", name=op.f("ck_breach_decided")),
        sa.CheckConstraint("closed_by IS NULL OR closed_by <> decided_by", name=op.f("ck_breach_two_people")),
        sa.CheckConstraint("until_at >= since_at", name=op.f("ck_breach_span")),
        sa.ForeignKeyConstraint(["closed_by"], ["staff.id"], name=op.f("fk_breach_closed_by")),
        sa.ForeignKeyConstraint(["created_by"], ["staff.id"], name=op.f("fk_breach_created_by")),
        sa.ForeignKeyConstraint(["decided_by"], ["staff.id"], name=op.f("fk_breach_decided_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_breach")),
        sa.UniqueConstraint("number", name=op.f("uq_breach_number")),
    )
    op.create_index(op.f("ix_breach_known_at"), "breach", ["known_at"])
    op.create_table(
        "filing",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", _TEXT(length=20), nullable=False),
        sa.Column("period_ends_on", sa.Date(), nullable=False),
        sa.Column("due_on", sa.Date(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=False),
        sa.Column("prepared_at", _INSTANT(), nullable=False),
        sa.Column("checked_by", sa.Uuid(), nullable=True),
        sa.Column("checked_at", _INSTANT(), nullable=True),
        sa.Column("sent_by", sa.Uuid(), nullable=True),
        sa.Column("sent_at", _INSTANT(), nullable=True),
        sa.Column("reference", _TEXT(length=60), nullable=True),
        sa.CheckConstraint("(state = 'prepared') = (checked_by IS NULL)", name=op.f("ck_filing_checked")),
        sa.CheckConstraint("(state = 'sent') = (sent_at IS NOT NULL)", name=op.f("ck_filing_sent")),
        sa.CheckConstraint(
            "kind IN ('brokerage', 'client_account', 'bordereaux', 'data_protection')", name=op.f("ck_filing_kind")
        ),
        sa.CheckConstraint("state IN ('prepared', 'checked', 'sent')", name=op.f("ck_filing_state")),
        sa.CheckConstraint("checked_by <> prepared_by", name=op.f("ck_filing_two_people")),
        sa.ForeignKeyConstraint(["checked_by"], ["staff.id"], name=op.f("fk_filing_checked_by")),
        sa.ForeignKeyConstraint(["prepared_by"], ["staff.id"], name=op.f("fk_filing_prepared_by")),
        sa.ForeignKeyConstraint(["sent_by"], ["staff.id"], name=op.f("fk_filing_sent_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_filing")),
        sa.UniqueConstraint("kind", "period_ends_on", name=op.f("uq_filing_kind_period_ends_on")),
    )
    op.create_table(
        "complaint",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", _TEXT(length=20), nullable=False),
        sa.Column("category", _TEXT(length=10), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=True),
        sa.Column("policy_id", sa.Uuid(), nullable=True),
        sa.Column("customer_id", sa.Uuid(), nullable=True),
        sa.Column("name", _TEXT(), nullable=False),
        sa.Column("contact", _TEXT(length=254), nullable=True),
        sa.Column("text", _TEXT(), nullable=False),
        sa.Column("received_at", _INSTANT(), nullable=False),
        sa.Column("due_on", sa.Date(), nullable=False),
        sa.Column("outcome", _TEXT(), nullable=True),
        sa.Column("answered_by", sa.Uuid(), nullable=True),
        sa.Column("answered_at", _INSTANT(), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=False),
        sa.CheckConstraint(
            "category IN ('delay', 'amount', 'refusal', 'service', 'privacy', 'other')",
            name=op.f("ck_complaint_category"),
        ),
        sa.CheckConstraint("(answered_at IS NULL) = (outcome IS NULL)", name=op.f("ck_complaint_answered")),
        sa.ForeignKeyConstraint(["answered_by"], ["staff.id"], name=op.f("fk_complaint_answered_by")),
        sa.ForeignKeyConstraint(["created_by"], ["staff.id"], name=op.f("fk_complaint_created_by")),
        sa.ForeignKeyConstraint(["customer_id"], ["customer.id"], name=op.f("fk_complaint_customer_id")),
        sa.ForeignKeyConstraint(["policy_id"], ["policy.id"], name=op.f("fk_complaint_policy_id")),
        sa.ForeignKeyConstraint(["provider_id"], ["provider.id"], name=op.f("fk_complaint_provider_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_complaint")),
        sa.UniqueConstraint("number", name=op.f("uq_complaint_number")),
    )
    op.create_index(op.f("ix_complaint_answered_at_due_on"), "complaint", ["answered_at", "due_on"])
    op.create_index(op.f("ix_complaint_customer_id"), "complaint", ["customer_id"])
    op.create_index(op.f("ix_complaint_provider_id_received_at"), "complaint", ["provider_id", "received_at"])


def downgrade() -> None:
    op.drop_table("complaint")
    op.drop_table("filing")
    op.drop_table("breach")
