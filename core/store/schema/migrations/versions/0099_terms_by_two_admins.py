"""Terms that decide money are proposed by one admin and confirmed by another; those of before were one admin's."""

from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

from core import ids, seal

revision = "0099"
down_revision = "0098"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_OPEN = sa.text("state = 'open'")
_APPROVAL = sa.table(
    "approval",
    *(sa.column(name, sa.Uuid()) for name in ("id", "subject_id", "staff_id")),
    *map(sa.column, ("subject_kind", "amount_minor", "limit_minor", "role", "fingerprint")),
    sa.column("parts", sa.JSON()),
    sa.column("approved_at", _INSTANT()),
)


def upgrade() -> None:
    op.create_table(
        "terms_proposal",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("proposed_by", sa.Uuid(), nullable=False),
        sa.Column("proposed_at", _INSTANT(), nullable=False),
        sa.Column("state", sqlmodel.sql.sqltypes.AutoString(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name=op.f("ck_terms_proposal_decided")),
        sa.CheckConstraint(
            "state IN ('open', 'confirmed', 'refused', 'withdrawn')", name=op.f("ck_terms_proposal_state")
        ),
        sa.CheckConstraint(
            "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by",
            name=op.f("ck_terms_proposal_two_people"),
        ),
        *(
            sa.ForeignKeyConstraint([name], [f"{table}.id"], name=op.f(f"fk_terms_proposal_{name}"))
            for name, table in (("distributor_id", "distributor"), ("proposed_by", "staff"), ("decided_by", "staff"))
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_terms_proposal")),
    )
    op.create_index(
        *("ix_terms_proposal_open", "terms_proposal", ["distributor_id"]),
        unique=True,
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    figures = "id, distributor_id, terms, proposed_by, proposed_at"
    _keep("figures", f"BEFORE UPDATE OF {figures} ON terms_proposal FOR EACH ROW")
    _keep("decision", "BEFORE UPDATE ON terms_proposal FOR EACH ROW WHEN (OLD.state <> 'open')")
    _keep("delete", "BEFORE DELETE ON terms_proposal FOR EACH ROW")
    if not _is_sqlite():
        _keep("truncate", "BEFORE TRUNCATE ON terms_proposal FOR EACH STATEMENT")
    _approve_before()


def _approve_before() -> None:
    """Let the terms of before stand as their maker's: an agreement never changes, so what is there is what was made."""
    made = sa.table(
        "agreement",
        *(sa.column(name, sa.Uuid()) for name in ("id", "distributor_id", "made_by")),
        sa.column("created_at", _INSTANT()),
    )
    rows = [_build(row) for row in op.get_bind().execute(sa.select(made).where(made.c.distributor_id.is_not(None)))]
    if rows:
        op.bulk_insert(_APPROVAL, rows)


def _build(row: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"subject_id": row.id, "amount_minor": None, "limit_minor": None, "role": "admin"}
    given |= {"staff_id": row.made_by, "approved_at": row.created_at, "parts": {}}
    approval_id = ids.new()
    sealed = seal.fingerprint_approval(approval_id=approval_id, kind="terms", **given)
    return {"id": approval_id, "subject_kind": "terms", "fingerprint": sealed, **given}


def downgrade() -> None:
    """Approvals stay: their table keeps what it holds."""
    op.drop_table("terms_proposal")


def _is_sqlite() -> bool:
    return bool(op.get_bind().dialect.name == "sqlite")


def _keep(name: str, when: str) -> None:
    refusal = "BEGIN SELECT RAISE(ABORT, 'terms_proposal keeps what it holds'); END"
    action = refusal if _is_sqlite() else "EXECUTE FUNCTION keeps_what_it_holds()"
    op.execute(f"CREATE TRIGGER terms_proposal_{name} {when} {action}")
