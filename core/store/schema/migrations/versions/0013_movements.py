"""One list of all money: adjustments in two hands, the view of movements, and both books carry adjustments."""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0013"
down_revision = "0010"
branch_labels = None
depends_on = None

_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_TEXT = sqlmodel.sql.sqltypes.AutoString
BOOKS = ("daybook_line", "day_total")
MEASURES = ("adjustments", "adjusted_minor", "adjusted_mca_minor", "adjusted_distributor_minor")
AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
KINDS = "('purchase', 'renewal', 'refund', 'adjustment')"
OF_TERM = ("customer_id", "product_id", "product_version_id", "product_category_id", "provider_id")
# In the order of the columns: those that every table has under its own name, and those that differ.
SHARED = ("id", "created_at", "is_live", "distributor_id", *OF_TERM)
_KEEPS = (
    (
        "figures",
        "UPDATE OF id, distributor_id, is_live, corrects_kind, corrects_id, total_minor, mca_profit_minor,"
        " distributor_profit_minor, reason, proposed_by, proposed_at",
        "",
    ),
    ("decision", "UPDATE", " WHEN (OLD.state <> 'open')"),
    ("delete", "DELETE", ""),
)


def upgrade() -> None:
    for book in BOOKS:
        for name in MEASURES:
            op.add_column(book, sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.create_index(op.f("ix_refund_is_live_created_at_id"), "refund", ["is_live", "created_at", "id"])
    _make_proposals()
    _make_adjustments()
    _keep("adjustment_proposal", _KEEPS)
    _keep("adjustment", (("update", "UPDATE", ""), ("delete", "DELETE", "")))
    op.execute(view())


def downgrade() -> None:
    op.execute("DROP VIEW movement")
    op.drop_table("adjustment")
    op.drop_table("adjustment_proposal")
    op.drop_index(op.f("ix_refund_is_live_created_at_id"), "refund")
    for book in BOOKS:
        for name in MEASURES:
            op.drop_column(book, name)


def view() -> str:
    """The statement that makes the view of movements."""
    nothing = "NULL" if op.get_bind().dialect.name == "sqlite" else "CAST(NULL AS uuid)"
    policy = "(SELECT policy.id FROM policy WHERE policy.purchase_id = purchase.id)"
    parts = (
        _part("purchase", policy, "id", nothing, 1, "deleted_at IS NULL", source="request_source"),
        _part("renewal", "policy_id", "purchase_id", "id", 1, "deleted_at IS NULL AND status"),
        _part("refund", "policy_id", "purchase_id", "renewal_id", -1),
        _part("adjustment", "policy_id", "purchase_id", "renewal_id", 1),
    )
    return f"CREATE VIEW movement AS {' UNION ALL '.join(parts)}"


def _part(table: str, policy: str, purchase: str, renewal: str, sign: int, where: str = "", *, source: str = "") -> str:
    minus = "-" if sign < 0 else ""
    amounts = ", ".join(f"{minus}{name} AS {name}" for name in AMOUNTS)
    source = source or f"(SELECT sale.request_source FROM purchase AS sale WHERE sale.id = {table}.purchase_id)"  # noqa: S608 the names of our own tables
    rest = f"{minus}(total_minor - mca_profit_minor - distributor_profit_minor) AS provider_share_minor"
    return (
        f"SELECT '{table}' AS kind, {', '.join(SHARED)}, {policy} AS policy_id, {purchase} AS purchase_id,"  # noqa: S608 names out of this file
        f" {renewal} AS renewal_id, {source} AS request_source, {amounts}, {rest} FROM {table}"
        + (f" WHERE {where}" if where else "")
    )


def _proposed() -> list[sa.Column]:
    return [
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in AMOUNTS),
        sa.Column("corrects_kind", _TEXT(length=10), nullable=False),
        sa.Column("corrects_id", sa.Uuid(), nullable=False),
        sa.Column("reason", _TEXT(), nullable=False),
        sa.Column("proposed_by", sa.Uuid(), nullable=False),
    ]


def _links(table: str, links: dict[str, str]) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [f"{to}.id"], name=op.f(f"fk_{table}_{column}"))
        for column, to in links.items()
    ]


def _make_proposals() -> None:
    op.create_table(
        "adjustment_proposal",
        *_proposed(),
        sa.Column("proposed_at", _INSTANT(), nullable=False),
        sa.Column("state", _TEXT(length=10), nullable=False),
        sa.Column("decided_by", sa.Uuid(), nullable=True),
        sa.Column("decided_at", _INSTANT(), nullable=True),
        sa.Column("refusal", _TEXT(), nullable=True),
        sa.CheckConstraint(
            "state IN ('open', 'confirmed', 'refused', 'withdrawn')", name=op.f("ck_adjustment_proposal_state")
        ),
        sa.CheckConstraint(f"corrects_kind IN {KINDS}", name=op.f("ck_adjustment_proposal_corrects_kind")),
        sa.CheckConstraint("(state = 'open') = (decided_at IS NULL)", name=op.f("ck_adjustment_proposal_decided")),
        sa.CheckConstraint(
            "state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by",
            name=op.f("ck_adjustment_proposal_two_people"),
        ),
        sa.CheckConstraint(
            "total_minor <> 0 OR mca_profit_minor <> 0 OR distributor_profit_minor <> 0",
            name=op.f("ck_adjustment_proposal_changes_something"),
        ),
        *_links(
            "adjustment_proposal",
            {"distributor_id": "distributor", "proposed_by": "staff", "decided_by": "staff"},
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjustment_proposal")),
    )
    op.create_index("ix_adjustment_proposal_open", "adjustment_proposal", ["is_live", "state", "proposed_at"])


def _make_adjustments() -> None:
    ids = ("proposal_id", "policy_id", "purchase_id", *OF_TERM, "approved_by")
    links = {name: name.removesuffix("_id") for name in ("policy_id", "purchase_id", "renewal_id", *OF_TERM)}
    links |= {"distributor_id": "distributor", "proposal_id": "adjustment_proposal"}
    links |= {"proposed_by": "staff", "approved_by": "staff"}
    op.create_table(
        "adjustment",
        *_proposed(),
        *(sa.Column(name, sa.Uuid(), nullable=False) for name in ids),
        sa.Column("renewal_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint(f"corrects_kind IN {KINDS}", name=op.f("ck_adjustment_corrects_kind")),
        sa.CheckConstraint("approved_by <> proposed_by", name=op.f("ck_adjustment_two_people")),
        *_links("adjustment", links),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_adjustment")),
        sa.UniqueConstraint("proposal_id", name=op.f("uq_adjustment_proposal_id")),
    )
    op.create_index(op.f("ix_adjustment_is_live_created_at_id"), "adjustment", ["is_live", "created_at", "id"])
    op.create_index(op.f("ix_adjustment_corrects_id"), "adjustment", ["corrects_id"])


def _keep(table: str, events: tuple[tuple[str, str, str], ...]) -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, event, only in events:
        head = f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table} FOR EACH ROW{only}"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
        else:
            op.execute(f"{head} EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
