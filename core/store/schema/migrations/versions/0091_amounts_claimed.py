"""A claim that names its loss has it as the amount claimed from the lodging on; it was nothing until the review.

The totals of claims are counted again after it.
"""

import sqlalchemy as sa
from alembic import op

from core.store.schema import versions

revision = "0091"
down_revision = "0090"
branch_labels = None
depends_on = None

_AMOUNTS = {
    "vehicle_claim_meta": "cost_of_repair",
    "gadget_claim_meta": "cost_of_repair",
    "claim_meta": "amount_claimed",
}


def upgrade() -> None:
    claim = sa.table("claim", sa.column("claim_amount_minor"), *(sa.column(name, sa.JSON) for name in _AMOUNTS))
    for name, amount in _AMOUNTS.items():
        submitted = claim.c[name][amount].as_string()
        claimed_minor = sa.cast(sa.func.round(sa.cast(submitted, sa.Numeric) * 100), sa.BigInteger)
        unset = (claim.c.claim_amount_minor == 0, submitted.is_not(None))
        op.execute(sa.update(claim).where(*unset).values(claim_amount_minor=claimed_minor))
    config = op.get_context().config
    if config is not None:
        config.attributes[versions.STALE] = True


def downgrade() -> None:
    """Nothing to take back: the amount is what the claim says."""
