"""A person holds several drafts of one cover, one for each customer."""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None

_COLUMNS = ["staff_id", "is_live", "cover"]
_UNIQUE = "uq_sale_draft_staff_id_is_live_cover"


def upgrade() -> None:
    with op.batch_alter_table("sale_draft") as batch:
        batch.drop_constraint(op.f(_UNIQUE), type_="unique")
        batch.create_index(op.f("ix_sale_draft_staff_id_is_live"), _COLUMNS[:2])


def downgrade() -> None:
    _drop_all_but_latest()
    with op.batch_alter_table("sale_draft") as batch:
        batch.drop_index(op.f("ix_sale_draft_staff_id_is_live"))
        batch.create_unique_constraint(op.f(_UNIQUE), _COLUMNS)


def _drop_all_but_latest() -> None:
    """Delete what the earlier store has no place for: of each person's drafts of a cover the latest stays."""
    draft = sa.table("sale_draft", *map(sa.column, ("id", "updated_at", *_COLUMNS)))
    latest = sa.func.row_number().over(
        partition_by=[draft.c[name] for name in _COLUMNS], order_by=[draft.c.updated_at.desc(), draft.c.id]
    )
    numbered = sa.select(draft.c.id, latest.label("place")).subquery()
    op.execute(sa.delete(draft).where(draft.c.id.in_(sa.select(numbered.c.id).where(numbered.c.place > 1))))
