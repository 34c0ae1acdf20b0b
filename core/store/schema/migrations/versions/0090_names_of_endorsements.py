"""The name and e-mail that an endorsement gave its policy, as they are searched."""

from unicodedata import category, normalize

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0090"
down_revision = "0089"
branch_labels = None
depends_on = None

_KEYS = ("name_key", "email_key")
_NAMES = ("first_name", "last_name", "email")
_HAUSA_LETTERS = str.maketrans("ɓɗƙƴ", "bdky")


def upgrade() -> None:
    for key in _KEYS:
        text = sqlmodel.sql.sqltypes.AutoString()
        op.add_column("policy_endorsement", sa.Column(key, text, server_default="", nullable=False))
    connection = op.get_bind()
    endorsement = sa.table(
        "policy_endorsement",
        *(sa.column("id", sa.Uuid()), sa.column("policy_id", sa.Uuid()), sa.column("changes", sa.JSON())),
        *(sa.column(key, sa.String()) for key in _KEYS),
    )
    policy = sa.table("policy", sa.column("id", sa.Uuid()), *(sa.column(name, sa.String()) for name in _NAMES))
    rows = sa.select(endorsement.c.id, endorsement.c.changes, *(policy.c[name] for name in _NAMES)).join(
        policy, policy.c.id == endorsement.c.policy_id
    )
    for row in connection.execute(rows).all():
        if not {change["field"] for change in row.changes}.isdisjoint(_NAMES):
            keys = {"name_key": _fold(f"{row.first_name} {row.last_name}"), "email_key": row.email.lower()}
            connection.execute(sa.update(endorsement).where(endorsement.c.id == row.id).values(**keys))


def downgrade() -> None:
    for key in _KEYS:
        op.drop_column("policy_endorsement", key)


def _fold(text: str) -> str:
    bare = "".join(letter for letter in normalize("NFD", text.lower()) if category(letter) != "Mn")
    return normalize("NFC", bare.translate(_HAUSA_LETTERS))
