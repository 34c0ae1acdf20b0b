"""Endpoints outlive the key that registered them: those that had ended with theirs are disabled, and hold their events.

To send again to a receiver that nobody expects to be told any more is for a person to decide.
"""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

_REASON = "The key that registered it was revoked by an earlier release, which ended it: enable it to go on"
_KEY = sa.table("api_key", *map(sa.column, ("id", "revoked_at")))
_ENDPOINT = sa.table(
    "webhook_endpoint", *map(sa.column, ("id", "key_id", "state", "deleted_at", "disabled_at", "last_error"))
)
_DELIVERY = sa.table("webhook_delivery", *map(sa.column, ("endpoint_id", "state", "next_try_at", "leased_until")))


def upgrade() -> None:
    revoked = sa.select(_KEY.c.id, _KEY.c.revoked_at).where(_KEY.c.revoked_at.is_not(None)).subquery()
    is_ended = sa.and_(
        _ENDPOINT.c.key_id.in_(sa.select(revoked.c.id)),
        _ENDPOINT.c.deleted_at.is_(None),
        _ENDPOINT.c.state != "disabled",
    )
    endpoints = sa.select(_ENDPOINT.c.id).where(is_ended)
    waiting = sa.and_(_DELIVERY.c.endpoint_id.in_(endpoints), _DELIVERY.c.state.in_(("queued", "dead")))
    op.execute(sa.update(_DELIVERY).where(waiting).values(state="held", next_try_at=None, leased_until=None))
    since = sa.select(revoked.c.revoked_at).where(revoked.c.id == _ENDPOINT.c.key_id).scalar_subquery()
    op.execute(sa.update(_ENDPOINT).where(is_ended).values(state="disabled", last_error=_REASON, disabled_at=since))


def downgrade() -> None:
    """An earlier release ends them by their keys, whatever their state."""
