"""Changes of accounts are proposals of one admin and confirmed by another, and a raised limit waits a day."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0077"
down_revision = "0070"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_STAFF = {
    "made_by": sa.Uuid,
    "confirms_from": _INSTANT,
    "limit_before_minor": sa.BigInteger,
    "limit_holds_from": _INSTANT,
}
_GRANT = "act, claim_limit_minor"


def upgrade() -> None:
    for name, kind in _STAFF.items():
        op.add_column("staff", sa.Column(name, kind(), nullable=True))
    # What waits from before are roles that are added to those that the person has.
    act = sa.Column("act", sqlmodel.sql.sqltypes.AutoString(length=10), nullable=False, server_default="roles")
    op.add_column("role_grant", act)
    op.add_column("role_grant", sa.Column("claim_limit_minor", sa.BigInteger(), nullable=True))
    head = f"CREATE TRIGGER role_grant_act BEFORE UPDATE OF {_GRANT} ON role_grant FOR EACH ROW"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'role_grant keeps what it holds'); END")
    else:
        op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")


def downgrade() -> None:
    op.execute("DROP TRIGGER role_grant_act" + ("" if op.get_bind().dialect.name == "sqlite" else " ON role_grant"))
    for column in ("claim_limit_minor", "act"):
        op.drop_column("role_grant", column)
    for column in reversed(_STAFF):
        op.drop_column("staff", column)
