"""Totals of each day over all distributors, including changes of cover; kept in step on every write."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel

from core import clock
from core.store.access.compiled_write import CompiledWrite, add_up
from core.store.access.scope import AnySelect
from core.store.expressions import lagos_day, select_differences
from core.store.schema.catalogue import Product
from core.store.schema.columns import entity_of, table_of
from core.store.schema.finance import Adjustment
from core.store.schema.rollups import COVER, MEASURES, DaybookLine, DayTotal
from core.store.schema.sales import Policy, Purchase, Refund, Renewal


class Measures(NamedTuple):
    """The measures of one table: the number of rows, and their three amounts under a verb.

    A deleted row does not count, and where there is a status, only one that took effect.
    """

    number: str
    verb: str
    can_be_deleted: bool = False
    has_status: bool = False

    def counts(self, row: Any) -> bool:
        """Return True for a row that is summed."""
        return not (self.can_be_deleted and row.deleted_at) and (not self.has_status or bool(row.status))

    def build_conditions(self, columns: Any) -> list[sa.ColumnElement[bool]]:
        """Return `counts` as SQL conditions."""
        alive = [columns.deleted_at.is_(None)] if self.can_be_deleted else []
        return [*alive, columns.status] if self.has_status else alive

    def of(self, row: Any) -> dict[str, Any]:
        """Return the measures of a row, of the columns of its table, or of any split of an amount."""
        return {
            f"{self.verb}_minor": row.total_minor,
            f"{self.verb}_mca_minor": row.mca_profit_minor,
            f"{self.verb}_distributor_minor": row.distributor_profit_minor,
            self.number: 1,
        }


MEASURED: Mapping[type[SQLModel], Measures] = {
    Purchase: Measures("sold", "sold", can_be_deleted=True),
    Renewal: Measures("renewed", "renewed", can_be_deleted=True, has_status=True),
    Refund: Measures("refunds", "refunded"),
    Adjustment: Measures("adjustments", "adjusted"),
}


ALL = (*MEASURES, *COVER)
_KEYS = ("is_live", "day", "part")
PARTS = 16


_TOTAL, _PRODUCT = table_of(DayTotal), table_of(Product)


class CoverFacts(NamedTuple):
    """The columns of a policy that decide when it is in force."""

    product_id: Any
    created_at: datetime
    activated: bool
    expiration_at: datetime | None
    cancelled_at: datetime | None
    declined_at: datetime | None
    deleted_at: datetime | None = None


class Entry(NamedTuple):
    """The effect of one row on one day; terms name their product, which says whether they count as renewable."""

    day: date
    measures: Mapping[str, int]
    product_id: Any = None


def add_rows(
    connection: sa.Connection, rows: Iterable[Any], changed: Iterable[Any] = (), part: int | None = None
) -> None:
    """Enter new rows, and the difference that changed policies make."""
    sums: defaultdict[tuple[Any, ...], defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row, sign, entries in _list_entries(rows, changed):
        written = part_of(connection, row, part)
        for day, measures, product_id in entries:
            group = sums[day, row.is_live, written, product_id]
            for name, number in measures.items():
                group[name] += sign * number
    lines = [
        {"day": day, "is_live": is_live, "part": part, "product_id": product_id, **group}
        for (day, is_live, part, product_id), group in sums.items()
        if any(group.values())
    ]
    # In the order of days, so that transactions that meet here do not hold each other up crosswise.
    add(connection, sorted(lines, key=lambda line: (line["day"], line["part"], str(line["product_id"]))))


def add(connection: sa.Connection, lines: Sequence[Mapping[str, Any]]) -> None:
    """Add lines to the totals: day and mode, the product of terms, and the non-zero measures."""
    if lines:
        _ADDING.run(connection, [{**_NOTHING, **line} for line in lines])


_NOTHING = {"part": 0, "product_id": None, **dict.fromkeys(ALL, 0)}


def _adding(dialect: Any) -> Any:
    values: dict[str, Any] = {name: sa.bindparam(name, type_=_TOTAL.c[name].type) for name in (*_KEYS, *ALL)}
    product = _PRODUCT.c.id == sa.bindparam("product_id", type_=sa.Uuid())
    renewable = sa.select(_as_number(_PRODUCT.c.renewable)).where(product).scalar_subquery()
    for name in ("terms_ended", "terms_renewed"):
        values[name] *= sa.func.coalesce(renewable, 0)
    return add_up(dialect.insert(_TOTAL).values(values), _KEYS, ALL)


_ADDING = CompiledWrite(_adding)


def _as_number(flag: Any) -> Any:
    return sa.cast(flag, sa.Integer)


def part_of(connection: sa.Connection, row: Any, part: int | None = None) -> int:
    """The partition that a row is written to: the given one, or that of its sale."""
    # SQLite lets one write at a time in any case.
    if connection.dialect.name != "postgresql":
        return 0
    if part is not None:
        return part
    sale: UUID = row.id if isinstance(row, Purchase) else row.purchase_id
    return sale.int % PARTS


def _list_entries(rows: Iterable[Any], changed: Iterable[Any]) -> Iterator[tuple[Any, int, Iterable[Entry]]]:
    for row in rows:
        if isinstance(row, Policy):
            yield row, 1, cover(row)
        elif (measures := MEASURED.get(entity_of(row))) is not None and measures.counts(row):
            yield row, 1, _entries(row, measures)
    for row in changed:
        if isinstance(row, Policy):
            yield row, -1, cover(_facts_before(row))
            yield row, 1, cover(row)


def _facts_before(policy: Policy) -> CoverFacts:
    """The policy's columns before the change that is being flushed."""
    states = sa.inspect(policy).attrs
    before = {name: states[name].history.deleted for name in CoverFacts._fields}
    return CoverFacts(**{name: was[0] if was else getattr(policy, name) for name, was in before.items()})


