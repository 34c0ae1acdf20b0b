"""Events made of the audit log, the endpoints that want them, their deliveries, and mail."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "event_cursor",
        sa.Column("chain", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("chain", name=op.f("pk_event_cursor")),
    )
    op.create_table(
        "event_feed",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("swept_at", _INSTANT(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event_feed")),
    )
    op.create_table(
        "mail",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("state", _TEXT(length=12), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_try_at", _INSTANT(), nullable=True),
        sa.Column("leased_until", _INSTANT(), nullable=True),
        sa.Column("last_error", _TEXT(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("updated_at", _INSTANT(), nullable=False),
        sa.Column("recipient", _TEXT(length=254), nullable=False),
        sa.Column("template", _TEXT(length=40), nullable=False),
        sa.Column("subject", _TEXT(length=200), nullable=False),
        sa.Column("body", _TEXT(), nullable=False),
        sa.CheckConstraint("state IN ('queued', 'sent', 'dead')", name=op.f("ck_mail_state")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mail")),
    )
    with op.batch_alter_table("mail", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_mail_created_at"), ["created_at"], unique=False)
        batch_op.create_index("ix_mail_due", ["state", "next_try_at", "leased_until"], unique=False)

    op.create_table(
        "event",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("type", _TEXT(length=40), nullable=False),
        sa.Column("object_type", _TEXT(length=20), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("origin", _TEXT(length=120), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.ForeignKeyConstraint(["distributor_id"], ["distributor.id"], name=op.f("fk_event_distributor_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_event")),
        sa.UniqueConstraint(
            "object_id", "object_type", "sequence", name=op.f("uq_event_object_id_object_type_sequence")
        ),
        sa.UniqueConstraint("origin", name=op.f("uq_event_origin")),
        sa.UniqueConstraint("position", name=op.f("uq_event_position")),
    )
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_event_created_at"), ["created_at"], unique=False)
        batch_op.create_index("ix_event_feed", ["distributor_id", "is_live", "position"], unique=False)

    op.create_table(
        "webhook_endpoint",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("updated_at", _INSTANT(), nullable=False),
        sa.Column("deleted_at", _INSTANT(), nullable=True),
        sa.Column("key_id", sa.Uuid(), nullable=True),
        sa.Column("url", _TEXT(length=2000), nullable=False),
        sa.Column("description", _TEXT(length=200), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("format", _TEXT(length=10), nullable=False),
        sa.Column("signature_header", _TEXT(length=64), nullable=False),
        sa.Column("state", _TEXT(length=12), nullable=False),
        sa.Column("secret", _TEXT(), nullable=False),
        sa.Column("old_secret", _TEXT(), nullable=True),
        sa.Column("old_secret_until", _INSTANT(), nullable=True),
        sa.Column("failing_since", _INSTANT(), nullable=True),
        sa.Column("last_success_at", _INSTANT(), nullable=True),
        sa.Column("last_failure_at", _INSTANT(), nullable=True),
        sa.Column("last_error", _TEXT(), nullable=True),
        sa.Column("is_slow", sa.Boolean(), nullable=False),
        sa.Column("disabled_at", _INSTANT(), nullable=True),
        sa.CheckConstraint("format IN ('standard', 'classic')", name=op.f("ck_webhook_endpoint_format")),
        sa.CheckConstraint(
            "state IN ('unverified', 'active', 'failing', 'disabled')", name=op.f("ck_webhook_endpoint_state")
        ),
        sa.ForeignKeyConstraint(
            ["distributor_id"], ["distributor.id"], name=op.f("fk_webhook_endpoint_distributor_id")
        ),
        sa.ForeignKeyConstraint(["key_id"], ["api_key.id"], name=op.f("fk_webhook_endpoint_key_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoint")),
    )
    with op.batch_alter_table("webhook_endpoint", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_webhook_endpoint_distributor_id_is_live"), ["distributor_id", "is_live"], unique=False
        )

    op.create_table(
        "webhook_delivery",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("state", _TEXT(length=12), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("next_try_at", _INSTANT(), nullable=True),
        sa.Column("leased_until", _INSTANT(), nullable=True),
        sa.Column("last_error", _TEXT(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.Column("updated_at", _INSTANT(), nullable=False),
        sa.Column("endpoint_id", sa.Uuid(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("event_type", _TEXT(length=40), nullable=False),
        sa.Column("is_replay", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("delivered_at", _INSTANT(), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'held', 'sent', 'dead', 'withdrawn')", name=op.f("ck_webhook_delivery_state")
        ),
        sa.ForeignKeyConstraint(
            ["distributor_id"], ["distributor.id"], name=op.f("fk_webhook_delivery_distributor_id")
        ),
        sa.ForeignKeyConstraint(["endpoint_id"], ["webhook_endpoint.id"], name=op.f("fk_webhook_delivery_endpoint_id")),
        sa.ForeignKeyConstraint(["event_id"], ["event.id"], name=op.f("fk_webhook_delivery_event_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_delivery")),
        sa.UniqueConstraint("endpoint_id", "event_id", name=op.f("uq_webhook_delivery_endpoint_id_event_id")),
    )
    with op.batch_alter_table("webhook_delivery", schema=None) as batch_op:
        batch_op.create_index(
            "ix_webhook_delivery_due", ["state", "endpoint_id", "next_try_at", "leased_until"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_webhook_delivery_event_id"), ["event_id"], unique=False)
        batch_op.create_index("ix_webhook_delivery_log", ["endpoint_id", "created_at", "id"], unique=False)

    op.create_table(
        "webhook_try",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("started_at", _INSTANT(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", _TEXT(), nullable=True),
        sa.Column("answer", _TEXT(), nullable=False),
        sa.ForeignKeyConstraint(["delivery_id"], ["webhook_delivery.id"], name=op.f("fk_webhook_try_delivery_id")),
        sa.ForeignKeyConstraint(["distributor_id"], ["distributor.id"], name=op.f("fk_webhook_try_distributor_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_try")),
    )
    with op.batch_alter_table("webhook_try", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_webhook_try_delivery_id_started_at"), ["delivery_id", "started_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_webhook_try_started_at"), ["started_at"], unique=False)

    # What happened before this release is not told: the chains are read from where they stand.
    op.execute("INSERT INTO event_cursor (chain, position) SELECT chain, position FROM audit_head")
    op.execute("INSERT INTO event_feed (id, position) VALUES (1, 0)")


def downgrade() -> None:
    with op.batch_alter_table("webhook_try", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_webhook_try_started_at"))
        batch_op.drop_index(batch_op.f("ix_webhook_try_delivery_id_started_at"))

    op.drop_table("webhook_try")
    with op.batch_alter_table("webhook_delivery", schema=None) as batch_op:
        batch_op.drop_index("ix_webhook_delivery_log")
        batch_op.drop_index(batch_op.f("ix_webhook_delivery_event_id"))
        batch_op.drop_index("ix_webhook_delivery_due")

    op.drop_table("webhook_delivery")
    with op.batch_alter_table("webhook_endpoint", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_webhook_endpoint_distributor_id_is_live"))

    op.drop_table("webhook_endpoint")
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.drop_index("ix_event_feed")
        batch_op.drop_index(batch_op.f("ix_event_created_at"))

    op.drop_table("event")
    with op.batch_alter_table("mail", schema=None) as batch_op:
        batch_op.drop_index("ix_mail_due")
        batch_op.drop_index(batch_op.f("ix_mail_created_at"))

    op.drop_table("mail")
    op.drop_table("event_feed")
    op.drop_table("event_cursor")
