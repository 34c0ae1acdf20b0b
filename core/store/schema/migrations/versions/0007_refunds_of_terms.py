"""A refund belongs to one term and divides like it; none is above what was paid for its term.

What was given back before is divided here. A refund over several terms becomes one for each of them, by the premium
of their unexpired days on the day of the refund.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import sqlalchemy as sa
import sqlmodel
from alembic import context, op

from core import ids
from core.store.schema import versions

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

MEASURES = ("refunded_mca_minor", "refunded_distributor_minor")
BOOKS = ("daybook_line", "day_total")
AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
SAME = ("id", "distributor_id", "is_live", "policy_id", "purchase_id", "method", "reason", "explained", "created_at")
OF_TERM = ("customer_id", "product_id", "product_version_id", "product_category_id", "provider_id")
_AT_ONCE = 10_000
_DAY, _LAGOS = timedelta(days=1), timedelta(hours=1)
_BY_DAYS = ("pro_rata", "short_rate")


class Term(NamedTuple):
    """Amount paid for one period of cover and its rates; no renewal id for the purchase's own period."""

    row: Any
    renewal_id: Any
    start_at: datetime | None
    expiration_at: datetime | None

    def unexpired(self, at: datetime) -> Fraction:
        """The premium of the days that were left, by which a refund over several terms is divided."""
        if self.start_at is None or self.expiration_at is None:
            return Fraction(0)
        begins = datetime.combine((at + _LAGOS).date(), time(), UTC)
        days = max(1, math.ceil((self.expiration_at - self.start_at) / _DAY))
        left = min(days, max(0, math.ceil((self.expiration_at - begins) / _DAY)))
        return Fraction(self.row.total_minor * left, days)


def upgrade() -> None:
    for book in BOOKS:
        for name in MEASURES:
            op.add_column(book, sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    rows = [row for refund, terms in _read() for row in _divided(refund, terms)]
    op.drop_table("refund")
    refund = _make()
    for start in range(0, len(rows), _AT_ONCE):
        op.get_bind().execute(sa.insert(refund), rows[start : start + _AT_ONCE])
    _guard()
    context.config.attributes[versions.STALE] = True


def downgrade() -> None:
    bind = op.get_bind()
    refund = sa.Table("refund", sa.MetaData(), *_columns())
    one: dict[Any, dict[str, Any]] = {}
    for row in bind.execute(
        sa.select(refund).order_by(refund.c.created_at, refund.c.renewal_id.is_not(None))
    ).mappings():
        kept = one.setdefault((row["policy_id"], row["created_at"]), {name: row[name] for name in SAME})
        kept["amount_minor"] = kept.get("amount_minor", 0) + row["total_minor"]
    op.drop_table("refund")
    if bind.dialect.name != "sqlite":
        op.execute("DROP FUNCTION refund_within_its_term()")
    before = _make_before()
    if one:
        bind.execute(sa.insert(before), list(one.values()))
    _keep("refund")
    for book in BOOKS:
        for name in MEASURES:
            op.drop_column(book, name)


def _read() -> Iterator[tuple[Any, list[Term]]]:
    """Every refund as it was kept, with the paid terms of its policy, the oldest first."""
    bind, meta = op.get_bind(), sa.MetaData()
    moment, json = sqlmodel.sql.sqltypes.UTCDateTime(), sa.JSON()
    names = dict.fromkeys(SAME, sa.Uuid()) | {"is_live": sa.Boolean(), "method": sa.String(), "reason": sa.String()}
    names |= {"explained": json, "created_at": moment, "amount_minor": sa.BigInteger()}
    refund = sa.Table("refund", meta, *(sa.Column(name, type_) for name, type_ in names.items()))
    money = [sa.Column(name, sa.BigInteger()) for name in AMOUNTS]
    version = sa.Table("product_version", meta, *_uuids("id"), *_bps())
    purchase = sa.Table("purchase", meta, *_uuids("id", *OF_TERM), *money)
    policy = sa.Table("policy", meta, *_uuids("id"), sa.Column("start_at", moment), sa.Column("expiration_at", moment))
    dates = [sa.Column(name, moment) for name in ("previous_expiration_at", "start_at", "expiration_at", "deleted_at")]
    money = [sa.Column(name, sa.BigInteger()) for name in AMOUNTS]
    renewal = sa.Table(
        "renewal", meta, *_uuids("id", "policy_id", *OF_TERM), *money, *dates, sa.Column("status", sa.Boolean())
    )
    took_effect = sa.and_(renewal.c.status, renewal.c.deleted_at.is_(None))
    refunded = renewal.c.policy_id.in_(sa.select(refund.c.policy_id))
    later: defaultdict[Any, list[Any]] = defaultdict(list)
    query = sa.select(renewal, *_rates(version)).join(version, version.c.id == renewal.c.product_version_id)
    for row in bind.execute(query.where(took_effect, refunded).order_by(renewal.c.start_at)):
        later[row.policy_id].append(row)
    refunds = bind.execute(sa.select(refund).order_by(refund.c.created_at)).all()
    first = sa.select(purchase, *_rates(version), policy.c.start_at, policy.c.expiration_at, refund.c.id.label("of"))
    first = first.select_from(refund).join(purchase, purchase.c.id == refund.c.purchase_id)
    first = first.join(policy, policy.c.id == refund.c.policy_id)
    bought = {row.of: row for row in bind.execute(first.join(version, version.c.id == purchase.c.product_version_id))}
    for row in refunds:
        sale, renewed = bought[row.id], later[row.policy_id]
        end = renewed[0].previous_expiration_at if renewed else sale.expiration_at
        terms = [Term(each, each.id, each.start_at, each.expiration_at) for each in renewed]
        yield row, [Term(sale, None, sale.start_at, end), *terms]


def _uuids(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Uuid()) for name in names]


