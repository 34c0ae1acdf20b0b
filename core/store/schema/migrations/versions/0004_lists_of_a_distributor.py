"""Lists of a distributor that are counted and searched in one index; a policy is as old as its purchase."""

import sqlalchemy as sa
from alembic import context, op

from core.store.schema import versions

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

WHOSE = ("distributor_id", "is_live", "created_at")
LISTED = (
    (
        "policy",
        "ix_policy_of_distributor",
        (*WHOSE, "id", "activated", "cancelled_at", "declined_at", "deleted_at", "expiration_at"),
        "ix_policy_distributor_id_is_live_created_at_id",
        (*WHOSE, "id"),
    ),
    (
        "renewal",
        "ix_renewal_of_distributor",
        (*WHOSE, "id", "deleted_at", "status"),
        "ix_renewal_distributor_id_is_live_created_at_id",
        (*WHOSE, "id"),
    ),
    (
        "customer",
        "ix_customer_of_distributor",
        (*WHOSE, "id", "deleted_at", "active", "first_name", "last_name", "email_key", "phone_number"),
        "ix_customer_distributor_id_is_live_created_at",
        WHOSE,
    ),
)


def upgrade() -> None:
    for table, name, columns, before, _ in LISTED:
        op.create_index(name, table, list(columns))
        op.drop_index(op.f(before), table)
    policy = sa.table("policy", sa.column("purchase_id"), sa.column("created_at"))
    purchase = sa.table("purchase", sa.column("id"), sa.column("created_at"))
    sold_at = sa.select(purchase.c.created_at).where(purchase.c.id == policy.c.purchase_id).scalar_subquery()
    aligned = op.get_bind().execute(
        sa.update(policy).where(policy.c.created_at != sold_at).values({policy.c.created_at: sold_at})
    )
    if aligned.rowcount:
        context.config.attributes[versions.STALE] = True


def downgrade() -> None:
    for table, name, _, before, columns in LISTED:
        op.create_index(op.f(before), table, list(columns))
        op.drop_index(name, table)
