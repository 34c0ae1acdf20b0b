"""Claimants are compared by their e-mail without its case."""

import sqlalchemy as sa
from alembic import op

revision = "0096"
down_revision = "0095"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_claim_claim_owner_email", "claim")
    op.create_index("ix_claim_claimant_email", "claim", [sa.func.lower(sa.column("claim_owner_email"))])


def downgrade() -> None:
    op.drop_index("ix_claim_claimant_email", "claim")
    op.create_index("ix_claim_claim_owner_email", "claim", ["claim_owner_email"])
