"""The daily roll-up of purchases, renewals, refunds and adjustments: kept in step on every write, rebuilt on demand.

With it go the totals of days and of claims.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlmodel import SQLModel

from core import clock
from core.store.access.compiled_write import CompiledWrite, add_up
from core.store.access.scope import AnySelect
from core.store.expressions import first_of_month, lagos_day, select_differences
from core.store.rollups import claim_totals, day_totals
from core.store.rollups.day_totals import MEASURED
from core.store.schema.columns import entity_of, table_of
from core.store.schema.rollups import KEYS, MEASURES, DaybookLine
from core.store.schema.sales import Purchase

ONCE = "once"
PART = "part"


_BOOK = table_of(DaybookLine)


def add_rows(connection: sa.Connection, *rows: Any, changed: Iterable[Any] = (), part: int | None = None) -> None:
    """Add new rows to the roll-ups of their days, and apply changes of policies.

    The session calls this for every row that it inserts or changes. `part` is the partition of rows that are written
    together: one that no single sale writes to, so that none waits for a chunk of a loan book.
    """
    sums: defaultdict[tuple[Any, ...], defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        measures = MEASURED.get(entity_of(row))
        if measures is not None and measures.counts(row):
            group = sums[day_totals.part_of(connection, row, part), *_keys(connection, row)]
            for name, number in measures.of(row).items():
                group[name] += number
    # In one order, so that transactions that meet here do not hold each other up crosswise.
    for key, group in sorted(sums.items(), key=lambda each: [str(part) for part in each[0]]):
        line = {**dict.fromkeys(MEASURES, 0), **dict(zip(KEYS, key[1:], strict=True)), **group}
        add(connection, [line, line | {"grain": "month", "day": line["day"].replace(day=1)}], part=key[0])
    day_totals.add_rows(connection, rows, changed, part)
    claim_totals.add_rows(connection, rows, changed)


def add(connection: sa.Connection, lines: Sequence[Mapping[str, Any]], *, part: int = 0) -> None:
    """Add complete lines (keys and measures) to one partition of the roll-up."""
    _ADDING.run(connection, [{**line, "part": part} for line in lines])


_ADDING = CompiledWrite(lambda dialect: add_up(dialect.insert(_BOOK), [*KEYS, PART], MEASURES))


def _keys(connection: sa.Connection, row: Any) -> tuple[Any, ...]:
    """The keys of the line of its day that a row is summed in, in the order of KEYS."""
    sale = row if isinstance(row, Purchase) else _sale(connection, row)
    day = clock.to_lagos_day(row.created_at)
    return row.is_live, "day", day, sale.product_id, row.distributor_id, sale.premium_frequency or ONCE


def _sale(connection: sa.Connection, row: Any) -> Any:
    """Product and instalment of the purchase behind a renewal, refund or adjustment."""
    purchase = table_of(Purchase)
    query = sa.select(purchase.c.product_id, purchase.c.premium_frequency).where(purchase.c.id == row.purchase_id)
    return connection.execute(query).one()


def rebuild(connection: sa.Connection) -> None:
    """Rebuild the whole roll-up from the rows; for repairs and writers that bypass the session."""
    connection.execute(sa.delete(_BOOK))
    for lines in (_days(), _months()):
        lines_of_part = lines.add_columns(sa.literal(0, sa.Integer).label(PART))
        connection.execute(sa.insert(_BOOK).from_select([*KEYS, *MEASURES, PART], lines_of_part))
    day_totals.rebuild(connection)
    claim_totals.rebuild(connection)


def list_faults(connection: sa.Connection) -> list[str]:
    """Days and months on which roll-up and rows differ; empty when they agree."""
    differences = {(day, grain) for query in _build_differences() for day, grain in connection.execute(query)}
    messages = [f"the daybook of the {grain} {day} differs from its rows" for day, grain in sorted(differences)]
    return [*messages, *day_totals.list_faults(connection), *claim_totals.list_faults(connection)]


@cache
def _build_differences() -> Sequence[AnySelect]:
    """Queries of the days and months that roll-up and rows have otherwise; built once, as they name every measure."""
    return [
        query
        for grain, lines in (("day", _days()), ("month", _months()))
        for query in select_differences(
            _sum_lines(_BOOK.c, grain, _BOOK.c.day).where(_BOOK.c.grain == grain), lines, "day", "grain"
        )
    ]


def _days() -> AnySelect:
    """Roll-up lines of all days, computed from the rows."""
    rows = sa.union_all(*(_part(entity) for entity in MEASURED)).subquery()
    return _sum_lines(rows.c, "day", rows.c.day)


def _months() -> AnySelect:
    """Roll-up lines of all months, computed from those of their days."""
    return _sum_lines(_BOOK.c, "month", first_of_month(_BOOK.c.day)).where(_BOOK.c.grain == "day")


def _sum_lines(lines: Any, grain: str, day: Any) -> AnySelect:
    keys = (lines.is_live, day, lines.product_id, lines.distributor_id, lines.premium_frequency)
    sums = [sa.cast(sa.func.sum(lines[name]), sa.BigInteger).label(name) for name in MEASURES]
    written = sa.literal(grain, sa.String(5)).label("grain")
    return sa.select(keys[0], written, keys[1].label("day"), *keys[2:], *sums).group_by(*keys)


def _part(entity: type[SQLModel]) -> AnySelect:
    row, purchase = table_of(entity), table_of(Purchase)
    sale = row if entity is Purchase else purchase
    measures = dict.fromkeys(MEASURES, 0) | MEASURED[entity].of(row.c)
    query = sa.select(
        row.c.is_live,
        lagos_day(row.c.created_at).label("day"),
        sale.c.product_id,
        row.c.distributor_id,
        sa.func.coalesce(sale.c.premium_frequency, ONCE).label("premium_frequency"),
        *[sa.cast(measures[name], sa.BigInteger).label(name) for name in MEASURES],
    )
    if entity is not Purchase:
        query = query.select_from(row.join(purchase, purchase.c.id == row.c.purchase_id))
    return query.where(*MEASURED[entity].build_conditions(row.c))