def _bps() -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Integer()) for name in ("mca_commission_bp", "distributor_commission_bp")]


def _rates(version: sa.Table) -> list[Any]:
    return [version.c.mca_commission_bp, version.c.distributor_commission_bp]


def _divided(refund: Any, terms: Sequence[Term]) -> Iterator[dict[str, Any]]:
    amounts = {place: amount for place, amount in _by_term(refund, terms) if amount or len(terms) == 1}
    for number, (place, amount) in enumerate((amounts or {0: 0}).items()):
        term = terms[place]
        row = {name: getattr(refund, name) for name in SAME} | {name: getattr(term.row, name) for name in OF_TERM}
        explained = refund.explained
        if len(amounts) > 1:
            working = f"of the {refund.amount_minor / 100:,.2f} that went back together"
            step = {"step": "Part of this term", "working": working, "amount": f"{amount // 100}.{amount % 100:02d}"}
            explained = [*explained, step]
        if number:
            row["id"] = ids.new()
        yield row | {"renewal_id": term.renewal_id, "explained": explained, **_parts(amount, term.row)}


def _by_term(refund: Any, terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Split a refund between terms; never more than was paid for each."""
    left = [Fraction(0)] * len(terms)
    if refund.method in _BY_DAYS:
        left = [
            term.unexpired(refund.created_at)
            if term.expiration_at is not None and term.expiration_at > refund.created_at
            else Fraction(0)
            for term in terms
        ]
    whole, rest = sum(left), int(refund.amount_minor)
    running = [place for place, weight in enumerate(left) if weight] or [0]
    found: dict[int, int] = {}
    for place in running:
        share = math.floor(refund.amount_minor * left[place] / whole + Fraction(1, 2)) if whole else rest
        found[place] = min(rest if place == running[-1] else share, rest, terms[place].row.total_minor)
        rest -= found[place]
    # What is too much for the terms that ran is of others that were paid for.
    for place in range(len(terms)):
        more = min(rest, terms[place].row.total_minor - found.get(place, 0))
        if more:
            found[place] = found.get(place, 0) + more
            rest -= more
    if rest:
        raise RuntimeError(f"Refund {refund.id} gives back more than its policy paid: nothing was migrated")
    return sorted(found.items())


def _parts(amount: int, term: Any) -> dict[str, int]:
    if amount == term.total_minor:
        return {name: getattr(term, name) for name in AMOUNTS}
    mca = (amount * term.mca_commission_bp + 5_000) // 10_000
    distributor = min((amount * term.distributor_commission_bp + 5_000) // 10_000, amount - mca)
    return {
        "total_minor": amount,
        "mca_profit_minor": min(mca, term.mca_profit_minor),
        "distributor_profit_minor": min(distributor, term.distributor_profit_minor),
    }


def _columns() -> list[Any]:
    def key(name: str, of: str) -> sa.Column[Any]:
        link = sa.ForeignKey(f"{of}.id", name=op.f(f"fk_refund_{name}"))
        return sa.Column(name, sa.Uuid(), link, nullable=name == "renewal_id")

    links = {"distributor_id": "distributor", "policy_id": "policy", "purchase_id": "purchase", "renewal_id": "renewal"}
    links |= {name: name.removesuffix("_id") for name in OF_TERM}
    return [
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("is_live", sa.Boolean(), nullable=False),
        *(key(name, of) for name, of in links.items()),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in AMOUNTS),
        sa.Column("method", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("explained", sa.JSON(), nullable=False),
        sa.Column("created_at", sqlmodel.sql.sqltypes.UTCDateTime(), nullable=False),
    ]


def _make() -> sa.Table:
    refund = op.create_table(
        "refund",
        *_columns(),
        sa.CheckConstraint(
            "total_minor >= 0 AND mca_profit_minor >= 0 AND distributor_profit_minor >= 0"
            " AND mca_profit_minor + distributor_profit_minor <= total_minor",
            name=op.f("ck_refund_parts"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refund")),
    )
    op.create_index(op.f("ix_refund_policy_id"), "refund", ["policy_id"])
    for name, column, which in (
        ("ix_refund_of_purchase", "purchase_id", sa.text("renewal_id IS NULL")),
        ("ix_refund_of_renewal", "renewal_id", sa.text("renewal_id IS NOT NULL")),
    ):
        op.create_index(name, "refund", [column], unique=True, sqlite_where=which, postgresql_where=which)
    return refund


def _make_before() -> sa.Table:
    refund = op.create_table(
        "refund",
        *(column for column in _columns() if column.name in SAME),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("amount_minor >= 0", name=op.f("ck_refund_amount")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_refund")),
    )
    op.create_index(op.f("ix_refund_policy_id"), "refund", ["policy_id"])
    return refund


def _guard() -> None:
    """Refunds only grow, and none is above what was paid for its term, whoever writes it."""
    _keep("refund")
    within = " AND ".join(f"NEW.{name} <= {name}" for name in AMOUNTS)
    bought = (
        "EXISTS (SELECT 1 FROM purchase WHERE id = NEW.purchase_id"  # noqa: S608 names out of this file
        f" AND (NEW.renewal_id IS NOT NULL OR ({within})))"
    )
    renewed = (
        "(NEW.renewal_id IS NULL OR EXISTS (SELECT 1 FROM renewal WHERE id = NEW.renewal_id"  # noqa: S608 names out of this file
        f" AND purchase_id = NEW.purchase_id AND {within}))"
    )
    name, words = "refund_within_its_term", "refund is above what was paid for its term"
    if op.get_bind().dialect.name == "sqlite":
        op.execute(
            f"CREATE TRIGGER {name} BEFORE INSERT ON refund WHEN NOT ({bought} AND {renewed})"
            f" BEGIN SELECT RAISE(ABORT, '{words}'); END"
        )
        return
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NOT ({bought} AND {renewed}) THEN"
        f" RAISE EXCEPTION '{words}' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$"
    )
    op.execute(f"CREATE TRIGGER {name} BEFORE INSERT ON refund FOR EACH ROW EXECUTE FUNCTION {name}()")


def _keep(table: str) -> None:
    for event in ("UPDATE", "DELETE"):
        trigger = f"CREATE TRIGGER {table}_{event.lower()} BEFORE {event} ON {table}"
        if op.get_bind().dialect.name == "sqlite":
            op.execute(f"{trigger} BEGIN SELECT RAISE(ABORT, '{table} keeps what it holds'); END")
        else:
            op.execute(f"{trigger} FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds()")
    if op.get_bind().dialect.name != "sqlite":
        op.execute(
            f"CREATE TRIGGER {table}_truncate BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds()"
        )
