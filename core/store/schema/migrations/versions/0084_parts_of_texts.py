"""On PostgreSQL an index holds all that a search of parts of numbers, plates, phones and names asks for."""

from alembic import op

revision = "0084"
down_revision = "0081"
branch_labels = None
depends_on = None

_SEARCHED = (("policy", "number_key"), ("policy", "plate_key"), ("policy", "phone"), ("customer", "name_key"))
_INCLUDED = ["id", "is_live", "distributor_id"]


def upgrade() -> None:
    _make_anew(_INCLUDED)


def downgrade() -> None:
    _make_anew([])


def _make_anew(included: list[str]) -> None:
    if op.get_bind().dialect.name == "sqlite":
        return
    for table, column in _SEARCHED:
        op.drop_index(f"ix_{table}_{column}", table)
        op.create_index(f"ix_{table}_{column}", table, [column], postgresql_include=included)
