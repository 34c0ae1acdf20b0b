"""Records are found by the keys that their screens read, and any part of a name or phone in an index of its own."""

from alembic import op

revision = "0067"
down_revision = "0065"
branch_labels = None
depends_on = None

_INDEXED = (
    ("customer", "name_key"),
    ("customer", "phone_number"),
    ("policy", "buyer_id"),
    ("adjustment", "policy_id"),
    ("adjustment_proposal", "corrects_id"),
)


def upgrade() -> None:
    for table, column in _INDEXED:
        op.create_index(op.f(f"ix_{table}_{column}"), table, [column])


def downgrade() -> None:
    for table, column in reversed(_INDEXED):
        op.drop_index(op.f(f"ix_{table}_{column}"), table)
