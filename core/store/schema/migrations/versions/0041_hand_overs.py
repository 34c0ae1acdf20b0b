"""A referral says who is asked: a supervisor for a decision, or finance for a payment."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Every referral so far was to a supervisor.
    asked = sa.Column(
        "asks_role", sqlmodel.sql.sqltypes.AutoString(length=10), nullable=False, server_default="supervisor"
    )
    op.add_column("claim_referral", asked)


def downgrade() -> None:
    # Without the column an open hand-over would turn into a referral to supervisors.
    op.execute("DELETE FROM claim_referral WHERE asks_role <> 'supervisor'")
    op.drop_column("claim_referral", "asks_role")
