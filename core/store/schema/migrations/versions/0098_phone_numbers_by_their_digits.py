"""Claimants and borrowers are compared by the digits of their phone numbers."""

import sqlalchemy as sa
from alembic import op

revision = "0098"
down_revision = "0097"
branch_labels = None
depends_on = None


_DIGITS = (
    "replace(replace(replace(replace(replace(replace({}, ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '+', '')"
)


def _spell(column: str) -> sa.TextClause:
    return sa.text(f"replace(replace('^' || {_DIGITS.format(column)}, '^0', '^234'), '^', '')")


def upgrade() -> None:
    op.create_index("ix_claim_claimant_phone", "claim", [_spell("claim_owner_phone_number")])
    of_loans = sa.text("twin_key IS NOT NULL")
    op.create_index(
        *("ix_policy_borrower_phone", "policy", [_spell("phone")]),
        sqlite_where=of_loans,
        postgresql_where=of_loans,
    )


def downgrade() -> None:
    op.drop_index("ix_policy_borrower_phone", "policy")
    op.drop_index("ix_claim_claimant_phone", "claim")
