"""Requests of people about their data, erasures, legal holds, and the dated figures behind them."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "compliance_figure",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", _TEXT(length=40), nullable=False),
        sa.Column("effective_on", sa.Date(), nullable=False),
        sa.Column("amount", sa.Integer(), nullable=False),
        sa.Column("source", _TEXT(), nullable=False),
        sa.Column("set_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.ForeignKeyConstraint(["set_by"], ["staff.id"], name=op.f("fk_compliance_figure_set_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_compliance_figure")),
        sa.UniqueConstraint("name", "effective_on", name=op.f("uq_compliance_figure_name_effective_on")),
    )
    op.create_table(
        "data_request",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", _TEXT(length=20), nullable=False),
        sa.Column("kind", _TEXT(length=15), nullable=False),
        sa.Column("state", _TEXT(length=15), nullable=False),
        sa.Column("name", _TEXT(), nullable=False),
        sa.Column("email", _TEXT(length=254), nullable=True),
        sa.Column("phone", _TEXT(length=32), nullable=True),
        sa.Column("subject_key", _TEXT(length=64), nullable=False),
        sa.Column("details", _TEXT(), nullable=False),
        sa.Column("customers", sa.JSON(), nullable=False),
        sa.Column("received_at", _INSTANT(), nullable=False),
        sa.Column("acknowledge_by", sa.Date(), nullable=False),
        sa.Column("due_on", sa.Date(), nullable=False),
        sa.Column("extended_to", sa.Date(), nullable=True),
        sa.Column("extension_reason", _TEXT(), nullable=True),
        sa.Column("acknowledged_at", _INSTANT(), nullable=True),
        sa.Column("identity_method", _TEXT(length=40), nullable=True),
        sa.Column("identity_by", sa.Uuid(), nullable=True),
        sa.Column("identity_at", _INSTANT(), nullable=True),
        sa.Column("refusal_code", _TEXT(length=30), nullable=True),
        sa.Column("outcome", _TEXT(), nullable=True),
        sa.Column("answered_by", sa.Uuid(), nullable=True),
        sa.Column("answered_at", _INSTANT(), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "(state IN ('answered', 'refused')) = (answered_at IS NOT NULL)", name=op.f("ck_data_request_answered")
        ),
        sa.CheckConstraint(
            "kind IN ('access', 'copy', 'rectification', 'erasure', 'restriction', 'objection', 'grievance')",
            name=op.f("ck_data_request_kind"),
        ),
        sa.CheckConstraint(
            "state IN ('received', 'acknowledged', 'answered', 'refused', 'withdrawn')",
            name=op.f("ck_data_request_state"),
        ),
        sa.CheckConstraint(
            "(extended_to IS NULL) = (extension_reason IS NULL)", name=op.f("ck_data_request_extension")
        ),
        sa.CheckConstraint("(identity_by IS NULL) = (identity_at IS NULL)", name=op.f("ck_data_request_identity")),
        sa.ForeignKeyConstraint(["answered_by"], ["staff.id"], name=op.f("fk_data_request_answered_by")),
        sa.ForeignKeyConstraint(["created_by"], ["staff.id"], name=op.f("fk_data_request_created_by")),
        sa.ForeignKeyConstraint(["identity_by"], ["staff.id"], name=op.f("fk_data_request_identity_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_data_request")),
        sa.UniqueConstraint("number", name=op.f("uq_data_request_number")),
    )
    op.create_index(op.f("ix_data_request_state_due_on"), "data_request", ["state", "due_on"])
    op.create_index(op.f("ix_data_request_subject_key"), "data_request", ["subject_key"])
    op.create_table(
        "erasure",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("number", _TEXT(length=20), nullable=False),
        sa.Column("record_class", _TEXT(length=20), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("customers", sa.JSON(), nullable=False),
        sa.Column("before_at", _INSTANT(), nullable=True),
        sa.Column("reason", _TEXT(), nullable=False),
        sa.Column("is_early", sa.Boolean(), nullable=False),
        sa.Column("is_restored", sa.Boolean(), nullable=False),
        sa.Column("prepared_by", sa.Uuid(), nullable=True),
        sa.Column("prepared_at", _INSTANT(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.Column("refusal", _TEXT(), nullable=True),
        sa.Column("outcome", sa.JSON(), nullable=False),
        sa.Column("sha256", _TEXT(length=64), nullable=True),
        sa.CheckConstraint("(state = 'erased') = (sha256 IS NOT NULL)", name=op.f("ck_erasure_certified")),
        sa.CheckConstraint(
            "is_restored OR (prepared_by IS NOT NULL AND (state <> 'erased' OR decided_by IS NOT NULL))",
            name=op.f("ck_erasure_by_whom"),
        ),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name=op.f("ck_erasure_decided")),
        sa.CheckConstraint("state IN ('open', 'erased', 'refused', 'withdrawn')", name=op.f("ck_erasure_state")),
        sa.CheckConstraint(
            "state NOT IN ('erased', 'refused') OR decided_by <> prepared_by", name=op.f("ck_erasure_two_people")
        ),
        sa.ForeignKeyConstraint(["decided_by"], ["staff.id"], name=op.f("fk_erasure_decided_by")),
        sa.ForeignKeyConstraint(["prepared_by"], ["staff.id"], name=op.f("fk_erasure_prepared_by")),
        sa.ForeignKeyConstraint(["request_id"], ["data_request.id"], name=op.f("fk_erasure_request_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure")),
        sa.UniqueConstraint("number", name=op.f("uq_erasure_number")),
    )
    op.create_index(op.f("ix_erasure_state_prepared_at"), "erasure", ["state", "prepared_at"])
    op.create_table(
        "erasure_window",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_erasure_window")),
    )
    op.create_table(
        "redaction",
        sa.Column("kind", _TEXT(length=20), nullable=False),
        sa.Column("record_id", sa.Uuid(), nullable=False),
        sa.Column("erasure_id", sa.Uuid(), nullable=False),
        sa.Column("seal", _TEXT(length=64), nullable=False),
        sa.ForeignKeyConstraint(["erasure_id"], ["erasure.id"], name=op.f("fk_redaction_erasure_id")),
        sa.PrimaryKeyConstraint("kind", "record_id", name=op.f("pk_redaction")),
    )
    op.create_table(
        "legal_hold",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("customer_id", sa.Uuid(), nullable=False),
        sa.Column("reason", _TEXT(), nullable=False),
        sa.Column("set_by", sa.Uuid(), nullable=False),
        sa.Column("set_at", _INSTANT(), nullable=False),
        sa.Column("lifted_by", sa.Uuid(), nullable=True),
        sa.Column("lifted_at", _INSTANT(), nullable=True),
        sa.CheckConstraint("(lifted_by IS NULL) = (lifted_at IS NULL)", name=op.f("ck_legal_hold_lifted")),
        sa.CheckConstraint("lifted_by IS NULL OR lifted_by <> set_by", name=op.f("ck_legal_hold_two_people")),
        sa.ForeignKeyConstraint(["customer_id"], ["customer.id"], name=op.f("fk_legal_hold_customer_id")),
        sa.ForeignKeyConstraint(["lifted_by"], ["staff.id"], name=op.f("fk_legal_hold_lifted_by")),
        sa.ForeignKeyConstraint(["set_by"], ["staff.id"], name=op.f("fk_legal_hold_set_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_legal_hold")),
    )
    op.create_index(op.f("ix_legal_hold_customer_id_lifted_at"), "legal_hold", ["customer_id", "lifted_at"])


def downgrade() -> None:
    op.drop_table("legal_hold")
    op.drop_table("redaction")
    op.drop_table("erasure_window")
    op.drop_table("erasure")
    op.drop_table("data_request")
    op.drop_table("compliance_figure")
