"""The name and e-mail that an endorsement gave its policy, as they are searched."""

from unicodedata import category, normalize
from uuid import UUID

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
_ERASED = "[erased]"


def upgrade() -> None:
    for key in _KEYS:
        text = sqlmodel.sql.sqltypes.AutoString()
        op.add_column("policy_endorsement", sa.Column(key, text, server_default="", nullable=False))
    connection = op.get_bind()
    endorsement = sa.table(
        "policy_endorsement",
        *(sa.column("id", sa.Uuid()), sa.column("policy_id", sa.Uuid()), sa.column("number", sa.Integer())),
        *(sa.column("changes", sa.JSON()), *(sa.column(key, sa.String()) for key in _KEYS)),
    )
    policy = sa.table("policy", sa.column("id", sa.Uuid()), *(sa.column(name, sa.String()) for name in _NAMES))
    rows = sa.select(endorsement, *(policy.c[name] for name in _NAMES)).join(
        policy, policy.c.id == endorsement.c.policy_id
    )
    named: dict[UUID, dict[str, str]] = {}
    # From the newest back: each is followed by what the next one found before it, the last by the policy.
    for row in connection.execute(rows.order_by(endorsement.c.number.desc())).all():
        after = named.setdefault(row.policy_id, {name: getattr(row, name) for name in _NAMES})
        before = {change["field"]: change["before"] for change in row.changes if change["field"] in _NAMES}
        if before and _ERASED not in before.values():
            keys = {
                "name_key": _fold(f"{after['first_name']} {after['last_name']}"),
                "email_key": after["email"].lower(),
            }
            connection.execute(sa.update(endorsement).where(endorsement.c.id == row.id).values(**keys))
        after.update(before)


def downgrade() -> None:
    for key in _KEYS:
        op.drop_column("policy_endorsement", key)


def _fold(text: str) -> str:
    bare = "".join(letter for letter in normalize("NFD", text.lower()) if category(letter) != "Mn")
    return normalize("NFC", bare.translate(_HAUSA_LETTERS))
