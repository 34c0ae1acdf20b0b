"""Rows on their way into the store: in the text that SQLite and PostgreSQL both read, poured in bulk."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel

from core.store.access import ScopedSession
from core.store.access.statements import driver_connection
from core.store.schema import tables
from core.store.schema.columns import table_of

Values = Mapping[str, Any]


# A sale says its own instant a dozen times, and terms begin and end on a few hundred midnights.
@lru_cache(8_192)
def stamp(at: datetime) -> str:
    """A UTC instant as the stores read it."""
    return at.isoformat(" ", "microseconds")[:26]


def midnight(day: date) -> str:
    """The instant at which a UTC day begins, as the stores read it."""
    return f"{day} 00:00:00.000000"


@dataclass(frozen=True, slots=True)
class _Shape:
    """The columns of one table: their names, what stands in those that are not said, and their order."""

    table: sa.Table
    names: tuple[str, ...]
    blank: Mapping[str, Any]
    in_order: Callable[[Values], tuple[Any, ...]]


@cache
def _shape(entity: type[SQLModel]) -> _Shape:
    table = table_of(entity)
    names = tuple(column.name for column in table.columns)
    # A JSON column says "nothing" as JSON does: the word null.
    blank = {column.name: "null" if isinstance(column.type, sa.JSON) else None for column in table.columns}
    return _Shape(table, names, blank, itemgetter(*names))


class Rows:
    """The rows of one chunk by table."""

    def __init__(self) -> None:
        self.of: defaultdict[type[SQLModel], list[tuple[Any, ...]]] = defaultdict(list)

    def add(self, entity: type[SQLModel], values: Values) -> None:
        """Add a row; columns that are not said stay empty."""
        shape = _shape(entity)
        self.of[entity].append(shape.in_order({**shape.blank, **values}))

    def finish(self, entity: type[SQLModel], **finishing: Callable[[Any], Any]) -> None:
        """Replace what stands in columns by what a function of each makes of it."""
        places = [(_shape(entity).names.index(name), function) for name, function in finishing.items()]
        for place, row in enumerate(rows := self.of[entity]):
            finished = list(row)
            for column, function in places:
                finished[column] = function(row[column])
            rows[place] = tuple(finished)

    def ids(self, entity: type[SQLModel]) -> list[UUID]:
        """Return the ids of a table's rows."""
        place = _shape(entity).names.index("id")
        return [UUID(row[place]) for row in self.of[entity]]


def pour(session: ScopedSession, rows: Rows) -> None:
    """Write rows past the session, parents before children, in its transaction."""
    connection = session.connection()
    driver: Any = driver_connection(connection)
    pour_table = _copy if connection.dialect.name == "postgresql" else _insert
    order = {table: place for place, table in enumerate(tables.metadata().sorted_tables)}
    for entity in sorted(rows.of, key=lambda entity: order[_shape(entity).table]):
        pour_table(driver, _shape(entity), rows.of[entity])


def _insert(driver: Any, shape: _Shape, rows: list[tuple[Any, ...]]) -> None:  # noqa: ANN401 a driver's own connection
    places = ", ".join("?" * len(shape.names))
    driver.executemany(f"INSERT INTO {shape.table.name} ({_listed(shape)}) VALUES ({places})", rows)  # noqa: S608 names out of our own tables


def _copy(driver: Any, shape: _Shape, rows: list[tuple[Any, ...]]) -> None:  # noqa: ANN401 a driver's own connection
    with driver.cursor() as cursor:
        # A request may take 30 seconds; a chunk may take longer on a machine that has much to do.
        cursor.execute("SET LOCAL TIME ZONE 'UTC'; SET LOCAL statement_timeout = 0")
        with cursor.copy(f"COPY {shape.table.name} ({_listed(shape)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def _listed(shape: _Shape) -> str:
    return ", ".join(f'"{name}"' for name in shape.names)
