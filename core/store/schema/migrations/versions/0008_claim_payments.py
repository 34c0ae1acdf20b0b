"""Payments of claims become rows that only grow; those of before are made from the history and the audit log."""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_AT_ONCE = 1_000
_INSTANT = sqlmodel.sql.sqltypes.UTCDateTime
_PAYMENT = (
    *("id", "distributor_id", "is_live", "claim_id", "provider_id", "amount_minor", "reference", "reference_key"),
    *("paid_by", "created_at"),
)
_TYPES: Mapping[str, Any] = {
    **dict.fromkeys(("id", "claim_id", "distributor_id", "provider_id", "staff_id", "paid_by"), sa.Uuid),
    **dict.fromkeys(("created_at",), _INSTANT),
    "is_live": sa.Boolean,
    "after": sa.JSON,
}


def upgrade() -> None:
    op.create_table(
        "claim_payment",
        sa.Column("distributor_id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("reference", sqlmodel.sql.sqltypes.AutoString(length=60), nullable=False),
        sa.Column("reference_key", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("paid_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", _INSTANT(), nullable=False),
        sa.CheckConstraint("amount_minor > 0", name=op.f("ck_claim_payment_amount")),
        *(
            sa.ForeignKeyConstraint([column], [f"{table}.id"], name=op.f(f"fk_claim_payment_{column}"))
            for column, table in (
                *(("claim_id", "claim"), ("distributor_id", "distributor")),
                *(("paid_by", "staff"), ("provider_id", "provider")),
            )
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claim_payment")),
        sa.UniqueConstraint(
            *("provider_id", "is_live", "reference_key"),
            name=op.f("uq_claim_payment_provider_id_is_live_reference_key"),
        ),
    )
    op.create_index(op.f("ix_claim_payment_claim_id"), "claim_payment", ["claim_id"])
    op.create_index(
        op.f("ix_claim_payment_is_live_created_at_claim_id"), "claim_payment", ["is_live", "created_at", "claim_id"]
    )
    _fill(op.get_bind())
    _keep()


def downgrade() -> None:
    op.drop_table("claim_payment")


def _keep() -> None:
    """Rows are never changed nor removed."""
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for event in ("UPDATE", "DELETE"):
        head = f"CREATE TRIGGER claim_payment_{event.lower()} BEFORE {event} ON claim_payment"
        if is_sqlite:
            op.execute(f"{head} BEGIN SELECT RAISE(ABORT, 'claim_payment keeps what it holds'); END")
        else:
            op.execute(f"{head} FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds()")
    if not is_sqlite:
        op.execute(
            "CREATE TRIGGER claim_payment_truncate BEFORE TRUNCATE ON claim_payment"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )


def _table(name: str, *columns: str) -> Any:
    return sa.table(name, *(sa.column(column, _TYPES.get(column)) for column in columns))


def _fill(bind: sa.Connection) -> None:
    event = _table("claim_event", "id", "claim_id", "status", "staff_id", "created_at")
    claim = _table("claim", "id", "distributor_id", "is_live", "provider_id", "offer_amount_minor", "payment_reference")
    paid = (
        sa.select(claim, event.c.id.label("event_id"), event.c.staff_id, event.c.created_at)
        .join_from(event, claim, claim.c.id == event.c.claim_id)
        .where(event.c.status == "Paid")
        .order_by(claim.c.id, event.c.created_at, event.c.id)
    )
    taken: set[tuple[Any, ...]] = set()
    rows: list[dict[str, Any]] = []
    for _, events in groupby(bind.execute(paid).all(), key=lambda row: row.id):
        rows += _of_claim(bind, list(events), taken)
    payment = _table("claim_payment", *_PAYMENT)
    for start in range(0, len(rows), _AT_ONCE):
        bind.execute(sa.insert(payment), rows[start : start + _AT_ONCE])


def _of_claim(bind: sa.Connection, events: Sequence[Any], taken: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """The payments of one claim, one for each time it came to Paid; what the log lacks is taken from the claim."""
    claim, told = events[0], _told(bind, events[0].id)
    for place, event in enumerate(events):
        offer, reference = told[place] if len(told) == len(events) else (None, None)
        amount = claim.offer_amount_minor if offer is None else offer
        reference = reference or claim.payment_reference or ""
        if amount <= 0:
            continue
        key = _key(reference)
        whose = (claim.provider_id, claim.is_live)
        if not key or (*whose, key) in taken:
            # What was paid under a reference that another payment has keeps it to be read; no new reference has blanks.
            key = f"{key} {event.event_id}"
        taken.add((*whose, key))
        yield {
            "id": event.event_id,
            "distributor_id": claim.distributor_id,
            "is_live": claim.is_live,
            "claim_id": claim.id,
            "provider_id": claim.provider_id,
            "amount_minor": amount,
            "reference": reference,
            "reference_key": key,
            "paid_by": event.staff_id,
            "created_at": event.created_at,
        }


def _key(reference: str) -> str:
    """A reference without case, blanks and what nobody sees, as payments are told apart from this version on."""
    plain = unicodedata.normalize("NFKC", reference).casefold()
    return "".join(each for each in plain if not each.isspace() and unicodedata.category(each) != "Cf")


def _told(bind: sa.Connection, claim_id: Any) -> list[tuple[int | None, str | None]]:
    """Offer and reference at every payment that the log tells of; it names what each change has changed."""
    entry = _table("audit_entry", "subject", "action", "after", "created_at", "position")
    query = sa.select(entry.c.after).where(entry.c.subject == f"claim {claim_id}", entry.c.action == "claim moved")
    offer, reference, found = None, None, []
    for after in bind.execute(query.order_by(entry.c.created_at, entry.c.position)).scalars():
        known = after or {}
        offer = int(Decimal(known["offer_amount"]) * 100) if "offer_amount" in known else offer
        reference = known.get("payment_reference", reference)
        if known.get("claim_status") == "Paid":
            found.append((offer, reference))
    return found