def cover(policy: CoverFacts | Policy) -> Iterator[Entry]:
    """Entries of a policy: in force from its sale until it expires, is cancelled or declined."""
    if not policy.activated or policy.deleted_at:
        return
    yield Entry(_day(policy.created_at), {"in_force_change": 1})
    stopped = min((at for at in (policy.cancelled_at, policy.declined_at) if at), default=None)
    if policy.expiration_at and (stopped is None or stopped >= policy.expiration_at):
        yield Entry(_day(policy.expiration_at), {"in_force_change": -1, "terms_ended": 1}, policy.product_id)
    elif stopped:
        yield Entry(_day(stopped), {"in_force_change": -1})


def gap(lapsed_at: datetime, back_at: datetime, product_id: Any) -> Iterator[Entry]:
    """Entries of a renewed term; a late renewal leaves a gap in which the policy was out of force."""
    late = int(back_at > lapsed_at)
    yield Entry(_day(lapsed_at), {"in_force_change": -late, "terms_renewed": 1}, product_id)
    yield Entry(_day(back_at), {"in_force_change": late})


def _entries(row: Any, measures: Measures) -> Iterator[Entry]:
    yield Entry(_day(row.created_at), measures.of(row))
    if isinstance(row, Renewal):
        yield from gap(row.previous_expiration_at, row.start_at, row.product_id)


def _day(at: datetime) -> date:
    return at.astimezone(clock.LAGOS).date()


def rebuild(connection: sa.Connection) -> None:
    """Rebuild all totals from the daily roll-up, the policies and the renewals."""
    connection.execute(sa.delete(_TOTAL))
    whole = _count_again().add_columns(sa.literal(0, sa.Integer).label("part"))
    connection.execute(sa.insert(_TOTAL).from_select(["is_live", "day", *ALL, "part"], whole))


def list_faults(connection: sa.Connection) -> list[str]:
    """Days whose totals and rows differ; empty when they agree."""
    found: set[date] = {day for query in _build_differences() for day in connection.execute(query).scalars()}
    return [f"the total of the day {day} differs from its rows" for day in sorted(found)]


@cache
def _build_differences() -> Sequence[AnySelect]:
    return select_differences(_sum_lines(_TOTAL.c), _count_again(), "day")


def _count_again() -> AnySelect:
    lines = table_of(DaybookLine)
    written = _part(lines.c.day, {name: lines.c[name] for name in MEASURES}, lines).where(lines.c.grain == "day")
    rows = sa.union_all(written, *_of_policies(), *_of_renewals()).subquery()
    return _sum_lines(rows.c)


def _of_policies() -> Iterator[AnySelect]:
    policy = table_of(Policy)
    ends, cancelled, declined = policy.c.expiration_at, policy.c.cancelled_at, policy.c.declined_at
    stopped = sa.case((cancelled.is_(None), declined), (declined < cancelled, declined), else_=cancelled)
    ran_out = sa.and_(ends.is_not(None), sa.or_(stopped.is_(None), stopped >= ends))
    renewable = sa.and_(ran_out, policy.c.product_id.in_(_renewable()))
    kept = sa.and_(policy.c.activated, policy.c.deleted_at.is_(None))
    over = sa.case((ran_out, ends), else_=stopped)
    yield _part(lagos_day(policy.c.created_at), {"in_force_change": 1}, policy).where(kept)
    ended = {"in_force_change": -1, "terms_ended": _as_number(renewable)}
    yield _part(lagos_day(over), ended, policy).where(kept, over.is_not(None))


def _of_renewals() -> Iterator[AnySelect]:
    renewal = table_of(Renewal)
    kept = sa.and_(renewal.c.status, renewal.c.deleted_at.is_(None))
    late = _as_number(renewal.c.start_at > renewal.c.previous_expiration_at)
    renewable = _as_number(renewal.c.product_id.in_(_renewable()))
    lapsed = {"in_force_change": -late, "terms_renewed": renewable}
    yield _part(lagos_day(renewal.c.previous_expiration_at), lapsed, renewal).where(kept)
    yield _part(lagos_day(renewal.c.start_at), {"in_force_change": late}, renewal).where(kept)


def _renewable() -> AnySelect:
    return sa.select(_PRODUCT.c.id).where(_PRODUCT.c.renewable)


def _part(day: Any, measures: Mapping[str, Any], rows: sa.Table) -> AnySelect:
    values = dict.fromkeys(ALL, 0) | dict(measures)
    numbers = [sa.cast(values[name], sa.BigInteger).label(name) for name in ALL]
    return sa.select(rows.c.is_live, day.label("day"), *numbers)


def _sum_lines(lines: Any) -> AnySelect:
    sums = [sa.cast(sa.func.sum(lines[name]), sa.BigInteger).label(name) for name in ALL]
    query = sa.select(lines.is_live, lines.day, *sums).group_by(lines.is_live, lines.day)
    # A day may hold a line of nothing, when what it held went elsewhere.
    return query.having(sa.or_(*(total != 0 for total in sums)))
